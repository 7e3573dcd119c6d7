// SPDX-License-Identifier: MIT
// kernels.cu: what a thread does with functions and variables of an image. With -DIMAGE it is an
// image alone, in a library that threads load and unload.
#include <cstdio>

#include <cuda.h>
#include <cuda_runtime.h>

#include "expect.h"
#include "everything.h"

constexpr int N = 512;

#ifdef IMAGE
__device__ int nothing[N];

__global__ void do_nothing(int n)
{
    nothing[threadIdx.x % N] = n;
}

extern "C" void use_image()
{
    do_nothing<<<1, 32>>>(1);
    OK(cudaDeviceSynchronize());
}
#else
#include <dlfcn.h>

__device__ int five = 5; // all threads store what it is
__managed__ int six = 6;

__global__ void add(int *to, int n)
{
    __shared__ int sum;
    if (threadIdx.x == 0)
        sum = five + n;
    __syncthreads();
    to[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void tell()
{
    printf("told\n");
}

static void launch_each_way(int *to, int number, cudaStream_t stream)
{
    void *words[] = {&to, &number};
    cudaLaunchConfig_t config = {};
    config.gridDim = N / 64;
    config.blockDim = 64;
    config.stream = stream;
    add<<<N / 64, 64, 0, stream>>>(to, number);
    OK(cudaGetLastError());
    OK(cudaLaunchKernel((const void *)add, N / 64, 64, words, 0, stream));
    OK(cudaLaunchKernelExC(&config, (const void *)add, words));
    OK(cudaLaunchCooperativeKernel((const void *)add, N / 64, 64, words, 0, stream));
    tell<<<1, 1, 0, stream>>>();
}

static void launch_by_driver(int *to, int number, cudaStream_t stream)
{
    void *words[] = {&to, &number};
    cudaFunction_t function;
    cudaKernel_t kernel;
    CUfunction same;
    const char *name;
    int value;
    OK(cudaGetFuncBySymbol(&function, (const void *)add));
    OK(cudaGetKernel(&kernel, (const void *)add));
    OK(cuKernelGetFunction(&same, kernel));
    OK(cuFuncGetName(&name, same));
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, same));
    OK(cuLaunchKernel(same, N / 64, 1, 1, 64, 1, 1, 0, stream, words, NULL));
}

static void ask_functions(int number)
{
    const void *functions[] = {(const void *)add, (const void *)tell};
    for (const void *function : functions) {
        cudaFuncAttributes attributes;
        const char *name;
        size_t bytes;
        int blocks;
        OK(cudaFuncGetAttributes(&attributes, function));
        OK(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                1024 * (1 + number)));
        OK(cudaFuncSetCacheConfig(function, cudaFuncCachePreferL1));
        OK(cudaFuncGetName(&name, function));
        OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 64, 0));
        OK(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, function, 1, 64));
    }
    cudaFuncGetName(NULL, NULL);
    cudaGetLastError();
}

static void use_variables(cudaStream_t stream)
{
    int value = 5;
    void *address;
    size_t bytes;
    OK(cudaMemcpyToSymbolAsync(five, &value, sizeof value, 0, cudaMemcpyHostToDevice, stream));
    OK(cudaMemcpyToSymbol(five, &value, sizeof value));
    OK(cudaGetSymbolAddress(&address, five));
    OK(cudaGetSymbolSize(&bytes, five));
    OK(cudaMemcpyFromSymbol(&value, five, sizeof value));
    EXPECT_IS(value, 5);
    OK(cudaGetSymbolAddress(&address, six));
    OK(cudaStreamSynchronize(stream));
}

extern "C" void use_kernels(int number)
{
    cudaStream_t stream;
    int *to, got[N] = {};
    OK(cudaMalloc(&to, sizeof got));
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    ask_functions(number);
    use_variables(stream);
    launch_each_way(to, number, stream);
    launch_by_driver(to, number, stream);
    OK(cudaMemcpyAsync(got, to, sizeof got, cudaMemcpyDeviceToHost, stream));
    OK(cudaStreamSynchronize(stream));
    EXPECT_IS(got[N - 1], 5 + number);
    OK(cudaStreamDestroy(stream));
    OK(cudaFree(to));
}

// The shared function is captured by all, and each changes the node of its own graph.
extern "C" void use_kernel_graph(int number)
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t node;
    size_t count = 1;
    int *to, got = 0, other = number + 1;
    OK(cudaMalloc(&to, N * sizeof *to));
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    add<<<N / 64, 64, 0, stream>>>(to, number);
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphInstantiate(&exec, graph));
    OK(cudaGraphGetNodes(graph, &node, &count));
    void *words[] = {&to, &other};
    cudaKernelNodeParams params = {(void *)add, N / 64, 64, 0, words, NULL};
    OK(cudaGraphExecKernelNodeSetParams(exec, node, &params));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaMemcpyAsync(&got, to, sizeof got, cudaMemcpyDeviceToHost, stream));
    OK(cudaStreamSynchronize(stream));
    EXPECT_IS(got, 5 + other);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaStreamDestroy(stream));
    OK(cudaFree(to));
}

// All load it at once, and the last that closes it takes it away.
extern "C" void load_image()
{
    void *library = dlopen(IMAGE_PATH, RTLD_NOW | RTLD_LOCAL);
    EXPECT(library);
    void (*use_image)() = (void (*)())dlsym(library, "use_image");
    EXPECT(use_image);
    use_image();
    EXPECT_IS(dlclose(library), 0);
}
#endif
