// SPDX-License-Identifier: MIT
// thread_barrier.cu: a thread a GPU; each records an event, all meet, each waits for its
// neighbour's event in its stream: nobody waits for a GPU before the end.
#include "correct.h"
#include <pthread.h>

static struct gpu g[GPUS];
static pthread_barrier_t all;

static void *work(void *data)
{
    struct gpu *mine = (struct gpu *)data;
    int d = (int)(mine - g), right = (d + 1) % gpus;
    CHECK(cudaSetDevice(d));
    fill<<<BLOCKS, BLOCK, 0, mine->stream>>>(mine->a, 11 * d);
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(mine->done, mine->stream));
    pthread_barrier_wait(&all);
    CHECK(cudaStreamWaitEvent(mine->stream, g[right].done, 0));
    copy_plus<<<BLOCKS, BLOCK, 0, mine->stream>>>(mine->b, g[right].a, 2);
    CHECK(cudaGetLastError());
    CHECK(cudaStreamSynchronize(mine->stream));
    return NULL;
}

int main()
{
    pthread_t thread[GPUS];
    int wrong = 0;
    begin();
    pthread_barrier_init(&all, NULL, gpus);
    for (int d = 0; d < gpus; d++)
        g[d] = make_gpu(d);
    for (int d = 0; d < gpus; d++)
        if (pthread_create(&thread[d], NULL, work, &g[d]) != 0)
            return 2;
    for (int d = 0; d < gpus; d++)
        pthread_join(thread[d], NULL);
    for (int d = 0; d < gpus; d++)
        wrong += wrong_from(g[d].b, 11 * ((d + 1) % gpus) + 2, 1);
    for (int d = 0; d < gpus; d++)
        free_gpu(d, &g[d]);
    pthread_barrier_destroy(&all);
    return end(wrong);
}
