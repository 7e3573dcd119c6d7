// SPDX-License-Identifier: MIT
// nvcc takes std::move, std::forward and std::initializer_list in device code without an option.
// prints: utility: 18
#include <cuda_runtime.h>
#include <initializer_list>
#include <stdio.h>
#include <utility>

struct owner {
    int *p;
    __device__ owner(int *own) : p(own) {}
    __device__ owner(owner &&other) : p(other.p)
    {
        other.p = nullptr;
    }
};

__device__ owner make(int *p)
{
    owner one(p), two(std::move(one));
    return two;
}

template <class T> __device__ int pass(T &&value)
{
    return (int)sizeof(std::forward<T>(value));
}

__device__ int sum(std::initializer_list<int> list)
{
    int all = (int)list.size() - 3;
    for (int one : list)
        all += one;
    return all;
}

__global__ void use(int *out)
{
    owner one = make(out);
    *one.p = pass(one) + pass(3) + sum({1, 2, 3});
}

int main()
{
    int *d, h = 0;

    cudaMalloc((void **)&d, sizeof *d);
    use<<<1, 1>>>(d);
    cudaMemcpy(&h, d, sizeof h, cudaMemcpyDeviceToHost);
    printf("utility: %d\n", h);
    return 0;
}
