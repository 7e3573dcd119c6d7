// SPDX-License-Identifier: MIT
// cuda::barrier and cuda::atomic_ref, on each of two GPUs, and one counter for both.
// prints: 5 turns around, 256 arrivals
#include <cuda/atomic>
#include <cuda/barrier>

#include "check.h"

enum { THREADS = 64, TURNS = 5 };
using barrier = cuda::barrier<cuda::thread_scope_block>;

// In each turn every thread takes its neighbour's value; half of them wait apart from arriving.
__global__ void turn(int *values)
{
    __shared__ barrier ready;
    __shared__ barrier taken;
    __shared__ int passed[THREADS];
    int i = (int)threadIdx.x, mine = i;

    if (i == 0) {
        init(&ready, THREADS);
        init(&taken, THREADS);
    }
    __syncthreads();
    for (int t = 0; t < TURNS; t++) {
        passed[i] = mine + t;
        ready.arrive_and_wait();
        mine = passed[(i + 1) % THREADS];
        auto token = taken.arrive();
        taken.wait(std::move(token));
    }
    values[i] = mine;
}

// The last block to come adds what all have left.
__global__ void count(int *left, int *sum, int *arrivals)
{
    cuda::atomic_ref<int, cuda::thread_scope_system> all(*arrivals);
    cuda::atomic_ref<int, cuda::thread_scope_device> own(*sum);

    left[blockIdx.x * blockDim.x + threadIdx.x] = 1;
    own.fetch_add((int)threadIdx.x, cuda::memory_order_relaxed);
    all.fetch_add(1, cuda::memory_order_acq_rel);
}

int main()
{
    int *arrivals, wanted[THREADS], next[THREADS];

    DO(cudaMallocManaged(&arrivals, sizeof *arrivals));
    *arrivals = 0;
    for (int i = 0; i < THREADS; i++)
        wanted[i] = i;
    for (int t = 0; t < TURNS; t++) {
        for (int i = 0; i < THREADS; i++)
            next[i] = wanted[(i + 1) % THREADS] + t;
        std::copy(next, next + THREADS, wanted);
    }
    for (int gpu = 0; gpu < 2; gpu++) {
        int *values, *sum, found[THREADS], total;
        DO(cudaSetDevice(gpu));
        DO(cudaMalloc(&values, 2 * sizeof found));
        DO(cudaMalloc(&sum, sizeof *sum));
        DO(cudaMemset(sum, 0, sizeof *sum));
        turn<<<1, THREADS>>>(values);
        DO(cudaMemcpy(found, values, sizeof found, cudaMemcpyDeviceToHost));
        for (int i = 0; i < THREADS; i++)
            CHECK(found[i] == wanted[i]);
        count<<<2, THREADS>>>(values, sum, arrivals);
        DO(cudaMemcpy(&total, sum, sizeof total, cudaMemcpyDeviceToHost));
        CHECK(total == THREADS * (THREADS - 1));
    }
    std::printf("%d turns around, %d arrivals\n", TURNS, *arrivals);
    return 0;
}
