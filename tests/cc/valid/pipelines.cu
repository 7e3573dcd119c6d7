// SPDX-License-Identifier: MIT
// Copies that a thread waits for later, and barriers of some threads: CUDA's headers from before
// libcu++.
// prints: 120 25 28 12 5 1
#include <cuda_awbarrier.h>
#include <cuda_pipeline.h>
#include <stdio.h>

namespace ex = nvcuda::experimental;

enum { THREADS = 64 };

/* Each thread copies 16 bytes; the second half of the last is zeroed. */
__global__ void primitives(const int *from, int *sum)
{
    __shared__ __align__(16) int part[4 * 4];
    int t = threadIdx.x;

    __pipeline_memcpy_async(&part[4 * t], &from[4 * t], 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    if (t == 0)
        for (int i = 0; i < 16; i++)
            sum[0] += part[i];
    __syncthreads();
    __pipeline_memcpy_async(&part[4 * t], &from[4 * t], 16, 8);
    __pipeline_wait_prior(0);
    if (t == 3)
        sum[1] = part[12] + part[13] + part[14] + part[15];
}

/* Batches in a ring of two. */
__global__ void batches(const int *from, int *sum)
{
    __shared__ int ring[2], four[4];
    ex::pipeline pipe;
    size_t batch[2];

    if (threadIdx.x != 0)
        return;
    for (int i = 0; i < 8; i++) {
        ex::memcpy_async(ring[i % 2], from[i], pipe);
        batch[i % 2] = pipe.commit();
        pipe.wait(batch[i % 2]);
        sum[2] += ring[i % 2];
    }
    ex::memcpy_async(ex::segment<4>(four), ex::segment<3>(from + 3), pipe);
    pipe.commit_and_wait();
    sum[3] = four[0] + four[1] + four[2] + four[3];
}

/* The first warp produces, the second consumes. */
__global__ void barriers(int *sum)
{
    __shared__ ex::awbarrier full;
    __shared__ __mbarrier_t plain;
    __shared__ int value;

    if (threadIdx.x == 0) {
        init(&full, THREADS);
        __mbarrier_init(&plain, THREADS);
    }
    __syncthreads();
    if (threadIdx.x == 7)
        value = 5;
    ex::awbarrier::arrival_token token = full.arrive();
    if (threadIdx.x >= 32) {
        full.wait(token);
        if (threadIdx.x == 32)
            sum[4] = value;
    }
    __mbarrier_token_t arrived = __mbarrier_arrive(&plain);
    while (!__mbarrier_try_wait(&plain, arrived, 100))
        continue;
    if (threadIdx.x == 0)
        sum[5] = (int)__mbarrier_test_wait_parity(&plain, false);
}

int main()
{
    int *from, *sum, zero[6] = {}, host[16];

    for (int i = 0; i < 16; i++)
        host[i] = i;
    cudaMalloc(&from, sizeof host);
    cudaMalloc(&sum, sizeof zero);
    cudaMemcpy(from, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemcpy(sum, zero, sizeof zero, cudaMemcpyHostToDevice);
    primitives<<<1, 4>>>(from, sum);
    batches<<<1, 1>>>(from, sum);
    barriers<<<1, THREADS>>>(sum);
    cudaMemcpy(zero, sum, sizeof zero, cudaMemcpyDeviceToHost);
    printf("%d %d %d %d %d %d\n", zero[0], zero[1], zero[2], zero[3], zero[4], zero[5]);
    return 0;
}
