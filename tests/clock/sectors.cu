// SPDX-License-Identifier: MIT
// sectors.cu: one kernel of several kinds of access, for what it moves: sectors KIND. Each reads
// 2^20 floats on GPU 0, of its own memory or (peer_*) of GPU 1's, and writes 2^20 of its own.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

static const int N = 1 << 20, THREADS = 256;

// Thread i reads element i * stride + shift.
__global__ void strided(const float *from, float *to, int stride, int shift)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    to[i] = from[i * stride + shift];
}

// All threads of a block read one element.
__global__ void broadcast(const float *from, float *to)
{
    to[blockIdx.x * (size_t)blockDim.x + threadIdx.x] = from[blockIdx.x * 64];
}

// Each thread reads `count` elements that follow each other.
__global__ void chunks(const float *from, float *to, int count)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    for (int k = 0; k < count; k++)
        to[k * (size_t)gridDim.x * blockDim.x + i] = from[i * count + k];
}

// Thread i writes element i * stride.
__global__ void scatter(const float *from, float *to, int stride)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    to[i * stride] = from[i];
}

// The threads read an element twice, with a barrier in between.
__global__ void again(const float *from, float *to)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    float first = from[i];
    __syncthreads();
    to[i] = first + *(const volatile float *)&from[i];
}

// Every block reads all of the array.
__global__ void everybody(const volatile float *from, int count)
{
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        (void)from[i];
}

static void check(cudaError_t error)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s\n", cudaGetErrorString(error));
    exit(1);
}

static void launch(const char *kind, const float *from, float *to)
{
    int blocks = N / THREADS, value = 0;
    if (sscanf(kind, "stride_%d", &value) == 1)
        strided<<<blocks, THREADS>>>(from, to, value, 0);
    else if (sscanf(kind, "shift_%d", &value) == 1)
        strided<<<blocks, THREADS>>>(from, to, 1, value);
    else if (sscanf(kind, "chunks_%d", &value) == 1)
        chunks<<<blocks / value, THREADS>>>(from, to, value);
    else if (sscanf(kind, "scatter_%d", &value) == 1)
        scatter<<<blocks, THREADS>>>(from, to, value);
    else if (strcmp(kind, "broadcast") == 0)
        broadcast<<<blocks, THREADS>>>(from, to);
    else
        again<<<blocks, THREADS>>>(from, to);
    check(cudaGetLastError());
}

// everybody_COUNT_BLOCKS: of an array of its own.
static bool launch_everybody(const char *kind)
{
    int count, blocks;
    float *array;
    if (sscanf(kind, "everybody_%d_%d", &count, &blocks) != 2)
        return false;
    check(cudaMalloc(&array, count * sizeof(float)));
    everybody<<<blocks, THREADS>>>(array, count);
    check(cudaGetLastError());
    check(cudaDeviceSynchronize());
    return true;
}

int main(int, char **argv)
{
    const char *kind = argv[1];
    if (launch_everybody(kind))
        return 0;
    bool peer = strncmp(kind, "peer_", 5) == 0;
    float *from, *to;
    check(cudaSetDevice(peer));
    check(cudaMalloc(&from, 32 * N * sizeof(float)));
    check(cudaSetDevice(0));
    if (peer)
        check(cudaDeviceEnablePeerAccess(1, 0));
    check(cudaMalloc(&to, 32 * N * sizeof(float)));
    launch(peer ? kind + 5 : kind, from, to);
    check(cudaDeviceSynchronize());
    return 0;
}
