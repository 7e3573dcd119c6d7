// SPDX-License-Identifier: MIT
// scan.cu: inclusive prefix sum over all GPUs: warps by shuffles, blocks over shared memory, blocks
// of a GPU by a second scan of their sums, GPUs by what those before them add up to.
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#include <vector>

#define THREADS 512
#define FULL 0xffffffffu

static void must(cudaError_t e, int line)
{
    if (e != cudaSuccess) {
        printf("FAIL: line %d: %s\n", line, cudaGetErrorString(e));
        exit(1);
    }
}
#define MUST(x) must((x), __LINE__)

template <typename T> __device__ __forceinline__ T warp_scan(T v)
{
    const int lane = threadIdx.x & (warpSize - 1);
#pragma unroll
    for (int step = 1; step < 32; step <<= 1) {
        T other = __shfl_up_sync(FULL, v, step);
        if (lane >= step)
            v += other;
    }
    return v;
}

template <typename T> __device__ T block_scan(T v)
{
    __shared__ T sum[THREADS / 32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;

    v = warp_scan(v);
    if (lane == 31)
        sum[warp] = v;
    __syncthreads();
    if (warp == 0) {
        T s = lane < THREADS / 32 ? sum[lane] : T(0);
        s = warp_scan(s);
        if (lane < THREADS / 32)
            sum[lane] = s;
    }
    __syncthreads();
    return warp == 0 ? v : v + sum[warp - 1];
}

template <typename T> __global__ void scan_blocks(T *data, T *sums, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    T v = block_scan(i < n ? data[i] : T(0));
    if (i < n)
        data[i] = v;
    if (sums && threadIdx.x == THREADS - 1)
        sums[blockIdx.x] = v;
}

template <typename T> __global__ void add(T *data, const T *sums, const T *before, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n)
        data[i] += (blockIdx.x ? sums[blockIdx.x - 1] : T(0)) + *before;
}

template <typename T> static bool run(int gpus, int n, const char *name)
{
    std::vector<T> in(n), out(n), total(gpus), before(gpus);
    std::vector<T *> data(gpus), sums(gpus), offset(gpus);
    std::vector<int> count(gpus), blocks(gpus);

    for (int i = 0; i < n; i++)
        in[i] = (T)((i * 37) % 101);
    int each = (n + gpus - 1) / gpus;
    for (int d = 0; d < gpus; d++) {
        MUST(cudaSetDevice(d));
        count[d] = d * each + each <= n ? each : n - d * each;
        blocks[d] = (count[d] + THREADS - 1) / THREADS;
        MUST(cudaMalloc(&data[d], count[d] * sizeof(T)));
        MUST(cudaMalloc(&sums[d], blocks[d] * sizeof(T)));
        MUST(cudaMalloc(&offset[d], sizeof(T)));
        MUST(cudaMemcpy(data[d], &in[d * each], count[d] * sizeof(T), cudaMemcpyHostToDevice));
        scan_blocks<T><<<blocks[d], THREADS>>>(data[d], sums[d], count[d]);
        scan_blocks<<<1, THREADS>>>(sums[d], (T *)nullptr, blocks[d]);
        MUST(
            cudaMemcpyAsync(&total[d], sums[d] + blocks[d] - 1, sizeof(T), cudaMemcpyDeviceToHost));
    }
    T sum = 0;
    for (int d = 0; d < gpus; d++) {
        MUST(cudaSetDevice(d));
        MUST(cudaDeviceSynchronize());
        before[d] = sum;
        sum += total[d];
    }
    for (int d = 0; d < gpus; d++) {
        MUST(cudaSetDevice(d));
        MUST(cudaMemcpyAsync(offset[d], &before[d], sizeof(T), cudaMemcpyHostToDevice, 0));
        add<<<blocks[d], THREADS>>>(data[d], sums[d], offset[d], count[d]);
        MUST(cudaPeekAtLastError());
        MUST(cudaMemcpy(&out[d * each], data[d], count[d] * sizeof(T), cudaMemcpyDefault));
    }
    T expected = 0;
    int wrong = 0;
    for (int i = 0; i < n; i++) {
        expected += in[i];
        wrong += out[i] != expected;
    }
    for (int d = 0; d < gpus; d++) {
        MUST(cudaSetDevice(d));
        MUST(cudaFree(data[d]));
        MUST(cudaFree(sums[d]));
        MUST(cudaFree(offset[d]));
    }
    printf("%-10s %8d elements on %d GPUs: %d wrong\n", name, n, gpus, wrong);
    return wrong == 0;
}

int main()
{
    int gpus = 0;
    MUST(cudaGetDeviceCount(&gpus));
    bool good = run<int>(gpus, 200003, "int");
    good = run<long long>(gpus, 65536, "long long") && good;
    good = run<double>(gpus, 99999, "double") && good;
    puts(good ? "PASS" : "FAIL");
    return !good;
}
