// SPDX-License-Identifier: MIT
// condition_variable.cu: threads take turns by a mutex and a condition variable; each waits for its
// GPU before it hands the turn on.
#include "correct.h"
#include <pthread.h>

static struct gpu g[GPUS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn;

static void *work(void *data)
{
    struct gpu *mine = (struct gpu *)data;
    int d = (int)(mine - g);
    pthread_mutex_lock(&lock);
    while (turn != d)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    CHECK(cudaSetDevice(d));
    copy_plus<<<BLOCKS, BLOCK, 0, mine->stream>>>(g[0].a, g[0].a, d + 1);
    CHECK(cudaGetLastError());
    CHECK(cudaStreamSynchronize(mine->stream));
    pthread_mutex_lock(&lock);
    turn = d + 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main()
{
    pthread_t thread[GPUS];
    begin();
    for (int d = 0; d < gpus; d++)
        g[d] = make_gpu(d);
    for (int d = gpus - 1; d >= 0; d--)
        if (pthread_create(&thread[d], NULL, work, &g[d]) != 0)
            return 2;
    for (int d = 0; d < gpus; d++)
        pthread_join(thread[d], NULL);
    int wrong = wrong_from(g[0].a, gpus * (gpus + 1) / 2, 0);
    for (int d = 0; d < gpus; d++)
        free_gpu(d, &g[d]);
    return end(wrong);
}
