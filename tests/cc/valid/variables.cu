// SPDX-License-Identifier: MIT
// __device__ and __constant__ variables: in namespaces, static, arrays, with and without values.
// prints: 5 7 9 11 30 100 1 42
#include <stdio.h>
#include <cuda_runtime.h>

struct pair {
    int a, b;
};

__device__ int plain = 5;
static __device__ int several, *pointer, in_one[4] = {6, 7};
namespace spaced {
__constant__ int constants[3] = {8, 9, 10};
namespace {
__device__ struct pair both = {10, 11};
}
}
__device__ const int fixed = 30;
__device__ const char *text = "d";
extern "C" {
__device__ float from_host[2];
}
__device__ volatile int flag;

__global__ void read(int *out)
{
    several = 1;
    out[0] = plain;
    out[1] = in_one[1];
    out[2] = spaced::constants[1];
    out[3] = spaced::both.b;
    out[4] = fixed;
    out[5] = text[0];
    out[6] = several + (pointer != nullptr);
    out[7] = (int)from_host[1];
    plain += 1;
    flag = 1;
}

int main()
{
    int *out, host[8], later = 0;
    float floats[2] = {41, 42};
    void *address;
    size_t bytes;

    cudaMalloc(&out, sizeof host);
    cudaMemcpyToSymbol(from_host, floats, sizeof floats);
    read<<<1, 1>>>(out);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 8; i++)
        printf(i < 7 ? "%d " : "%d\n", host[i]);
    cudaMemcpyFromSymbol(&later, plain, sizeof later);
    cudaGetSymbolAddress(&address, spaced::constants);
    cudaGetSymbolSize(&bytes, spaced::constants);
    return later == 6 && bytes == 12 && address != nullptr ? 0 : 1;
}
