// SPDX-License-Identifier: MIT
// The classic series of seven reduction kernels, for int and double, each on every GPU.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                                                \
    if (cudaError_t err = (call); err != cudaSuccess) {                                            \
        std::printf("%s: %s\n", #call, cudaGetErrorString(err));                                   \
        std::exit(1);                                                                              \
    }

// Dynamic shared memory of any type, without two declarations of one name.
template <class T> struct SharedMemory {
    __device__ inline operator T *()
    {
        extern __shared__ int raw_[];
        return (T *)raw_;
    }
};
template <> struct SharedMemory<double> {
    __device__ inline operator double *()
    {
        extern __shared__ double raw_d_[];
        return (double *)raw_d_;
    }
};

// 0: interleaved, divergent branches
template <class T> __global__ void reduce0(T *in, T *out, unsigned n)
{
    T *sdata = SharedMemory<T>();
    unsigned tid = threadIdx.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    sdata[tid] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        if ((tid % (2 * s)) == 0)
            sdata[tid] += sdata[tid + s];
        __syncthreads();
    }
    if (tid == 0)
        out[blockIdx.x] = sdata[0];
}

// 1: contiguous threads, bank conflicts
template <class T> __global__ void reduce1(T *in, T *out, unsigned n)
{
    T *sdata = SharedMemory<T>();
    unsigned tid = threadIdx.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    sdata[tid] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        unsigned index = 2 * s * tid;
        if (index < blockDim.x)
            sdata[index] += sdata[index + s];
        __syncthreads();
    }
    if (tid == 0)
        out[blockIdx.x] = sdata[0];
}

// 2: sequential addressing
template <class T> __global__ void reduce2(T *in, T *out, unsigned n)
{
    T *sdata = SharedMemory<T>();
    unsigned tid = threadIdx.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    sdata[tid] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s)
            sdata[tid] += sdata[tid + s];
        __syncthreads();
    }
    if (tid == 0)
        out[blockIdx.x] = sdata[0];
}

// 3: the first addition while loading
template <class T> __global__ void reduce3(T *in, T *out, unsigned n)
{
    T *sdata = SharedMemory<T>();
    unsigned tid = threadIdx.x, i = blockIdx.x * (blockDim.x * 2) + threadIdx.x;
    T mine = i < n ? in[i] : 0;
    if (i + blockDim.x < n)
        mine += in[i + blockDim.x];
    sdata[tid] = mine;
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s)
            sdata[tid] = mine = mine + sdata[tid + s];
        __syncthreads();
    }
    if (tid == 0)
        out[blockIdx.x] = mine;
}

// 4: the last warp by shuffles
template <class T, unsigned int blockSize> __global__ void reduce4(T *in, T *out, unsigned n)
{
    T *sdata = SharedMemory<T>();
    unsigned tid = threadIdx.x, i = blockIdx.x * (blockDim.x * 2) + threadIdx.x;
    T mine = i < n ? in[i] : 0;
    if (i + blockSize < n)
        mine += in[i + blockSize];
    sdata[tid] = mine;
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 32; s >>= 1) {
        if (tid < s)
            sdata[tid] = mine = mine + sdata[tid + s];
        __syncthreads();
    }
    if (tid < 32) {
        if (blockSize >= 64)
            mine += sdata[tid + 32];
        for (int offset = warpSize / 2; offset > 0; offset /= 2)
            mine += __shfl_down_sync(0xffffffff, mine, offset);
    }
    if (tid == 0)
        out[blockIdx.x] = mine;
}

// The last warp, unrolled over volatile shared memory.
template <class T, unsigned int blockSize>
__device__ void warpReduce(volatile T *sdata, unsigned int tid)
{
    T mine = sdata[tid];
    if (blockSize >= 64) {
        sdata[tid] = mine = mine + sdata[tid + 32];
    }
    __syncwarp();
    if (blockSize >= 32 && tid < 16) {
        sdata[tid] = mine = mine + sdata[tid + 16];
    }
    __syncwarp();
    if (blockSize >= 16 && tid < 8) {
        sdata[tid] = mine = mine + sdata[tid + 8];
    }
    __syncwarp();
    if (blockSize >= 8 && tid < 4) {
        sdata[tid] = mine = mine + sdata[tid + 4];
    }
    __syncwarp();
    if (blockSize >= 4 && tid < 2) {
        sdata[tid] = mine = mine + sdata[tid + 2];
    }
    __syncwarp();
    if (blockSize >= 2 && tid < 1) {
        sdata[tid] = mine = mine + sdata[tid + 1];
    }
    __syncwarp();
}

// 5: completely unrolled
template <class T, unsigned int blockSize> __global__ void reduce5(T *in, T *out, unsigned n)
{
    T *sdata = SharedMemory<T>();
    unsigned tid = threadIdx.x, i = blockIdx.x * (blockSize * 2) + threadIdx.x;
    sdata[tid] = (i < n ? in[i] : 0) + (i + blockSize < n ? in[i + blockSize] : 0);
    __syncthreads();
    if (blockSize >= 512) {
        if (tid < 256) {
            sdata[tid] += sdata[tid + 256];
        }
        __syncthreads();
    }
    if (blockSize >= 256) {
        if (tid < 128) {
            sdata[tid] += sdata[tid + 128];
        }
        __syncthreads();
    }
    if (blockSize >= 128) {
        if (tid < 64) {
            sdata[tid] += sdata[tid + 64];
        }
        __syncthreads();
    }
    if (tid < 32)
        warpReduce<T, blockSize>(sdata, tid);
    if (tid == 0)
        out[blockIdx.x] = sdata[0];
}

// 6: several elements a thread
template <class T, unsigned int blockSize, bool nIsPow2>
__global__ void reduce6(T *in, T *out, unsigned n)
{
    T *sdata = SharedMemory<T>();
    unsigned tid = threadIdx.x, i = blockIdx.x * blockSize * 2 + threadIdx.x;
    const unsigned stride = blockSize * 2 * gridDim.x;
    T mine = 0;
    while (i < n) {
        mine += in[i];
        if (nIsPow2 || i + blockSize < n)
            mine += in[i + blockSize];
        i += stride;
    }
    sdata[tid] = mine;
    __syncthreads();
#pragma unroll
    for (unsigned s = blockSize / 2; s >= 64; s >>= 1) {
        if (tid < s)
            sdata[tid] += sdata[tid + s];
        __syncthreads();
    }
    if (tid < 32)
        warpReduce<T, blockSize>(sdata, tid);
    if (tid == 0)
        out[blockIdx.x] = sdata[0];
}

template <class T, unsigned B> static void launch(int which, int grid, T *in, T *out, unsigned n)
{
    const dim3 dimBlock(B, 1, 1), dimGrid(grid, 1, 1);
    const int smem = (B <= 32 ? 2 * B : B) * sizeof(T);
    switch (which) {
    case 0:
        reduce0<T><<<dimGrid, dimBlock, smem>>>(in, out, n);
        break;
    case 1:
        reduce1<T><<<dimGrid, dimBlock, smem>>>(in, out, n);
        break;
    case 2:
        reduce2<T><<<dimGrid, dimBlock, smem>>>(in, out, n);
        break;
    case 3:
        reduce3<T><<<dimGrid, dimBlock, smem>>>(in, out, n);
        break;
    case 4:
        reduce4<T, B><<<dimGrid, dimBlock, smem>>>(in, out, n);
        break;
    case 5:
        reduce5<T, B><<<dimGrid, dimBlock, smem>>>(in, out, n);
        break;
    default:
        if ((n & (n - 1)) == 0)
            reduce6<T, B, true><<<dimGrid, dimBlock, smem>>>(in, out, n);
        else
            reduce6<T, B, false><<<dimGrid, dimBlock, smem>>>(in, out, n);
    }
    CHECK(cudaGetLastError());
}

template <class T, unsigned B> static int one(int which, unsigned n, const std::vector<T> &values)
{
    const unsigned each = which < 3 ? B : 2 * B, grid = which == 6 ? 3 : (n + each - 1) / each;
    T *in, *out, got = 0, want = 0;
    std::vector<T> parts(grid);
    CHECK(cudaMalloc(&in, n * sizeof(T)));
    CHECK(cudaMalloc(&out, grid * sizeof(T)));
    CHECK(cudaMemcpy(in, values.data(), n * sizeof(T), cudaMemcpyHostToDevice));
    launch<T, B>(which, grid, in, out, n);
    CHECK(cudaMemcpy(parts.data(), out, grid * sizeof(T), cudaMemcpyDeviceToHost));
    for (T p : parts)
        got += p;
    for (unsigned i = 0; i < n; i++)
        want += values[i];
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    if (got != want)
        std::printf("reduce%d, %u elements, blocks of %u: wrong\n", which, n, B);
    return got != want;
}

template <class T> static int all_kernels(unsigned n)
{
    int wrong = 0;
    std::vector<T> values(n);
    for (unsigned i = 0; i < n; i++)
        values[i] = T((i * 7919u) % 101) - 20;
    for (int which = 0; which < 7; which++) {
        wrong += one<T, 512>(which, n, values);
        wrong += one<T, 128>(which, n, values);
        wrong += one<T, 32>(which, n, values);
    }
    return wrong;
}

int main()
{
    int gpus = 0, wrong = 0;
    CHECK(cudaGetDeviceCount(&gpus));
    for (int d = 0; d < gpus; d++) {
        CHECK(cudaSetDevice(d));
        wrong += all_kernels<int>(4096) + all_kernels<int>(5001 + d) + all_kernels<double>(3000);
    }
    std::printf("%s\n", wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
