// SPDX-License-Identifier: MIT
// Builtins, one result each: what is printed is the number of the first wrong one, or "right".
// prints: from the device: 3 threads, 0x10
// prints: right
#include <stdio.h>
#include <assert.h>
#include <cuda_runtime.h>

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition))                                                                          \
            atomicMin(wrong, __LINE__);                                                            \
    } while (0)

__global__ void warp(int *wrong)
{
    const unsigned all = 0xffffffffu;
    int lane = threadIdx.x % warpSize;
    double d = lane * 0.5;
    long long big = (long long)lane << 40;

    EXPECT(__shfl_sync(all, lane, 5) == 5);
    EXPECT(__shfl_sync(all, lane, 1, 8) == lane / 8 * 8 + 1);
    EXPECT(__shfl_up_sync(all, lane, 1) == (lane == 0 ? 0 : lane - 1));
    EXPECT(__shfl_down_sync(all, lane, 2) == (lane > 29 ? lane : lane + 2));
    EXPECT(__shfl_xor_sync(all, d, 1) == (lane ^ 1) * 0.5);
    EXPECT(__shfl_sync(all, big, 3) == 3ll << 40);
    EXPECT(__shfl_sync(all, 1.5f * lane, 2) == 3.0f);
    EXPECT(__ballot_sync(all, lane < 4) == 15u);
    EXPECT(__any_sync(all, lane == 7) && !__any_sync(all, lane == 32));
    EXPECT(__all_sync(all, lane >= 0) && !__all_sync(all, lane != 3));
    EXPECT(__activemask() != 0);
    EXPECT(__reduce_add_sync(all, 1u) == 32u);
    EXPECT(__match_any_sync(all, lane / 16) == (lane < 16 ? 0xffffu : 0xffff0000u));
    __syncwarp();
    __syncwarp(all);
    EXPECT(__syncthreads_count(lane == 0) == 2);
    EXPECT(__syncthreads_and(1) && !__syncthreads_or(0));
    if (threadIdx.x == 0)
        printf("from the device: %d threads, 0x%x\n", 3, 16u);
    assert(blockDim.x == 64 && gridDim.x == 1);
}

__global__ void atomics(int *wrong, int *i, unsigned *u, unsigned long long *l, float *f, double *d)
{
    EXPECT(atomicAdd(i, 5) == 0 && *i == 5);
    EXPECT(atomicSub(i, 2) == 5 && *i == 3);
    EXPECT(atomicExch(i, -7) == 3 && *i == -7);
    EXPECT(atomicMin(i, -9) == -7 && *i == -9);
    EXPECT(atomicMax(i, 9) == -9 && *i == 9);
    EXPECT(atomicAnd(i, 12) == 9 && *i == 8);
    EXPECT(atomicOr(i, 3) == 8 && *i == 11);
    EXPECT(atomicXor(i, 1) == 11 && *i == 10);
    EXPECT(atomicCAS(i, 10, 20) == 10 && *i == 20);
    EXPECT(atomicCAS(i, 10, 30) == 20 && *i == 20);
    EXPECT(atomicInc(u, 1u) == 0 && *u == 1);
    EXPECT(atomicInc(u, 1u) == 1 && *u == 0);
    EXPECT(atomicDec(u, 4u) == 0 && *u == 4);
    EXPECT(atomicMax(u, 0xfffffff0u) == 4 && *u == 0xfffffff0u);
    EXPECT(atomicAdd(l, 1ull << 40) == 0 && *l == 1ull << 40);
    EXPECT(atomicAdd_system(f, 1.5f) == 0.0f && *f == 1.5f);
    EXPECT(atomicAdd_block(d, 2.5) == 0.0 && *d == 2.5);
    __threadfence();
    __threadfence_block();
    __threadfence_system();
}

__global__ void arithmetic(int *wrong, const float *numbers)
{
    EXPECT(__popc(0xf0f0u) == 8 && __popcll(~0ull) == 64);
    EXPECT(__clz(1) == 31 && __clz(0) == 32 && __clzll(1) == 63);
    EXPECT(__ffs(8) == 4 && __ffs(0) == 0);
    EXPECT(__brev(1u) == 0x80000000u && __brevll(1) == 1ull << 63);
    EXPECT(__byte_perm(0x33221100u, 0x77665544u, 0x0145) == 0x00114455u);
    EXPECT(__float_as_int(1.0f) == 0x3f800000 && __int_as_float(0x40000000) == 2.0f);
    EXPECT(__ldg(numbers) == 4.0f && __ldg(&numbers[1]) == 9.0f);
    EXPECT(rsqrtf(numbers[0]) == 0.5f && __fsqrt_rn(numbers[1]) == 3.0f);
    EXPECT(__fmaf_rn(2.0f, 3.0f, 1.0f) == 7.0f && fmaf(2, 3, 1) == 7.0f);
    EXPECT(fabsf(expf(logf(numbers[0])) - 4.0f) < 1e-5f);
    EXPECT(sqrt(numbers[0]) == 2.0f && fmax(1.0, 2.0) == 2.0 && powf(2, 3) == 8.0f);
    EXPECT(__mulhi(1 << 30, 8) == 2 && __umulhi(1u << 31, 4u) == 2u);
    EXPECT(min(-1, 1) == -1 && max(2.0f, 1.0f) == 2.0f && min(3u, 2u) == 2u);
    EXPECT(__saturatef(7.0f) == 1.0f && __fdividef(1.0f, 4.0f) == 0.25f);
    float4 v = make_float4(1, 2, 3, 4);
    EXPECT(v.w == 4 && sizeof(float4) == 16);
    long long start = clock64();
    EXPECT(clock64() >= start && clock() >= 0);
    uint3 t = threadIdx;
    dim3 b = blockDim;
    EXPECT(t.x == 0 && b.x == 1 && blockIdx.z == 0);
}

int main()
{
    int *wrong, first = 1 << 30;
    char *memory;
    float numbers[2] = {4, 9};

    cudaMalloc(&wrong, 4);
    cudaMalloc(&memory, 64);
    cudaMemset(memory, 0, 64);
    cudaMemcpy(wrong, &first, 4, cudaMemcpyHostToDevice);
    warp<<<1, 64>>>(wrong);
    atomics<<<1, 1>>>(wrong, (int *)memory, (unsigned *)memory + 2, (unsigned long long *)memory + 2,
                      (float *)memory + 8, (double *)memory + 6);
    float *device_numbers = (float *)(memory + 56);
    cudaMemcpy(device_numbers, numbers, 8, cudaMemcpyHostToDevice);
    arithmetic<<<1, 1>>>(wrong, device_numbers);
    cudaError_t error = cudaMemcpy(&first, wrong, 4, cudaMemcpyDeviceToHost);
    if (error != cudaSuccess)
        printf("%s\n", cudaGetErrorString(error));
    first == 1 << 30 ? puts("right") : printf("line %d\n", first);
    return 0;
}
