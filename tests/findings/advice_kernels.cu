/* SPDX-License-Identifier: MIT
 * advice_kernels.cu: cases of advice.uncoalesced and advice.imbalance: kernels that are right, and
 * slower than they need be.
 */
#include "cases.h"

#define ROWS 1024
#define N (ROWS * ROWS)
#define BYTES (N * sizeof(int))

struct particle {
    int position[7], mass;
};

__device__ static int me(void)
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

__global__ void copy(int *to, const int *from, int count)
{
    if (me() < count)
        to[me()] = from[me()];
}

__global__ void columns(int *to, const int *from)
{
    int i = me();
    to[i % ROWS * ROWS + i / ROWS] = from[i % ROWS * ROWS + i / ROWS];
}

__global__ void transpose_store(int *to, const int *from)
{
    int i = me();
    to[i % ROWS * ROWS + i / ROWS] = from[i];
}

__global__ void every_32nd(int *to, const int *from)
{
    to[me()] = from[(me() * 32 + me() / (N / 32)) % N];
}

__global__ void masses(int *to, const struct particle *from)
{
    to[me()] = from[me()].mass;
}

__global__ void bit_reversed(int *to, const int *from)
{
    to[me()] = from[__brev((unsigned)me()) >> 12];
}

__global__ void whole(int *to, const struct particle *from)
{
    if (me() >= N / 8)
        return;
    int sum = from[me()].mass;
    for (int i = 0; i < 7; i++)
        sum += from[me()].position[i];
    to[me()] = sum;
}

__global__ void first_of_all(int *to, const int *from)
{
    to[me()] = from[0];
}

static int *x[2], *y[2];

static void start(void)
{
    for (int g = 0; g < 2; g++) {
        x[g] = (int *)device_memory(g, 4 * BYTES);
        y[g] = (int *)device_memory(g, BYTES);
        MUST(cudaMemset(x[g], 0, 4 * BYTES));
    }
    wait_for_all(2);
    MUST(cudaSetDevice(0));
}

/* ---- advice.uncoalesced ---- */

static void bad_columns(void)
{
    columns<<<N / 256, 256>>>(y[0], x[0]); // @bad_columns
}

static void bad_transpose(void)
{
    transpose_store<<<N / 256, 256>>>(y[0], x[0]); // @bad_transpose
}

static void bad_stride(void)
{
    every_32nd<<<N / 256, 256>>>(y[0], x[0]); // @bad_stride
}

static void bad_one_member(void)
{
    masses<<<N / 2 / 256, 256>>>(y[0], (const struct particle *)x[0]); // @bad_one_member
}

static void bad_scattered(void)
{
    bit_reversed<<<N / 256, 256>>>(y[0], x[0]); // @bad_scattered
}

static void near_rows(void)
{
    copy<<<N / 256, 256>>>(y[0], x[0], N);
}

static void near_whole_struct(void)
{
    whole<<<N / 8 / 256, 256>>>(y[0], (const struct particle *)x[0]);
}

static void near_one_word_for_all(void)
{
    first_of_all<<<N / 256, 256>>>(y[0], x[0]);
}

static void near_too_small(void)
{
    columns<<<1, 32>>>(y[0], x[0]);
}

static void near_half_a_block(void)
{
    copy<<<N / 256, 256>>>(y[0], x[0] + 1, N - 1);
}

/* ---- advice.imbalance ---- */

/* GPU g works on part[g] of the elements, so many times. */
static void work(const int *part, int times)
{
    for (int i = 0; i < times; i++)
        for (int g = 0; g < 2; g++) {
            MUST(cudaSetDevice(g));
            copy<<<part[g] / 256 + 1, 256>>>(y[g], x[g], part[g]); // @bad_first // @bad_last
        }
    wait_for_all(2);
}

static void bad_first(void)
{
    int part[] = {N, N / 16};
    work(part, 4);
}

static void bad_last(void)
{
    int part[] = {N / 8, N};
    work(part, 4);
}

static void bad_rest(void)
{
    int part[] = {64, N - 64};
    work(part, 4);
}

static void bad_often(void)
{
    int part[] = {N / 16, N};
    work(part, 8);
}

static void bad_idle(void)
{
    int part[] = {N, 0};
    work(part, 4);
}

static void near_even(void)
{
    int part[] = {N, N};
    work(part, 4);
}

static void near_remainder(void)
{
    int part[] = {N, N - 1000};
    work(part, 4);
}

static void near_one_gpu(void)
{
    for (int i = 0; i < 4; i++)
        copy<<<N / 256, 256>>>(y[0], x[0], N);
}

static void near_other_kernel(void)
{
    for (int i = 0; i < 4; i++)
        copy<<<N / 256, 256>>>(y[0], x[0], N);
    MUST(cudaSetDevice(1));
    copy<<<1, 256>>>(y[1], x[1], 256);
}

static void near_little(void)
{
    int part[] = {4096, 64};
    work(part, 1);
}

static const struct test_case all[] = {
    CASE("advice.uncoalesced", bad_columns),
    CASE("advice.uncoalesced", bad_transpose),
    CASE("advice.uncoalesced", bad_stride),
    CASE("advice.uncoalesced", bad_one_member),
    CASE("advice.uncoalesced", bad_scattered),
    CASE("advice.uncoalesced", near_rows),
    CASE("advice.uncoalesced", near_whole_struct),
    CASE("advice.uncoalesced", near_one_word_for_all),
    CASE("advice.uncoalesced", near_too_small),
    CASE("advice.uncoalesced", near_half_a_block),
    CASE("advice.imbalance", bad_first),
    CASE("advice.imbalance", bad_last),
    CASE("advice.imbalance", bad_rest),
    CASE("advice.imbalance", bad_often),
    CASE("advice.imbalance", bad_idle),
    CASE("advice.imbalance", near_even),
    CASE("advice.imbalance", near_remainder),
    CASE("advice.imbalance", near_one_gpu),
    CASE("advice.imbalance", near_other_kernel),
    CASE("advice.imbalance", near_little),
};

int main(int argc, char **argv)
{
    if (argc > 1)
        start();
    int status = run_case(all, sizeof all / sizeof *all, argc, argv);
    if (argc > 1)
        wait_for_all(2);
    return status;
}
