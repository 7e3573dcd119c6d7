// SPDX-License-Identifier: MIT
// nccl.cu: NCCL's all-reduce on all GPUs of one process, driven by one thread; every element
// checked.
//
//     nvcc -o nccl nccl.cu -lnccl && ./nccl
#include <stdio.h>
#include <stdlib.h>

#include <cuda_runtime.h>
#include <nccl.h>

#define CUDA(call)                                                                                 \
    do {                                                                                           \
        cudaError_t cuda_error = (call);                                                           \
        if (cuda_error != cudaSuccess) {                                                           \
            fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(cuda_error));            \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)
#define NCCL(call)                                                                                 \
    do {                                                                                           \
        ncclResult_t nccl_error = (call);                                                          \
        if (nccl_error != ncclSuccess) {                                                           \
            fprintf(stderr, "line %d: %s\n", __LINE__, ncclGetErrorString(nccl_error));            \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#define MOST 16

static int gpus;
static float *data[MOST];
static cudaStream_t stream[MOST];
static ncclComm_t comm[MOST];

// book: group
static void all_reduce(size_t count)
{
    NCCL(ncclGroupStart()); // without it the first call waits for ranks that come later
    for (int r = 0; r < gpus; r++)
        NCCL(ncclAllReduce(data[r], data[r], count, ncclFloat, ncclSum, comm[r], stream[r]));
    NCCL(ncclGroupEnd());
}
// book: end

static void wait_all(void)
{
    for (int r = 0; r < gpus; r++) {
        CUDA(cudaSetDevice(r));
        CUDA(cudaStreamSynchronize(stream[r]));
    }
}

static size_t wrong(size_t count)
{
    float *host = (float *)malloc(count * sizeof *host);
    size_t bad = 0;
    for (int r = 0; r < gpus; r++) {
        for (size_t i = 0; i < count; i++)
            host[i] = (float)((i + 3 * r) % 17);
        CUDA(cudaMemcpy(data[r], host, count * sizeof *host, cudaMemcpyDefault));
    }
    all_reduce(count);
    wait_all();
    for (int r = 0; r < gpus; r++) {
        CUDA(cudaMemcpy(host, data[r], count * sizeof *host, cudaMemcpyDefault));
        for (size_t i = 0; i < count; i++) {
            float want = 0;
            for (int k = 0; k < gpus; k++)
                want += (float)((i + 3 * k) % 17);
            bad += host[i] != want;
        }
    }
    free(host);
    return bad;
}

// Microseconds for one call, the mean of 20 in a row after 5.
static double timed(size_t count)
{
    cudaEvent_t start, stop;
    float ms;
    CUDA(cudaSetDevice(0));
    CUDA(cudaEventCreate(&start));
    CUDA(cudaEventCreate(&stop));
    for (int i = 0; i < 5; i++)
        all_reduce(count);
    wait_all();
    CUDA(cudaSetDevice(0));
    CUDA(cudaEventRecord(start, stream[0]));
    for (int i = 0; i < 20; i++)
        all_reduce(count);
    CUDA(cudaSetDevice(0));
    CUDA(cudaEventRecord(stop, stream[0]));
    wait_all();
    CUDA(cudaEventElapsedTime(&ms, start, stop));
    return ms * 1000 / 20;
}

int main(void)
{
    const size_t most = (size_t)256 << 20;
    int version;
    CUDA(cudaGetDeviceCount(&gpus));
    gpus = gpus < MOST ? gpus : MOST;
    NCCL(ncclGetVersion(&version));
    NCCL(ncclCommInitAll(comm, gpus, NULL));
    for (int r = 0; r < gpus; r++) {
        CUDA(cudaSetDevice(r));
        CUDA(cudaMalloc((void **)&data[r], most));
        CUDA(cudaStreamCreate(&stream[r]));
    }
    printf("NCCL %d, %d GPUs\n    bytes  wrong         us   bus GB/s\n", version, gpus);
    for (size_t bytes = 4096; bytes <= most; bytes *= 16) {
        size_t count = bytes / sizeof(float), bad = wrong(count);
        double us = timed(count), bus = 2.0 * (gpus - 1) / gpus * (double)bytes / us / 1000;
        printf("%9zu %6zu %10.1f %10.1f\n", bytes, bad, us, bus);
    }
    return 0;
}
