// SPDX-License-Identifier: MIT
// thread_join.cu: a thread a GPU fills and waits; the main thread joins them and adds all up.
#include "correct.h"
#include <pthread.h>

static struct gpu g[GPUS];

static void *work(void *data)
{
    struct gpu *mine = (struct gpu *)data;
    CHECK(cudaSetDevice((int)(mine - g)));
    fill<<<BLOCKS, BLOCK, 0, mine->stream>>>(mine->a, (int)(mine - g));
    CHECK(cudaGetLastError());
    CHECK(cudaStreamSynchronize(mine->stream));
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
    CHECK(cudaSetDevice(0));
    for (int d = 0; d < gpus; d++)
        add<<<BLOCKS, BLOCK, 0, g[0].stream>>>(g[0].b, g[d].a);
    CHECK(cudaGetLastError());
    CHECK(cudaStreamSynchronize(g[0].stream));
    int wrong = wrong_from(g[0].b, gpus * (gpus - 1) / 2, gpus);
    for (int d = 0; d < gpus; d++)
        free_gpu(d, &g[d]);
    return end(wrong);
}
