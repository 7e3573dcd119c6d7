// SPDX-License-Identifier: MIT
// A kernel polls on the first GPU; the host works on with the last one, waits for that, and only
// then releases the kernel by a copy in a stream of its own.
#include "check.h"

__global__ void wait_for(volatile int *flag, int *out)
{
    while (*flag == 0) {
    }
    *out = *flag + 1;
}

__global__ void twice(int *value)
{
    *value *= 2;
}

int main()
{
    int count, *flag, *value, number = 21;
    cudaStream_t beside, elsewhere;
    cudaEvent_t before, after;
    float ms;
    MUST(cudaGetDeviceCount(&count));
    MUST(cudaMalloc(&flag, 2 * sizeof *flag));
    MUST(cudaMemset(flag, 0, 2 * sizeof *flag));
    MUST(cudaStreamCreateWithFlags(&beside, cudaStreamNonBlocking));
    MUST(cudaEventCreate(&before));
    MUST(cudaEventCreate(&after));
    MUST(cudaDeviceSynchronize());
    MUST(cudaEventRecord(before));
    wait_for<<<1, 1>>>(flag, flag + 1);
    MUST(cudaEventRecord(after));
    MUST(cudaSetDevice(count - 1));
    MUST(cudaMalloc(&value, sizeof *value));
    MUST(cudaStreamCreateWithFlags(&elsewhere, cudaStreamNonBlocking));
    for (int i = 0; i < 3; i++) {
        MUST(cudaMemcpyAsync(value, &number, sizeof number, cudaMemcpyDefault, elsewhere));
        twice<<<1, 1, 0, elsewhere>>>(value);
        MUST(cudaStreamSynchronize(elsewhere));
    }
    MUST(cudaSetDevice(0));
    HOLDS(cudaEventQuery(after) == cudaErrorNotReady, "released by whom?");
    MUST(cudaMemcpyAsync(flag, &number, sizeof number, cudaMemcpyDefault, beside));
    MUST(cudaDeviceSynchronize());
    MUST(cudaMemcpy(&number, flag + 1, sizeof number, cudaMemcpyDefault));
    MUST(cudaEventElapsedTime(&ms, before, after));
    HOLDS(number == 22, "%d", number);
    HOLDS(ms > 0, "%f ms", ms);
    printf("released on %d GPUs: right\n", count);
    return 0;
}
