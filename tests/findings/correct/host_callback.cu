// SPDX-License-Identifier: MIT
// host_callback.cu: a host function in one GPU's stream works on pinned memory; the next GPU's
// stream waits for the event behind it.
#include "correct.h"

static int *pinned;

static void negate(void *data)
{
    (void)data;
    for (int i = 0; i < N; i++)
        pinned[i] = -pinned[i];
}

int main()
{
    struct gpu g[GPUS];
    count_gpus();
    CHECK(cudaMallocHost((void **)&pinned, N * sizeof(int)));
    for (int d = 0; d < gpus; d++)
        g[d] = make_gpu(d);
    struct gpu *last = &g[gpus - 1];
    CHECK(cudaSetDevice(0));
    fill<<<BLOCKS, BLOCK, 0, g[0].stream>>>(g[0].a, 0);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpyAsync(pinned, g[0].a, N * sizeof(int), cudaMemcpyDeviceToHost, g[0].stream));
    CHECK(cudaLaunchHostFunc(g[0].stream, negate, NULL));
    CHECK(cudaEventRecord(g[0].done, g[0].stream));
    CHECK(cudaSetDevice(gpus - 1));
    CHECK(cudaStreamWaitEvent(last->stream, g[0].done, 0));
    CHECK(cudaMemcpyAsync(last->b, pinned, N * sizeof(int), cudaMemcpyHostToDevice, last->stream));
    CHECK(cudaStreamSynchronize(last->stream));
    int wrong = wrong_from(last->b, 0, -1);
    for (int d = 0; d < gpus; d++)
        free_gpu(d, &g[d]);
    CHECK(cudaFreeHost(pinned));
    return wrong != 0;
}
