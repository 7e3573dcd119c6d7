// SPDX-License-Identifier: MIT
// per_thread_default.cu: the per-thread default stream of each GPU, ordered across GPUs by events.
#include "correct.h"

int main()
{
    int *a[GPUS];
    cudaEvent_t done[GPUS];
    begin();
    for (int d = 0; d < gpus; d++) {
        a[d] = zeros_on(d, N);
        done[d] = event_on(d);
    }
    for (int d = 0; d < gpus; d++) {
        CHECK(cudaSetDevice(d));
        if (d > 0)
            CHECK(cudaStreamWaitEvent(cudaStreamPerThread, done[d - 1], 0));
        fill<<<BLOCKS, BLOCK, 0, cudaStreamPerThread>>>(a[d], 7);
        if (d > 0)
            add<<<BLOCKS, BLOCK, 0, cudaStreamPerThread>>>(a[d], a[d - 1]);
        CHECK(cudaGetLastError());
        CHECK(cudaEventRecord(done[d], cudaStreamPerThread));
    }
    CHECK(cudaStreamSynchronize(cudaStreamPerThread));
    int wrong = wrong_from(a[gpus - 1], 7 * gpus, gpus);
    for (int d = 0; d < gpus; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaEventDestroy(done[d]));
        CHECK(cudaFree(a[d]));
    }
    return end(wrong);
}
