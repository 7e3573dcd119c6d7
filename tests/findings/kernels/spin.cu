/* SPDX-License-Identifier: MIT
 * spin.cu: loops that wait for a variable which they do not read again.
 */
#include "cases.h"
#include <unistd.h>

/* The kernels under way are ended, and the program with them: nothing works after that error. */
static void ends_in_time(void)
{
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaErrorLaunchTimeout)
        MUST(error == cudaSuccess ? cudaErrorNotReady : error);
    _exit(0);
}

static void streams(cudaStream_t *a, cudaStream_t *b)
{
    MUST(cudaStreamCreateWithFlags(a, cudaStreamNonBlocking));
    MUST(cudaStreamCreateWithFlags(b, cudaStreamNonBlocking));
}

__global__ void set(int *flag)
{
    *(volatile int *)flag = 1;
}

__global__ void plain(int *flag)
{
    while (*flag == 0)
        ;
    flag[1] = 7;
}

/* Two of them wait for each other: whichever is first reads before the other has written. */
__global__ void meet(int *mine, int *other)
{
    *(volatile int *)mine = 1;
    while (*other == 0)
        ;
    mine[2] = 7;
}
WRONG(other_stream, "kernels.spin")
{
    cudaStream_t a, b;
    streams(&a, &b);
    MUST(cudaMemset(data, 0, 8));
    MUST(cudaDeviceSynchronize());
    meet<<<1, 1, 0, a>>>(data, data + 1);
    meet<<<1, 1, 0, b>>>(data + 1, data);
    ends_in_time();
}

__global__ void with_volatile(volatile int *flag)
{
    while (*flag == 0)
        ;
    flag[1] = 7;
}
RIGHT(read_each_time)
{
    cudaStream_t a, b;
    streams(&a, &b);
    MUST(cudaMemset(data, 0, 8));
    MUST(cudaDeviceSynchronize());
    with_volatile<<<1, 1, 0, a>>>(data);
    set<<<1, 1, 0, b>>>(data);
    MUST(cudaDeviceSynchronize());
    MUST(cudaStreamDestroy(a));
    MUST(cudaStreamDestroy(b));
}

RIGHT(set_before)
{
    MUST(cudaMemset(data, 1, 4));
    plain<<<1, 1>>>(data);
}

/* All wait for the last thread of the block, or have met it before. */
template <bool MEET> __global__ void in_block(int *d)
{
    __shared__ int ready;
    if (threadIdx.x == 0)
        ready = 0;
    __syncthreads();
    if (threadIdx.x == 63)
        ready = d[1];
    if (MEET)
        __syncthreads();
    while (ready == 0)
        ;
    d[threadIdx.x] = ready;
}
WRONG(shared_flag, "kernels.spin")
{
    in_block<false><<<1, 64>>>(data);
    ends_in_time();
}
RIGHT(barrier_first)
{
    in_block<true><<<1, 64>>>(data);
}

/* Blocks count themselves with an atomic, and look at the sum without one. */
__global__ void count_in(int *sum, int blocks)
{
    atomicAdd(sum, 1);
    while (*sum < blocks)
        ;
    sum[1 + blockIdx.x] = 1;
}
WRONG(all_blocks, "kernels.spin")
{
    MUST(cudaMemset(data, 0, 4));
    count_in<<<4, 1>>>(data, 4);
    ends_in_time();
}

__global__ void count_in_with_atomics(int *sum, int blocks)
{
    atomicAdd(sum, 1);
    while (atomicAdd(sum, 0) < blocks)
        ;
    sum[1 + blockIdx.x] = 1;
}
RIGHT(all_blocks_with_atomics)
{
    MUST(cudaMemset(data, 0, 4));
    count_in_with_atomics<<<4, 1>>>(data, 4);
}

struct box {
    int ready, value;
};

__global__ void members(struct box *box, int *to)
{
    ((volatile struct box *)box)[blockIdx.x].ready = 1;
    do {
    } while (!box[1 - blockIdx.x].ready);
    to[blockIdx.x] = box->value;
}
WRONG(struct_member, "kernels.spin")
{
    MUST(cudaMemset(data, 0, 16));
    members<<<2, 1>>>((struct box *)data, data + 8);
    ends_in_time();
}

/* The bound on the turns is no way out either: it is counted, and not asked. */
__global__ void counted(int *flag, int *turns)
{
    int count = 0, seen;
    do {
        seen = *flag;
        count++;
    } while (seen == 0);
    *turns = count;
}
WRONG(counts_turns, "kernels.spin")
{
    MUST(cudaMemset(data, 0, 8));
    counted<<<1, 1>>>(data, data + 8);
    ends_in_time();
}

/* It never ends, and does something: not a loop that waits. */
__global__ void busy(unsigned *d)
{
    for (unsigned i = 1;; i = i * 1664525 + 1013904223)
        d[i >> 22] += i;
}
WRONG(goes_on_working, "702")
{
    busy<<<1, 1>>>((unsigned *)data);
    ends_in_time();
}

/* It gives up. */
__global__ void patient(int *flag, int *turns)
{
    int count = 0;
    while (*flag == 0 && count < 1000)
        count++;
    *turns = count;
}
RIGHT(gives_up)
{
    MUST(cudaMemset(data, 0, 8));
    patient<<<1, 1>>>(data, data + 8);
}

/* It computes, and comes to an end. */
__global__ void collatz(int *to)
{
    int longest = 0;
    for (int start = 1; start < 3000; start++) {
        int steps = 0;
        for (unsigned n = start; n != 1; n = n % 2 ? 3 * n + 1 : n / 2)
            steps++;
        longest = steps > longest ? steps : longest;
    }
    to[0] = longest;
}
RIGHT(computes)
{
    collatz<<<1, 1>>>(data);
}
