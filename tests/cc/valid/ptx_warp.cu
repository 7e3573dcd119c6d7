// SPDX-License-Identifier: MIT
// Warp instructions and special registers in inline PTX, of 64 threads.
// prints: ptx warp: 0
#include <cuda_runtime.h>
#include <stdio.h>

#define SHUFFLE(mode, b, c)                                                                        \
    asm volatile("{ .reg .pred p; shfl.sync." mode ".b32 %0|p, %2, %3, %4, 0xffffffff;"            \
                 " selp.u32 %1, 1, 0, p; }"                                                        \
                 : "=r"(value), "=r"(valid)                                                        \
                 : "r"(lane + 100), "r"(b), "r"(c))

__device__ int shuffles(unsigned lane)
{
    unsigned value, valid;
    int wrong = 0;

    SHUFFLE("up", 3, 0);
    wrong += value != (lane < 3 ? lane : lane - 3) + 100 || valid != (lane >= 3);
    SHUFFLE("down", 3, 0x1f);
    wrong += value != (lane > 28 ? lane : lane + 3) + 100 || valid != (lane <= 28);
    SHUFFLE("bfly", 5, 0x1f);
    wrong += value != (lane ^ 5) + 100 || !valid;
    SHUFFLE("idx", 9, 0x1807); // segments of 8 lanes
    wrong += value != (lane & 24) + 1 + 100 || !valid;
    SHUFFLE("up", 1, 0x1800);
    wrong += value != (lane % 8 ? lane - 1 : lane) + 100 || valid != (lane % 8 != 0);
    SHUFFLE("down", 6, 0x1805); // and up to lane 5 of each
    wrong += valid != (lane % 8 + 6 <= 5);
    return wrong;
}

__device__ int votes(unsigned lane)
{
    unsigned ballot, all, any, uni, none, same, whole, sum, least, leader, elected, active;
    int wrong;

    asm volatile(
        "{ .reg .pred p, q; setp.lt.u32 p, %4, 5; vote.sync.ballot.b32 %0, p, 0xffffffff;\n"
        "vote.sync.all.pred q, p, 0xffffffff; selp.u32 %1, 1, 0, q;\n"
        "vote.sync.any.pred q, p, 0xffffffff; selp.u32 %2, 1, 0, q;\n"
        "vote.sync.uni.pred q, !p, 0xffffffff; selp.u32 %3, 1, 0, q; }"
        : "=r"(ballot), "=r"(all), "=r"(any), "=r"(uni)
        : "r"(lane));
    wrong = ballot != 31 || all || !any || uni;
    asm volatile("{ .reg .pred p; setp.gt.u32 p, %1, 99; vote.sync.uni.pred p, p, 0xffffffff;"
                 " selp.u32 %0, 1, 0, p; }"
                 : "=r"(none)
                 : "r"(lane));
    asm volatile("match.any.sync.b32 %0, %1, 0xffffffff;" : "=r"(same) : "r"(lane % 4));
    asm volatile("{ .reg .pred p; match.all.sync.b64 %0|p, %1, 0xffffffff; @p add.u32 %0, %0, 1; }"
                 : "=r"(whole)
                 : "l"(1ull << 40));
    asm volatile("redux.sync.add.u32 %0, %1, 0xffffffff;" : "=r"(sum) : "r"(lane));
    asm volatile("redux.sync.min.s32 %0, %1, 0xffffffff;" : "=r"(least) : "r"(7 - lane));
    wrong +=
        !none || same != 0x11111111u << lane % 4 || whole != 0 || sum != 496 || (int)least != -24;
    asm volatile("{ .reg .pred p; elect.sync %0|p, 0xffffffff; selp.u32 %1, 1, 0, p; }"
                 : "=r"(leader), "=r"(elected)
                 : "r"(lane));
    wrong += leader != 0 || elected != (lane == 0);
    asm volatile("activemask.b32 %0;" : "=r"(active));
    return wrong + (active != 0xffffffff);
}

#define SPECIAL(name, wanted)                                                                      \
    asm volatile("mov.u32 %0, %%" name ";" : "=r"(value));                                         \
    wrong += value != (unsigned)(wanted)

__device__ int specials(unsigned lane)
{
    unsigned value, bit = 1u << lane;
    int wrong = 0;

    SPECIAL("laneid", lane);
    SPECIAL("warpid", threadIdx.x / 32);
    SPECIAL("lanemask_eq", bit);
    SPECIAL("lanemask_lt", bit - 1);
    SPECIAL("lanemask_le", bit | (bit - 1));
    SPECIAL("lanemask_gt", ~(bit | (bit - 1)));
    SPECIAL("lanemask_ge", ~(bit - 1));
    SPECIAL("tid.x", threadIdx.x);
    SPECIAL("ntid.x", blockDim.x);
    SPECIAL("ctaid.y", blockIdx.y);
    SPECIAL("nctaid.y", 2);
    return wrong;
}

__global__ void all(int *wrong, int *left)
{
    __shared__ int met;
    unsigned lane = threadIdx.x % 32;
    int own = shuffles(lane) + specials(lane) + votes(lane);

    if (threadIdx.x == 0)
        met = 42;
    asm volatile("bar.sync 0;" ::: "memory");
    own += met != 42;
    atomicAdd(wrong, own);
    if (threadIdx.x % 2 == 0)
        asm volatile("exit;");
    atomicAdd(left, 1);
}

int main()
{
    int *d, h[2];

    cudaMalloc((void **)&d, sizeof h);
    cudaMemset(d, 0, sizeof h);
    all<<<dim3(1, 2), 64>>>(d, d + 1);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    printf("ptx warp: %d\n", h[0] + (h[1] != 64));
    return 0;
}
