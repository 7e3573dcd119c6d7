// SPDX-License-Identifier: MIT
// Every form of a __shared__ declaration.
// prints: 36 36 36 36 36 36 36 36 36 36
#include <stdio.h>
#include <cuda_runtime.h>

#define N 8
#define SHARED __shared__
#define TILE(type, name) __shared__ type name[N][N + 1]

struct point {
    float x, y;
};
enum { SIZE = N };

extern __shared__ int outside[];
__shared__ int fixed_outside[N];

namespace other {
extern __shared__ __align__(16) float floats[];
__device__ float sum(int n)
{
    float all = 0;
    for (int i = 0; i < n; i++)
        all += floats[i];
    return all;
}
}

template <class T> __device__ T total(const T *from, int n)
{
    T all = 0;
    for (int i = 0; i < n; i++)
        all += from[i];
    return all;
}

/* The same declaration, one storage for each type. */
template <class T> __device__ int through_storage(int value)
{
    __shared__ T storage[N];
    storage[threadIdx.x] = (T)value;
    __syncthreads();
    int all = (int)total(storage, N);
    __syncthreads();
    return all;
}

__global__ void forms(int *out)
{
    __shared__ int array[N], single, *pointer;
    static __shared__ float matrix[2][N];
    SHARED struct point points[N];
    TILE(int, tile);
    __shared__ volatile unsigned char bytes[SIZE];
    volatile __shared__ int flag;
    __shared__ alignas(16) int aligned[N];
    __shared__ __align__(8) int also_aligned[N];
    int __shared__ odd_order[N];
    __shared__ int (*row)[N];
    __shared__ struct { int a, b; } unnamed[N];
    int t = threadIdx.x, v = t + 1;

    array[t] = v;
    matrix[1][t] = v;
    points[t].y = v;
    tile[t][t] = v;
    bytes[t] = v;
    aligned[t] = also_aligned[t] = odd_order[t] = v;
    unnamed[t].b = v;
    fixed_outside[t] = v;
    if (t == 0) {
        single = 0;
        pointer = array;
        row = &array;
        flag = 1;
    }
    __syncthreads();
    atomicAdd(&single, v);
    __syncthreads();
    if (t != 0)
        return;
    out[0] = total(pointer, N);
    out[1] = single;
    out[2] = (int)total(matrix[1], N);
    int by_point = 0, diagonal = 0, by_byte = 0, by_b = 0;
    for (int i = 0; i < N; i++) {
        by_point += (int)points[i].y;
        diagonal += tile[i][i];
        by_byte += bytes[i];
        by_b += unnamed[i].b;
    }
    out[3] = by_point;
    out[4] = diagonal;
    out[5] = by_byte * flag;
    out[6] = total(aligned, N) / 3 + total(also_aligned, N) / 3 + total(*row, N) / 3;
    out[7] = by_b;
    if ((size_t)aligned % 16 != 0 || sizeof(array) != N * sizeof(int) || sizeof(tile[0]) != 36 ||
        total(fixed_outside, N) != 36)
        out[7] = -1;
}

__global__ void dynamic(int *out)
{
    extern __shared__ float block_scope[];
    outside[threadIdx.x] = threadIdx.x;
    __syncthreads();
    block_scope[threadIdx.x] = outside[threadIdx.x] + 1;
    __syncthreads();
    if (threadIdx.x == 0)
        out[8] = (int)other::sum(N);
    int both = through_storage<int>(threadIdx.x + 1) + through_storage<float>(threadIdx.x + 1) +
               through_storage<unsigned>(threadIdx.x + 1) + through_storage<double>(threadIdx.x + 1);
    if (threadIdx.x == 0)
        out[9] = both / 4;
}

int main()
{
    int *out, host[10];

    cudaMalloc(&out, sizeof host);
    forms<<<1, N>>>(out);
    dynamic<<<1, N, N * sizeof(float)>>>(out);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 10; i++)
        printf(i < 9 ? "%d " : "%d\n", host[i]);
    return 0;
}
