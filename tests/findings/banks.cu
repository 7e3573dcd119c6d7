/* SPDX-License-Identifier: MIT
 * banks.cu: cases of advice.bank-conflict: lanes of a warp that use different words of one bank of
 * shared memory, and such that look so. Kernels of 264 blocks of 256 threads; `to` takes a sum of
 * each thread, so that nothing is left out.
 */
#include "cases.h"

#define THREADS 256
#define BLOCKS 264
#define ROUNDS 64

__device__ static int me(void)
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

/* Lane l of each warp uses word (step * l + round) of the shared memory, again and again. */
__device__ static int walk(volatile int *words, int count, int step)
{
    int lane = threadIdx.x % 32, sum = 0;
    for (int i = threadIdx.x; i < count; i += THREADS)
        words[i] = i;
    __syncthreads();
    for (int round = 0; round < ROUNDS; round++)
        sum += words[(step * lane + round) % count]; // @bad_stride // @bad_even
    return sum;
}

__global__ void strided(int *to, int step)
{
    __shared__ int words[1024 + 32];
    to[me()] = walk(words, 1024, step);
}

/* A block turns 32 x 32 numbers around, reading columns of rows that are PITCH long. */
template <int PITCH> __global__ void turn(int *to, const int *from)
{
    __shared__ int tile[32 * PITCH];
    int x = threadIdx.x % 32, y = threadIdx.x / 32, sum = 0;
    for (int round = 0; round < ROUNDS / 4; round++) {
        for (int j = y; j < 32; j += 8)
            tile[j * PITCH + x] = from[32 * j + x] + round;
        __syncthreads();
        for (int j = y; j < 32; j += 8)
            sum += tile[x * PITCH + j]; // @bad_columns
        __syncthreads();
    }
    to[me()] = sum;
}

/* Each lane counts in a row of its own: the rows are 32 counters long. */
__global__ void histogram(int *to, int pitch)
{
    extern __shared__ int counters[];
    for (int i = threadIdx.x; i < 32 * pitch; i += THREADS)
        counters[i] = 0;
    __syncthreads();
    for (int round = 0; round < ROUNDS; round++)
        atomicAdd(&counters[threadIdx.x % 32 * pitch + round % 32], 1); // @bad_counters
    __syncthreads();
    to[me()] = counters[threadIdx.x];
}

struct particle {
    int member[32];
};

__global__ void members(int *to)
{
    __shared__ struct particle all[64];
    for (int round = 0; round < ROUNDS; round++) {
        if (threadIdx.x < 64)
            all[threadIdx.x].member[round % 32] = round; // @bad_structs
        __syncthreads();
    }
    to[me()] = all[threadIdx.x % 64].member[0];
}

/* A tree whose active threads lie ever farther apart. */
__global__ void tree(int *to)
{
    __shared__ int sum[1024];
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = threadIdx.x; i < 1024; i += THREADS)
            sum[i] = i + round;
        __syncthreads();
        for (int apart = 1; apart < 1024; apart *= 2) {
            int at = 2 * apart * threadIdx.x;
            if (at + apart < 1024)
                sum[at] += sum[at + apart]; // @bad_tree
            __syncthreads();
        }
    }
    to[me()] = sum[0];
}

/* The same, with the active threads side by side. */
__global__ void halves(int *to)
{
    __shared__ int sum[1024];
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = threadIdx.x; i < 1024; i += THREADS)
            sum[i] = i + round;
        __syncthreads();
        for (int apart = 512; apart > 0; apart /= 2) {
            for (int at = threadIdx.x; at < apart; at += THREADS)
                sum[at] += sum[at + apart];
            __syncthreads();
        }
    }
    to[me()] = sum[0];
}

/* Sixteen bytes of each thread take four wavefronts, whoever asks. */
__global__ void wide(int *to)
{
    __shared__ int4 all[THREADS], other[THREADS];
    all[threadIdx.x] = make_int4(0, 1, 2, 3);
    for (int round = 0; round < ROUNDS; round++) {
        other[threadIdx.x] = all[threadIdx.x];
        __syncthreads();
        all[threadIdx.x] = other[threadIdx.x ^ 1];
        __syncthreads();
    }
    to[me()] = threadIdx.x % 32 == 0 ? all[threadIdx.x].x : 0;
}

static int *x, *y;

static void start(void)
{
    x = (int *)device_memory(0, 4096);
    y = (int *)device_memory(0, BLOCKS * THREADS * sizeof *y);
    MUST(cudaMemset(x, 0, 4096));
    wait_for_all(1);
}

static void bad_stride(void)
{
    strided<<<BLOCKS, THREADS>>>(y, 32); // @bad_stride
}

static void bad_even(void)
{
    strided<<<BLOCKS, THREADS>>>(y, 24); // @bad_even
}

static void bad_columns(void)
{
    turn<32><<<BLOCKS, THREADS>>>(y, x); // @bad_columns
}

static void bad_counters(void)
{
    histogram<<<BLOCKS, THREADS, 32 * 32 * sizeof(int)>>>(y, 32); // @bad_counters
}

static void bad_structs(void)
{
    members<<<BLOCKS, THREADS>>>(y); // @bad_structs
}

static void bad_tree(void)
{
    tree<<<BLOCKS, THREADS>>>(y); // @bad_tree
}

static void near_neighbours(void)
{
    strided<<<BLOCKS, THREADS>>>(y, 1);
}

static void near_one_word_for_all(void)
{
    strided<<<BLOCKS, THREADS>>>(y, 0);
}

static void near_odd(void)
{
    strided<<<BLOCKS, THREADS>>>(y, 33);
}

static void near_padded(void)
{
    turn<33><<<BLOCKS, THREADS>>>(y, x);
}

static void near_counters(void)
{
    histogram<<<BLOCKS, THREADS, 32 * 33 * sizeof(int)>>>(y, 33);
}

static void near_halves(void)
{
    halves<<<BLOCKS, THREADS>>>(y);
}

static void near_wide(void)
{
    wide<<<BLOCKS, THREADS>>>(y);
}

static void near_too_small(void)
{
    strided<<<1, 32>>>(y, 32);
}

static const struct test_case all[] = {
    CASE("advice.bank-conflict", bad_stride),
    CASE("advice.bank-conflict", bad_even),
    CASE("advice.bank-conflict", bad_columns),
    CASE("advice.bank-conflict", bad_counters),
    CASE("advice.bank-conflict", bad_structs),
    CASE("advice.bank-conflict", bad_tree),
    CASE("advice.bank-conflict", near_neighbours),
    CASE("advice.bank-conflict", near_one_word_for_all),
    CASE("advice.bank-conflict", near_odd),
    CASE("advice.bank-conflict", near_padded),
    CASE("advice.bank-conflict", near_counters),
    CASE("advice.bank-conflict", near_halves),
    CASE("advice.bank-conflict", near_wide),
    CASE("advice.bank-conflict", near_too_small),
};

int main(int argc, char **argv)
{
    if (argc > 1)
        start();
    int status = run_case(all, sizeof all / sizeof *all, argc, argv);
    if (argc > 1)
        wait_for_all(1);
    return status;
}
