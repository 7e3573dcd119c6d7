// SPDX-License-Identifier: MIT
// All GPUs count in pinned host memory and, with peer access, in GPU 0's memory.
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define checkCudaErrors(call)                                                                      \
    do {                                                                                           \
        cudaError_t e = (call);                                                                    \
        if (e != cudaSuccess) {                                                                    \
            fprintf(stderr, "%s failed: %s (line %d)\n", #call, cudaGetErrorName(e), __LINE__);    \
            exit(EXIT_FAILURE);                                                                    \
        }                                                                                          \
    } while (0)

#define LOOPS 8

__global__ void atomics(int *data)
{
    const int tid = blockDim.x * blockIdx.x + threadIdx.x;
    for (int i = 0; i < LOOPS; i++) {
        atomicAdd_system(&data[0], 10);
        atomicExch_system(&data[1], tid);
        atomicMax_system(&data[2], tid);
        atomicMin_system(&data[3], -tid);
        atomicInc_system((unsigned int *)&data[4], 17);
        atomicCAS_system(&data[5], tid - 1, tid);
        atomicAnd_system(&data[6], 2 * tid + 7);
        atomicOr_system(&data[7], 1 << (tid % 31));
        atomicSub_system(&data[8], 1);
    }
    __threadfence_system();
}

static int verify(const int *data, int threads, int gpus)
{
    const int all = threads * gpus * LOOPS;
    int want_and = 0xff, bad = 0;
    for (int t = 0; t < threads; t++)
        want_and &= 2 * t + 7;
    bad += data[0] != 10 * all;
    bad += data[1] < 0 || data[1] >= threads;
    bad += data[2] != threads - 1;
    bad += data[3] != -(threads - 1);
    bad += data[4] != all % 18;
    bad += data[5] < 0 || data[5] >= threads;
    bad += data[6] != want_and;
    bad += data[7] != 0x7fffffff;
    bad += data[8] != -all;
    return bad;
}

static int round_of(int *counters, int gpus, bool on_host)
{
    const int start[9] = {0, 0, -1, 1, 0, 0, 0xff, 0, 0};
    int end[9];
    checkCudaErrors(cudaMemcpy(counters, start, sizeof start, cudaMemcpyDefault));
    for (int d = 0; d < gpus; d++) {
        checkCudaErrors(cudaSetDevice(d));
        atomics<<<4, 64>>>(counters);
        checkCudaErrors(cudaPeekAtLastError());
    }
    for (int d = 0; d < gpus; d++) {
        checkCudaErrors(cudaSetDevice(d));
        checkCudaErrors(cudaDeviceSynchronize());
    }
    checkCudaErrors(cudaMemcpy(end, counters, sizeof end, cudaMemcpyDefault));
    int bad = verify(end, 256, gpus);
    printf("%s memory, %d GPUs: %d wrong\n", on_host ? "host" : "GPU", gpus, bad);
    return bad;
}

int main(void)
{
    int gpus = 0, reach = 1, bad = 0, *counters;
    checkCudaErrors(cudaGetDeviceCount(&gpus));
    checkCudaErrors(cudaHostAlloc((void **)&counters, 9 * sizeof(int),
                                  cudaHostAllocPortable | cudaHostAllocMapped));
    bad += round_of(counters, gpus, true);
    checkCudaErrors(cudaFreeHost(counters));
    for (int d = 1; d < gpus; d++) {
        int can = 0;
        checkCudaErrors(cudaDeviceCanAccessPeer(&can, d, 0));
        checkCudaErrors(cudaSetDevice(d));
        if (!can || d != reach)
            continue;
        checkCudaErrors(cudaDeviceEnablePeerAccess(0, 0));
        reach++;
    }
    checkCudaErrors(cudaSetDevice(0));
    checkCudaErrors(cudaMalloc((void **)&counters, 9 * sizeof(int)));
    bad += round_of(counters, reach, false);
    checkCudaErrors(cudaSetDevice(0));
    checkCudaErrors(cudaFree(counters));
    printf("%s\n", bad ? "FAILED" : "PASS");
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
