/* SPDX-License-Identifier: MIT
 * residency.cu: cases of kernels.residency: blocks that wait for each other, with room for all of
 * them and without.
 */
#include "cases.h"

enum { THREADS = 1024, MORE = 400 /* blocks of so many threads than fit on an H200 */ };

/* All blocks arrive, and wait until `all` have. */
__global__ void meet(int *arrived, int all)
{
    if (threadIdx.x == 0) {
        atomicAdd(arrived, 1);
        while (*(volatile int *)arrived < all)
            ;
    }
}

/* Each waits for the one after it. */
__global__ void chain(volatile int *done)
{
    if (threadIdx.x == 0) {
        while (blockIdx.x + 1 < gridDim.x && done[blockIdx.x + 1] == 0)
            ;
        done[blockIdx.x] = 1;
    }
}

/* Each waits for the one that has taken its ticket before it: that runs, or has ended. */
__global__ void by_ticket(int *ticket, volatile int *done)
{
    if (threadIdx.x == 0) {
        int mine = atomicAdd(ticket, 1);
        while (mine > 0 && done[mine - 1] == 0)
            ;
        done[mine] = 1;
    }
}

/* All wait for the last one. */
__global__ void last_leads(volatile int *go)
{
    if (threadIdx.x == 0) {
        if (blockIdx.x + 1 == gridDim.x)
            *go = 1;
        while (*go == 0)
            ;
    }
}

/* What a block shares is scarce, too. */
__global__ void meet_shared(int *arrived, int all)
{
    extern __shared__ int own[];
    own[threadIdx.x] = 0;
    if (threadIdx.x == 0) {
        atomicAdd(arrived, 1);
        while (*(volatile int *)arrived < all)
            ;
    }
}

static int *words;

static void start(void)
{
    words = (int *)device_memory(0, 4096 * sizeof(int));
    MUST(cudaMemset(words, 0, 4096 * sizeof(int)));
    MUST(cudaDeviceSynchronize());
}

/* ---- mistakes ---- */

static void bad_meeting(void)
{
    meet<<<MORE, THREADS>>>(words, MORE); // @bad_meeting
}

static void bad_chain(void)
{
    chain<<<MORE, THREADS>>>(words); // @bad_chain
}

static void bad_last_leads(void)
{
    last_leads<<<MORE, THREADS>>>(words); // @bad_last_leads
}

static void bad_shared_memory(void)
{
    MUST(cudaFuncSetAttribute(meet_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10));
    meet_shared<<<MORE, 32, 200 << 10>>>(words, MORE); // @bad_shared_memory
}

static void bad_one_too_many(void)
{
    meet<<<265, THREADS>>>(words, 265); // @bad_one_too_many
}

/* ---- right ---- */

static void near_all_fit(void)
{
    meet<<<264, THREADS>>>(words, 264);
}

static void near_small_blocks(void)
{
    meet<<<MORE, 32>>>(words, MORE);
}

static void near_half_meets(void)
{
    meet<<<MORE, THREADS>>>(words, 200);
}

static void near_chain_by_ticket(void)
{
    by_ticket<<<MORE, THREADS>>>(words, words + 1);
}

static void near_nobody_waits(void)
{
    meet<<<MORE, THREADS>>>(words, 0);
}

static const struct test_case all[] = {
    CASE("kernels.residency", bad_meeting),          CASE("kernels.residency", bad_chain),
    CASE("kernels.residency", bad_last_leads),       CASE("kernels.residency", bad_shared_memory),
    CASE("kernels.residency", bad_one_too_many),     CASE("kernels.residency", near_all_fit),
    CASE("kernels.residency", near_small_blocks),    CASE("kernels.residency", near_half_meets),
    CASE("kernels.residency", near_chain_by_ticket), CASE("kernels.residency", near_nobody_waits),
};

int main(int argc, char **argv)
{
    if (argc > 1)
        start();
    int status = run_case(all, sizeof all / sizeof *all, argc, argv);
    if (argc > 1 && cudaDeviceSynchronize() != cudaSuccess)
        return 4;
    return status;
}
