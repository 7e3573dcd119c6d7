// SPDX-License-Identifier: MIT
// Kernels that run at the same time and wait for each other: GPUs in a ring through peer memory, by
// arguments and by a table of pointers in device memory; a barrier of all GPUs by system-wide
// atomics; blocks of one kernel, the first waiting for the last.
#include "check.h"

#include <vector>

enum { ROUNDS = 50, BLOCKS = 1000 };

__device__ void turns(volatile int *mine, volatile int *next, bool first)
{
    for (int r = 1; r <= ROUNDS; r++) {
        if (first)
            *next = r;
        while (*mine != r) {
        }
        if (!first)
            *next = r;
        __threadfence_system();
    }
}

__global__ void ring(int *mine, int *next, bool first)
{
    turns(mine, next, first);
}

__global__ void ring_by_table(int **flags, int self, int count)
{
    turns(flags[self], flags[(self + 1) % count], self == 0);
}

__global__ void meet(int *arrived, int count)
{
    for (int r = 1; r <= ROUNDS; r++) {
        atomicAdd_system(arrived, 1);
        while (atomicAdd_system(arrived, 0) < r * count) {
        }
    }
}

__global__ void blocks_in_reverse(volatile int *done)
{
    if (threadIdx.x > 0)
        return;
    while (blockIdx.x + 1 < gridDim.x && done[blockIdx.x + 1] == 0) {
    }
    done[blockIdx.x] = blockIdx.x + 1 < gridDim.x ? done[blockIdx.x + 1] + 1 : 1;
}

static int count;
static std::vector<int *> flag;
static std::vector<int **> table; /* each GPU's copy of the above */

static void start()
{
    for (int d = 0; d < count; d++) {
        MUST(cudaSetDevice(d));
        MUST(cudaMemset(flag[d], 0, BLOCKS * sizeof(int)));
        MUST(cudaDeviceSynchronize());
    }
}

/* `backwards`: the host waits for the last GPU first. */
static void finish(const char *what, int expected, bool backwards)
{
    for (int i = 0; i < count; i++) {
        MUST(cudaSetDevice(backwards ? count - 1 - i : i));
        MUST(cudaDeviceSynchronize());
    }
    for (int d = 0; d < count; d++) {
        int value;
        MUST(cudaMemcpy(&value, flag[d], sizeof value, cudaMemcpyDefault));
        HOLDS(value == expected, "%s, GPU %d of %d: %d", what, d, count, value);
    }
}

static void rings(bool backwards)
{
    start();
    for (int d = 0; d < count; d++) {
        MUST(cudaSetDevice(d));
        ring<<<1, 1>>>(flag[d], flag[(d + 1) % count], d == 0);
    }
    finish("ring", ROUNDS, backwards);
    start();
    for (int d = 0; d < count; d++) {
        MUST(cudaSetDevice(d));
        ring_by_table<<<1, 1>>>(table[d], d, count);
    }
    finish("ring by a table", ROUNDS, backwards);
}

int main()
{
    MUST(cudaGetDeviceCount(&count));
    for (int d = 0; d < count; d++) {
        int *own;
        MUST(cudaSetDevice(d));
        MUST(cudaMalloc(&own, BLOCKS * sizeof *own));
        flag.push_back(own);
        for (int p = 0; p < count; p++)
            if (p != d)
                MUST(cudaDeviceEnablePeerAccess(p, 0));
    }
    for (int d = 0; d < count; d++) {
        int **own;
        MUST(cudaSetDevice(d));
        MUST(cudaMalloc(&own, count * sizeof *own));
        MUST(cudaMemcpy(own, flag.data(), count * sizeof *own, cudaMemcpyDefault));
        table.push_back(own);
    }
    rings(false);
    rings(true);
    start();
    for (int d = 0; d < count; d++) {
        MUST(cudaSetDevice(d));
        meet<<<1, 1>>>(flag[0], count);
    }
    int arrived;
    for (int d = 0; d < count; d++) {
        MUST(cudaSetDevice(d));
        MUST(cudaDeviceSynchronize());
    }
    MUST(cudaMemcpy(&arrived, flag[0], sizeof arrived, cudaMemcpyDefault));
    HOLDS(arrived == ROUNDS * count, "%d of %d arrivals", arrived, ROUNDS * count);
    start();
    for (int d = 0; d < count; d++) {
        MUST(cudaSetDevice(d));
        blocks_in_reverse<<<BLOCKS, 32>>>(flag[d]);
    }
    finish("blocks in reverse", BLOCKS, false);
    printf("handshakes on %d GPUs: right\n", count);
    return 0;
}
