// SPDX-License-Identifier: MIT
// atomic_threads.cu: host threads that order themselves by an atomic counter, which nobody but they
// can see.
#include "correct.h"
#include <pthread.h>
#include <sched.h>

static struct gpu g[GPUS];
static int turn;

static void *work(void *data)
{
    struct gpu *mine = (struct gpu *)data;
    int d = (int)(mine - g);
    while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != d)
        sched_yield();
    CHECK(cudaSetDevice(d));
    if (d == 0)
        fill<<<BLOCKS, BLOCK, 0, mine->stream>>>(mine->a, 4);
    else
        copy_plus<<<BLOCKS, BLOCK, 0, mine->stream>>>(mine->a, g[d - 1].a, 1);
    CHECK(cudaGetLastError());
    CHECK(cudaStreamSynchronize(mine->stream));
    __atomic_store_n(&turn, d + 1, __ATOMIC_RELEASE);
    return NULL;
}

int main()
{
    pthread_t thread[GPUS];
    begin();
    for (int d = 0; d < gpus; d++)
        g[d] = make_gpu(d);
    for (int d = 0; d < gpus; d++)
        if (pthread_create(&thread[d], NULL, work, &g[d]) != 0)
            return 2;
    for (int d = 0; d < gpus; d++)
        pthread_join(thread[d], NULL);
    int wrong = wrong_from(g[gpus - 1].a, 4 + gpus - 1, 1);
    for (int d = 0; d < gpus; d++)
        free_gpu(d, &g[d]);
    return end(wrong);
}
