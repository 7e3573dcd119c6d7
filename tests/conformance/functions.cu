// SPDX-License-Identifier: MIT
// functions.cu: what the runtime says of kernels and variables, and launches of other kinds.
#include "ask.h"

extern "C" __global__ void conformance_plain(int *p, int v)
{
    p[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

extern "C" __global__ void __launch_bounds__(128) conformance_bounded(char a, double b, short c)
{
    if (a > 100 && b > c)
        printf("never");
}

extern "C" __global__ void conformance_shared(int *p)
{
    extern __shared__ int room[];
    room[threadIdx.x] = (int)threadIdx.x;
    __syncthreads();
    p[threadIdx.x] = room[blockDim.x - 1 - threadIdx.x];
}

static void not_a_kernel(void) {}
#define PLAIN ((const void *)conformance_plain)
#define WRONG ((const void *)not_a_kernel)

CASE(function_name)
{
    const char *name = "";
    R(cudaFuncGetName(&name, PLAIN));
    V("%s", name);
    R(cudaFuncGetName(&name, WRONG));
    R(cudaFuncGetName(NULL, PLAIN));
    R(cudaFuncGetName(&name, NULL));
}

CASE(function_parameters)
{
    size_t offset = 99, bytes = 99;
    for (size_t i = 0; i < 4; i++) {
        R(cudaFuncGetParamInfo((const void *)conformance_bounded, i, &offset, &bytes));
        V("%zu: offset %zu, %zu bytes", i, offset, bytes);
    }
    R(cudaFuncGetParamInfo(PLAIN, 1, &offset, NULL));
    R(cudaFuncGetParamInfo(WRONG, 0, &offset, &bytes));
    R(cudaFuncGetParamInfo(PLAIN, 0, NULL, &bytes));
    R(cudaFuncGetParamInfo(NULL, 0, &offset, &bytes));
}

CASE(function_cache)
{
    R(cudaFuncSetCacheConfig(PLAIN, cudaFuncCachePreferShared));
    R(cudaFuncSetCacheConfig(PLAIN, (cudaFuncCache)4));
    R(cudaFuncSetCacheConfig(PLAIN, (cudaFuncCache)-1));
    R(cudaFuncSetCacheConfig(WRONG, cudaFuncCachePreferL1));
    R(cudaFuncSetCacheConfig((const void *)NULL, cudaFuncCachePreferL1));
}

CASE(function_handles)
{
    cudaFunction_t f = NULL, g = NULL;
    cudaKernel_t k = NULL;
    R(cudaGetFuncBySymbol(&f, PLAIN));
    R(cudaGetFuncBySymbol(&g, PLAIN));
    V("there %d, the same again %d", f != NULL, f == g);
    R(cudaGetFuncBySymbol(&f, WRONG));
    R(cudaGetKernel(&k, PLAIN));
    V("there %d", k != NULL);
    R(cudaGetKernel(&k, WRONG));
    R(cudaGetFuncBySymbol(NULL, PLAIN));
    R(cudaGetFuncBySymbol(&f, (const void *)NULL));
    R(cudaGetKernel(NULL, PLAIN));
    R(cudaGetKernel(&k, (const void *)NULL));
}

CASE(function_attributes)
{
    cudaFuncAttributes a;
    R(cudaFuncGetAttributes(&a, (const void *)conformance_bounded));
    V("threads %d, shared %zu, constant %zu, dynamic %d, carve-out %d", a.maxThreadsPerBlock,
      a.sharedSizeBytes, a.constSizeBytes, a.maxDynamicSharedSizeBytes, a.preferredShmemCarveout);
    R(cudaFuncSetAttribute(PLAIN, cudaFuncAttributePreferredSharedMemoryCarveout, 101));
    R(cudaFuncSetAttribute(PLAIN, cudaFuncAttributePreferredSharedMemoryCarveout, 50));
    R(cudaFuncGetAttributes(&a, PLAIN));
    V("threads %d, carve-out %d", a.maxThreadsPerBlock, a.preferredShmemCarveout);
    R(cudaFuncSetAttribute(PLAIN, cudaFuncAttributeMaxDynamicSharedMemorySize, -1));
    R(cudaFuncSetAttribute(PLAIN, (cudaFuncAttribute)3, 1));
    R(cudaFuncSetAttribute(PLAIN, (cudaFuncAttribute)77, 1));
    R(cudaFuncSetAttribute(WRONG, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024));
    R(cudaFuncGetAttributes(&a, WRONG));
    R(cudaFuncGetAttributes(NULL, PLAIN));
    R(cudaFuncGetAttributes(&a, (const void *)NULL));
}

CASE(occupancy)
{
    int n = -1;
    size_t bytes = 99;
    R(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, PLAIN, 256, 0));
    V("%d blocks", n);
    R(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, PLAIN, 1024, 0));
    V("%d blocks", n);
    R(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&n, PLAIN, 32, 40 * 1024, 0));
    V("%d blocks", n);
    R(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&n, PLAIN, 256, 0, 1));
    R(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&n, PLAIN, 256, 0, 2));
    R(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, PLAIN, 0, 0));
    V("%d blocks", n);
    R(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, PLAIN, -1, 0));
    R(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, PLAIN, 2048, 0));
    V("%d blocks", n);
    R(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, PLAIN, 32, 1 << 20));
    V("%d blocks", n);
    R(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, WRONG, 256, 0));
    R(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, PLAIN, 2, 256));
    V("%zu bytes", bytes);
    R(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, PLAIN, 1, 256));
    V("%zu bytes", bytes);
    R(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, PLAIN, 0, 256));
    R(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, PLAIN, 99, 256));
    R(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, PLAIN, 1, 2048));
    R(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, WRONG, 1, 256));
    R(cudaOccupancyAvailableDynamicSMemPerBlock(NULL, PLAIN, 1, 256));
    R(cudaOccupancyMaxActiveBlocksPerMultiprocessor(NULL, PLAIN, 256, 0));
}

static int *fresh(void)
{
    int *p;
    OK(cudaMalloc(&p, 4096));
    OK(cudaMemset(p, 0, 4096));
    return p;
}

CASE(launch_ex)
{
    int *p = fresh(), value = 7;
    void *args[] = {&p, &value};
    cudaLaunchConfig_t c = {};
    c.gridDim = dim3(2);
    c.blockDim = dim3(32);
    R(cudaLaunchKernelExC(&c, PLAIN, args));
    R(cudaDeviceSynchronize());
    V("p[0] %d, p[63] %d, p[64] %d", ask_peek(p), ask_peek(p + 63), ask_peek(p + 64));
    cudaLaunchAttribute a = {};
    a.id = cudaLaunchAttributeCooperative;
    a.val.cooperative = 1;
    c.attrs = &a;
    c.numAttrs = 1;
    R(cudaLaunchKernelExC(&c, PLAIN, args));
    c.gridDim = dim3(1 << 20);
    R(cudaLaunchKernelExC(&c, PLAIN, args));
    c.gridDim = dim3(0);
    R(cudaLaunchKernelExC(&c, PLAIN, args));
    c.gridDim = dim3(1);
    a.id = (cudaLaunchAttributeID)77;
    R(cudaLaunchKernelExC(&c, PLAIN, args));
    a.id = cudaLaunchAttributeIgnore;
    R(cudaLaunchKernelExC(&c, PLAIN, args));
    c.attrs = NULL;
    R(cudaLaunchKernelExC(&c, WRONG, args));
    c.numAttrs = 0;
    R(cudaLaunchKernelExC(&c, WRONG, args));
    R(cudaLaunchKernelExC(&c, (const void *)NULL, args));
    R(cudaDeviceSynchronize());
    R(cudaLaunchKernelExC(NULL, PLAIN, args));
}

CASE(launch_cooperative)
{
    int *p = fresh(), value = 7;
    void *args[] = {&p, &value};
    R(cudaLaunchCooperativeKernel(PLAIN, dim3(2), dim3(32), args, 0, 0));
    R(cudaDeviceSynchronize());
    V("p[63] %d", ask_peek(p + 63));
    R(cudaLaunchCooperativeKernel(PLAIN, dim3(1 << 20), dim3(32), args, 0, 0));
    R(cudaLaunchCooperativeKernel(PLAIN, dim3(0), dim3(32), args, 0, 0));
    R(cudaLaunchCooperativeKernel(PLAIN, dim3(1), dim3(2048), args, 0, 0));
    R(cudaLaunchCooperativeKernel(WRONG, dim3(1), dim3(32), args, 0, 0));
    R(cudaLaunchKernel(PLAIN, dim3(1), dim3(1025), args, 0, 0));
    R(cudaLaunchKernel(WRONG, dim3(1), dim3(32), args, 0, 0));
    R(cudaLaunchKernel((const void *)NULL, dim3(1), dim3(32), args, 0, 0));
    R(cudaDeviceSynchronize());
}

static __device__ int numbers[5] = {1, 2, 3, 4, 5};
static __constant__ double fixed[3] = {1, 2, 3};

CASE(symbols)
{
    void *p = NULL, *q = NULL;
    size_t bytes = 0;
    int h = 0;
    R(cudaGetSymbolAddress(&p, numbers));
    V("first %d", ask_peek(p));
    R(cudaGetSymbolSize(&bytes, numbers));
    V("%zu bytes", bytes);
    R(cudaGetSymbolSize(&bytes, fixed));
    V("%zu bytes", bytes);
    R(cudaSetDevice(1));
    R(cudaGetSymbolAddress(&q, numbers));
    V("another place on another GPU %d, first %d", p != q, ask_peek(q));
    cudaPointerAttributes a;
    R(cudaPointerGetAttributes(&a, q));
    V("type %d, device %d", (int)a.type, a.device);
    R(cudaFree(q));
    R(cudaGetSymbolAddress(&p, (const void *)&h));
    R(cudaGetSymbolSize(&bytes, (const void *)&h));
    R(cudaGetSymbolAddress(&p, (const void *)NULL));
    R(cudaGetSymbolSize(&bytes, (const void *)NULL));
    R(cudaGetSymbolSize(NULL, numbers));
    R(cudaGetSymbolAddress(NULL, numbers));
}

CASE(symbol_copies)
{
    int h[8] = {9, 8, 7, 6, 5, 4, 3, 2}, back[8] = {};
    cudaStream_t s = ask_stream();
    R(cudaMemcpyToSymbolAsync(numbers, h, 8, 8, cudaMemcpyHostToDevice, s));
    R(cudaMemcpyFromSymbolAsync(back, numbers, 20, 0, cudaMemcpyDeviceToHost, s));
    R(cudaStreamSynchronize(s));
    V("%d %d %d %d %d", back[0], back[1], back[2], back[3], back[4]);
    R(cudaMemcpyToSymbolAsync(numbers, h, 24, 0, cudaMemcpyHostToDevice, s));
    R(cudaMemcpyToSymbolAsync(numbers, h, 4, 20, cudaMemcpyHostToDevice, s));
    R(cudaMemcpyToSymbolAsync(numbers, h, 0, 0, cudaMemcpyHostToDevice, s));
    R(cudaMemcpyToSymbolAsync(numbers, h, 4, 0, cudaMemcpyDeviceToHost, s));
    R(cudaMemcpyToSymbolAsync(numbers, h, 4, 0, (cudaMemcpyKind)9, s));
    R(cudaMemcpyToSymbolAsync(numbers, h, 4, 0, cudaMemcpyDefault, s));
    R(cudaMemcpyFromSymbolAsync(back, numbers, 24, 0, cudaMemcpyDeviceToHost, s));
    R(cudaMemcpyFromSymbolAsync(back, numbers, 4, 0, cudaMemcpyHostToDevice, s));
    R(cudaMemcpyFromSymbolAsync(back, fixed, 8, 8, cudaMemcpyDeviceToHost, s));
    R(cudaMemcpyFromSymbolAsync(back, (const void *)h, 4, 0, cudaMemcpyDeviceToHost, s));
    R(cudaMemcpyToSymbolAsync((const void *)h, back, 4, 0, cudaMemcpyHostToDevice, s));
    R(cudaStreamSynchronize(s));
    R(cudaMemcpyToSymbolAsync(numbers, NULL, 4, 0, cudaMemcpyHostToDevice, s));
    R(cudaMemcpyFromSymbolAsync(NULL, numbers, 4, 0, cudaMemcpyDeviceToHost, s));
    R(cudaDeviceSynchronize());
}
