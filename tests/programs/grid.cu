// SPDX-License-Identifier: MIT
// grid.cu: cooperative groups beyond the block: barriers of the whole grid, coalesced threads,
// reductions and copies by groups, on every GPU.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>

#include "check.h"
#include <string.h>

namespace cg = cooperative_groups;

enum { BLOCKS = 12, THREADS = 96, N = BLOCKS * THREADS };

// Every round each thread reads what the others wrote in the round before.
__global__ void rounds(int *a, int *b, int count)
{
    cg::grid_group grid = cg::this_grid();
    unsigned long long me = grid.thread_rank(), all = grid.num_threads();
    for (int round = 0; round < count; round++) {
        b[me] = a[(me + all / 2 + 1) % all] + 1;
        grid.sync();
        int *other = a;
        a = b;
        b = other;
    }
}

__global__ void reductions(int *out, unsigned *bits, float *real)
{
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<16>(block);
    int rank = (int)tile.thread_rank();
    int sum = cg::reduce(tile, rank + 1, cg::plus<int>());
    int least = cg::reduce(tile, 100 - rank, cg::less<int>());
    int most = cg::reduce(tile, rank * rank, cg::greater<int>());
    unsigned all = cg::reduce(tile, 1u << rank, cg::bit_or<unsigned>());
    float half = cg::reduce(tile, 0.5f, cg::plus<float>());
    if (rank == 0) {
        out[3 * tile.meta_group_rank()] = sum;
        out[3 * tile.meta_group_rank() + 1] = least;
        out[3 * tile.meta_group_rank() + 2] = most;
        bits[tile.meta_group_rank()] = all;
        real[tile.meta_group_rank()] = half;
    }
}

// Threads whose number is a multiple of 3 add themselves up, and one of them counts.
__global__ void together(int *counter, int *sums)
{
    if (threadIdx.x % 3 == 0) {
        cg::coalesced_group active = cg::coalesced_threads();
        int sum = cg::reduce(active, (int)threadIdx.x, cg::plus<int>());
        unsigned odd = active.ballot(active.thread_rank() % 2);
        if (active.thread_rank() == 0) {
            atomicAdd(counter, (int)active.size());
            sums[threadIdx.x / 32] = sum + (odd == (0xAAAAAAAAu & ((1u << active.size()) - 1)));
        }
    }
}

__global__ void staged(int *to, const int *from)
{
    __shared__ int part[THREADS];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, part, from + blockIdx.x * THREADS, sizeof part);
    cg::wait(block);
    to[blockIdx.x * THREADS + threadIdx.x] = part[THREADS - 1 - threadIdx.x];
}

static void all_of(int gpu)
{
    int *a, *b, *counter, count = 7;
    unsigned *bits;
    float *real;
    MUST(cudaSetDevice(gpu));
    MUST(cudaMallocManaged((void **)&a, N * sizeof(int)));
    MUST(cudaMallocManaged((void **)&b, N * sizeof(int)));
    MUST(cudaMallocManaged((void **)&counter, sizeof(int)));
    MUST(cudaMallocManaged((void **)&bits, 64 * sizeof(unsigned)));
    MUST(cudaMallocManaged((void **)&real, 64 * sizeof(float)));
    for (int i = 0; i < N; i++)
        a[i] = 10;
    void *args[] = {&a, &b, &count};
    MUST(
        cudaLaunchCooperativeKernel((const void *)rounds, dim3(BLOCKS), dim3(THREADS), args, 0, 0));
    MUST(cudaDeviceSynchronize());
    for (int i = 0; i < N; i++)
        HOLDS(b[i] == 17, "after 7 rounds [%d] is %d", i, b[i]);

    reductions<<<1, 64>>>(a, bits, real);
    MUST(cudaDeviceSynchronize());
    for (int i = 0; i < 4; i++)
        HOLDS(a[3 * i] == 136 && a[3 * i + 1] == 85 && a[3 * i + 2] == 225 && bits[i] == 0xffff &&
                  real[i] == 8.0f,
              "tile %d: %d %d %d %x %f", i, a[3 * i], a[3 * i + 1], a[3 * i + 2], bits[i], real[i]);

    *counter = 0;
    together<<<1, 64>>>(counter, a);
    MUST(cudaDeviceSynchronize());
    HOLDS(*counter == 22 && a[0] == 165 + 1 && a[1] == 528 + 1, "%d %d %d", *counter, a[0], a[1]);

    for (int i = 0; i < N; i++)
        a[i] = i;
    staged<<<BLOCKS, THREADS>>>(b, a);
    MUST(cudaDeviceSynchronize());
    for (int i = 0; i < N; i++)
        HOLDS(b[i] == i / THREADS * THREADS + THREADS - 1 - i % THREADS, "[%d] is %d", i, b[i]);
    MUST(cudaFree(a));
    MUST(cudaFree(b));
    MUST(cudaFree(counter));
    MUST(cudaFree(bits));
    MUST(cudaFree(real));
}

int main(int argc, char **argv)
{
    int gpus;
    MUST(cudaGetDeviceCount(&gpus));
    if (argc > 1 && strcmp(argv[1], "uncooperative") == 0) {
        int *a;
        MUST(cudaMalloc((void **)&a, 2 * N * sizeof(int)));
        rounds<<<BLOCKS, THREADS>>>(a, a + N, 1);
        printf("%d\n", cudaDeviceSynchronize() != cudaSuccess);
        return 0;
    }
    for (int gpu = 0; gpu < gpus; gpu++)
        all_of(gpu);
    printf("groups on %d GPUs: right\n", gpus);
    return 0;
}
