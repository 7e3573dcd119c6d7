// SPDX-License-Identifier: MIT
// barriers.cu: warps that make numbers and warps that use them, by barriers with a number and a
// count of threads: bar.arrive, bar.sync, bar.red, the number in a register. Prints the same by
// both compilers.
#include <stdio.h>

__device__ void sync_at(unsigned number, unsigned threads)
{
    asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

__device__ void arrive_at(unsigned number, unsigned threads)
{
    asm volatile("bar.arrive %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

// PTX's guide, bar.arrive: a producer and a consumer of two buffers, whose barriers are "full" and
// "empty".
__global__ void two_buffers(int *to, int steps)
{
    __shared__ int buffer[2][32];
    unsigned lane = threadIdx.x % 32;
    bool producer = threadIdx.x >= 32;
    int sum = 0;
    for (int step = 0; step < steps; step++) {
        unsigned which = (unsigned)step % 2;
        if (producer) {
            if (step >= 2)
                sync_at(3 + which, 64);
            buffer[which][lane] = step * 100 + (int)lane;
            arrive_at(1 + which, 64);
        } else {
            sync_at(1 + which, 64);
            sum = sum * 3 + buffer[which][31 - lane];
            if (step + 2 < steps)
                arrive_at(3 + which, 64);
        }
    }
    if (!producer)
        to[blockIdx.x * 32 + lane] = sum;
}

// Barrier 0 with a count, before and after it is __syncthreads.
__global__ void by_zero(int *to)
{
    __shared__ int value[64];
    unsigned i = threadIdx.x;
    value[i] = 0;
    __syncthreads();
    if (i < 32) {
        value[i] = (int)i + 5;
        asm volatile("barrier.cta.arrive 0, 64;" ::: "memory");
    } else {
        asm volatile("barrier.sync 0, 64;" ::: "memory");
        value[i] = value[i - 32] * 2;
    }
    sync_at(3, 64);
    int both = value[i] + value[i ^ 32];
    __syncthreads();
    if (i < 32)
        asm volatile("bar.arrive 0, 64;" ::: "memory");
    else
        asm volatile("bar.sync 0, 64;" ::: "memory");
    to[i] = both;
}

// Halves of the block reduce on their own, by a barrier whose number is in a register.
__global__ void reduced(int *to)
{
    unsigned i = threadIdx.x, half = i / 64, number = 7 + half;
    int count, all, any;
    asm volatile("{ .reg .pred p, q; setp.ne.u32 p, %3, 0;\n"
                 "bar.red.popc.u32 %0, %4, 64, p;\n"
                 "bar.red.and.pred q, %4, 64, p; selp.s32 %1, 1, 0, q;\n"
                 "bar.red.or.pred q, %4, 64, !p; selp.s32 %2, 1, 0, q; }"
                 : "=r"(count), "=r"(all), "=r"(any)
                 : "r"(half == 0 ? i % 3 : 1), "r"(number)
                 : "memory");
    __barrier_sync(15);
    to[i] = count * 100 + all * 10 + any;
}

// Three groups of 32 threads pass a number on, and leave at different times.
__global__ void chain(int *to)
{
    __shared__ int value;
    unsigned group = threadIdx.x / 32;
    if (group == 0) {
        if (threadIdx.x == 0)
            value = 17;
        arrive_at(1, 64);
        return;
    }
    __barrier_sync_count(group, 64);
    if (threadIdx.x % 32 == 0)
        value = value * 3 + (int)group;
    __syncwarp();
    if (group < 3)
        arrive_at(group + 1, 64);
    else
        to[threadIdx.x % 32] = value;
}

static void show(const char *name, int *data, int count)
{
    int host[128];
    cudaError_t error = cudaDeviceSynchronize();
    printf("%s: %s", name, cudaGetErrorString(error));
    cudaMemcpy(host, data, (size_t)count * sizeof *host, cudaMemcpyDefault);
    for (int i = 0; i < count; i++)
        printf(" %d", host[i]);
    printf("\n");
}

int main(void)
{
    int *data;
    cudaMalloc(&data, 128 * sizeof *data);
    two_buffers<<<4, 64>>>(data, 9);
    show("two_buffers", data, 128);
    by_zero<<<1, 64>>>(data);
    show("by_zero", data, 64);
    reduced<<<1, 128>>>(data);
    show("reduced", data, 128);
    chain<<<1, 128>>>(data);
    show("chain", data, 32);
    return 0;
}
