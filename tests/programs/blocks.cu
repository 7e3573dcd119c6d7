/* SPDX-License-Identifier: MIT
 * blocks.cu: in which order blocks and the threads of one run, and which of two streams' kernels
 * comes first: nothing of that is promised.
 */
#include <cstdio>

constexpr int BLOCKS = 13, THREADS = 64;

__global__ void blocks(int *order, int *next)
{
    if (threadIdx.x == 0)
        order[atomicAdd(next, 1)] = blockIdx.x;
}

__global__ void threads(int *order, int *next)
{
    order[atomicAdd(next, 1)] = threadIdx.x;
}

__global__ void mark(int *order, int *next, int who)
{
    order[atomicAdd(next, 1)] = who;
}

static void print(const char *what, const int *order, int count)
{
    int host[THREADS];
    cudaMemcpy(host, order, count * sizeof *host, cudaMemcpyDeviceToHost);
    printf("%s", what);
    for (int i = 0; i < count; i++)
        printf(" %d", host[i]);
    puts("");
}

int main()
{
    int *order, *next;
    cudaStream_t stream[4];
    cudaMalloc(&order, THREADS * sizeof *order);
    cudaMalloc(&next, sizeof *next);
    cudaMemset(next, 0, sizeof *next);
    blocks<<<BLOCKS, 32>>>(order, next);
    print("blocks", order, BLOCKS);
    cudaMemset(next, 0, sizeof *next);
    threads<<<1, THREADS>>>(order, next);
    print("threads", order, THREADS);
    cudaMemset(next, 0, sizeof *next);
    cudaDeviceSynchronize();
    for (int i = 0; i < 4; i++) {
        cudaStreamCreateWithFlags(&stream[i], cudaStreamNonBlocking);
        mark<<<1, 1, 0, stream[i]>>>(order, next, i);
    }
    cudaDeviceSynchronize();
    print("streams", order, 4);
    return cudaGetLastError() != cudaSuccess;
}
