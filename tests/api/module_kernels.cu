// SPDX-License-Identifier: MIT
// What tests/api/modules.c loads while it runs.
__constant__ int factor = 3;
static __device__ int calls;
__managed__ int shared_with_host = 5;

extern "C" __global__ void scale(int *data, int count)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count)
        data[i] = data[i] * factor + shared_with_host;
    if (i == 0)
        atomicAdd(&calls, 1);
}

template <class T> __global__ void fill(T *data, T value)
{
    data[threadIdx.x] = value;
}
template __global__ void fill<int>(int *, int);
