/* SPDX-License-Identifier: MIT
 * replay_kernels.cu: recorded cases that launch kernels: faults and what they leave behind, launch
 * configurations, streams of other devices, what is ready when. The calls and their order are the
 * recording's.
 *
 *     api-replay-kernels CASE tests/recorded/hgx-h200-4
 */
#include "replay.h"

#include <unistd.h>

__global__ void nop() {}
__global__ void load1(const int *p, int *out)
{
    *out = *p;
}
__global__ void store1(int *p, int v)
{
    *p = v;
}
__global__ void spin(long long cycles)
{
    long long t = clock64();
    while (clock64() - t < cycles) {
    }
}
__global__ void trapk()
{
    __trap();
}
__global__ void bigsmem()
{
    extern __shared__ int s[];
    s[threadIdx.x] = 1;
}
__device__ int gvar;

static int peek(const void *d)
{
    int v = -12345;
    cudaMemcpy(&v, d, 4, cudaMemcpyDefault);
    return v;
}

/* Null, but not to the compiler. */
static int *nul()
{
    volatile long z = 0;
    return (int *)z;
}

/* ---- peers ---- */

static void c_load_noenable()
{
    int *a, *b, *c;
    cudaSetDevice(1);
    cudaMalloc(&a, 4096);
    cudaMemset(a, 1, 4096);
    cudaSetDevice(0);
    cudaMalloc(&b, 4096);
    load1<<<1, 1>>>(a, b);
    R(cudaPeekAtLastError());
    R(cudaDeviceSynchronize());
    R(cudaGetLastError());
    R(cudaGetLastError());
    R(cudaMalloc(&b, 4096));
    R(cudaFree(b));
    cudaSetDevice(1);
    R(cudaMalloc(&c, 4096));
    R(cudaDeviceSynchronize());
    cudaSetDevice(0);
    R(cudaDeviceReset());
    R(cudaMalloc(&c, 4096));
}

static void c_load_enabled()
{
    int *a, *b;
    cudaSetDevice(1);
    cudaMalloc(&a, 4096);
    cudaMemset(a, 1, 4096);
    cudaDeviceSynchronize();
    cudaSetDevice(0);
    R(cudaDeviceEnablePeerAccess(1, 0));
    cudaMalloc(&b, 4096);
    load1<<<1, 1>>>(a, b);
    R(cudaDeviceSynchronize());
    V("b=%d", peek(b));
    cudaSetDevice(1);
    load1<<<1, 1>>>(b, a);
    R(cudaDeviceSynchronize());
}

static void c_disable_then_load()
{
    int *a, *b;
    cudaSetDevice(1);
    cudaMalloc(&a, 4096);
    cudaSetDevice(0);
    cudaMalloc(&b, 4096);
    R(cudaDeviceEnablePeerAccess(1, 0));
    load1<<<1, 1>>>(a, b);
    R(cudaDeviceSynchronize());
    R(cudaDeviceDisablePeerAccess(1));
    load1<<<1, 1>>>(a, b);
    R(cudaDeviceSynchronize());
}

static void c_enable_before_alloc()
{
    int *a, *b;
    cudaSetDevice(0);
    R(cudaDeviceEnablePeerAccess(1, 0));
    cudaMalloc(&b, 4096);
    cudaSetDevice(1);
    cudaMalloc(&a, 4096);
    cudaSetDevice(0);
    load1<<<1, 1>>>(a, b);
    R(cudaDeviceSynchronize());
}

/* ---- faults ---- */

static void c_hostptr_in_kernel()
{
    int h = 5, *b;
    cudaMalloc(&b, 4096);
    load1<<<1, 1>>>(&h, b);
    R(cudaDeviceSynchronize());
    V("b=%d", peek(b));
    SKIP(2, "in replay_devices");
}

static void c_null_store_rt()
{
    store1<<<1, 1>>>(nul(), 1);
    R(cudaGetLastError());
    R(cudaDeviceSynchronize());
    R(cudaPeekAtLastError());
}

static void c_null_load_rt()
{
    int *b;
    cudaMalloc(&b, 4);
    load1<<<1, 1>>>(nul(), b);
    R(cudaDeviceSynchronize());
}

static void c_trap()
{
    trapk<<<1, 1>>>();
    R(cudaDeviceSynchronize());
}

static void c_misaligned()
{
    char *a;
    cudaMalloc(&a, 64);
    store1<<<1, 1>>>((int *)(a + 1), 3);
    R(cudaDeviceSynchronize());
}

static void c_use_after_free()
{
    int *a;
    cudaMalloc(&a, 64 << 20);
    cudaFree(a);
    store1<<<1, 1>>>(a, 3);
    R(cudaDeviceSynchronize());
}

static void c_sticky_two_contexts()
{
    int *a, *b, n;
    cudaEvent_t e;
    void *h;
    cudaSetDevice(1);
    cudaMalloc(&b, 4);
    cudaSetDevice(0);
    cudaMalloc(&a, 4);
    store1<<<1, 1>>>(nul(), 1);
    R(cudaDeviceSynchronize());
    R(cudaGetDeviceCount(&n));
    R(cudaSetDevice(1));
    R(cudaMemset(b, 0, 4));
    nop<<<1, 1>>>();
    R(cudaGetLastError());
    R(cudaDeviceSynchronize());
    R(cudaSetDevice(2));
    R(cudaFree(0));
    R(cudaSetDevice(0));
    R(cudaDeviceReset());
    R(cudaFree(0));
    R(cudaEventCreate(&e));
    R(cudaMallocHost(&h, 64));
}

/* ---- launches ---- */

static void c_launch_bad()
{
    nop<<<0, 1>>>();
    R(cudaGetLastError());
    nop<<<1, 0>>>();
    R(cudaGetLastError());
    nop<<<1, 2048>>>();
    R(cudaGetLastError());
    nop<<<dim3(1, 70000), 1>>>();
    R(cudaGetLastError());
    bigsmem<<<1, 32, 64 * 1024>>>();
    R(cudaGetLastError());
    bigsmem<<<1, 32, 1024 * 1024>>>();
    R(cudaGetLastError());
    R(cudaFuncSetAttribute(bigsmem, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 * 1024));
    bigsmem<<<1, 32, 200 * 1024>>>();
    R(cudaGetLastError());
    R(cudaFuncSetAttribute(bigsmem, cudaFuncAttributeMaxDynamicSharedMemorySize, 300 * 1024));
    R(cudaDeviceSynchronize());
    nop<<<1, dim3(1, 1, 65)>>>();
    R(cudaGetLastError());
    R(cudaDeviceSynchronize());
}

static void c_launch_codes()
{
    void *args[1] = {0};
    nop<<<1, dim3(1, 1, 65)>>>();
    R(cudaGetLastError());
    nop<<<0, 1>>>();
    R(cudaGetLastError());
    nop<<<1, 1025>>>();
    R(cudaGetLastError());
    nop<<<dim3(1, 65536), 1>>>();
    R(cudaGetLastError());
    nop<<<1, 1, 49153>>>();
    R(cudaGetLastError());
    R(cudaFuncSetAttribute(nop, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
    nop<<<1, 1, 100000>>>();
    R(cudaGetLastError());
    R(cudaLaunchKernel((const void *)nop, dim3(0), dim3(1), args, 0, 0));
    R(cudaLaunchKernel((const void *)peek, dim3(1), dim3(1), args, 0, 0));
    R(cudaLaunchCooperativeKernel((const void *)nop, dim3(1 << 20), dim3(1024), args, 0, 0));
}

static void c_launch_other_stream()
{
    cudaStream_t s1;
    int *a0, *a1;
    cudaSetDevice(0);
    cudaMalloc(&a0, 4);
    cudaMemset(a0, 0, 4);
    cudaSetDevice(1);
    cudaStreamCreate(&s1);
    cudaMalloc(&a1, 4);
    cudaMemset(a1, 0, 4);
    cudaDeviceSynchronize();
    cudaSetDevice(0);
    store1<<<1, 1, 0, s1>>>(a1, 11);
    R(cudaGetLastError());
    R(cudaStreamSynchronize(s1));
    V("a1=%d (ran where a1 is reachable)", peek(a1));
    R(cudaMemsetAsync(a1, 0, 4, s1));
    R(cudaStreamSynchronize(s1));
    store1<<<1, 1, 0, s1>>>(a0, 12);
    R(cudaGetLastError());
    R(cudaStreamSynchronize(s1));
    V("a0=%d", peek(a0));
}

static void c_notsupported()
{
    int nb;
    cudaFuncAttributes fa;
    SKIP(16, "in replay_devices");
    R(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&nb, nop, 1024, 0));
    V("blocks/SM %d", nb);
    R(cudaFuncGetAttributes(&fa, nop));
    V("max threads %d binary %d", fa.maxThreadsPerBlock, fa.binaryVersion);
}

static void c_memcpy()
{
    int h[1024] = {0};
    SKIP(15, "in replay_memory");
    R(cudaMemcpyToSymbol(gvar, h, 4));
    R(cudaMemcpyToSymbol(gvar, h, 400));
    R(cudaMemcpyFromSymbol(h, gvar, 4));
    R(cudaDeviceSynchronize());
}

/* ---- what is ready when ---- */

static void c_events()
{
    cudaEvent_t a, b;
    float ms;
    SKIP(3, "in replay_memory");
    cudaEventCreate(&a);
    cudaEventCreate(&b);
    R(cudaEventElapsedTime(&ms, a, b));
    R(cudaEventQuery(a));
    R(cudaEventSynchronize(a));
    R(cudaEventRecord(a));
    spin<<<1, 1>>>(2000000000LL);
    R(cudaEventRecord(b));
    R(cudaEventQuery(b));
    R(cudaEventElapsedTime(&ms, a, b));
    R(cudaStreamQuery(0));
    R(cudaEventSynchronize(b));
    R(cudaEventElapsedTime(&ms, a, b));
    V("ms>0 %d", ms > 0);
    SKIP(11, "in replay_memory");
}

static void c_event_misc()
{
    cudaEvent_t e;
    cudaEventCreate(&e);
    cudaSetDevice(1);
    R(cudaEventRecord(e, 0));
    R(cudaStreamWaitEvent(0, e, 0));
    R(cudaEventQuery(e));
    cudaSetDevice(0);
    spin<<<1, 1>>>(400000000LL);
    R(cudaEventRecord(e, 0));
    cudaSetDevice(1);
    R(cudaEventQuery(e));
    R(cudaStreamWaitEvent(0, e, 0));
    R(cudaStreamQuery(0));
    R(cudaEventSynchronize(e));
    R(cudaDeviceSynchronize());
    SKIP(4, "in replay_memory");
}

static void c_legacy_default()
{
    cudaStream_t s, n;
    R(cudaStreamCreate(&s));
    R(cudaStreamCreateWithFlags(&n, cudaStreamNonBlocking));
    spin<<<1, 1, 0, s>>>(1000000000LL);
    nop<<<1, 1>>>();
    R(cudaStreamQuery(0));
    R(cudaDeviceSynchronize());
    spin<<<1, 1, 0, n>>>(1000000000LL);
    nop<<<1, 1>>>();
    SKIP(2, "20 ms of host time pass on hardware, none of the node's");
    R(cudaDeviceSynchronize());
    spin<<<1, 1, 0, 0>>>(1000000000LL);
    nop<<<1, 1, 0, s>>>();
    R(cudaStreamQuery(s));
    R(cudaDeviceSynchronize());
    SKIP(3, "in replay_memory");
}

static void c_copy_order()
{
    int *a, *b, h = 1;
    cudaStream_t s;
    cudaMalloc(&a, 4);
    cudaMalloc(&b, 4);
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    spin<<<1, 1, 0, s>>>(400000000LL);
    R(cudaMemcpy(a, &h, 4, cudaMemcpyHostToDevice));
    R(cudaStreamQuery(s));
    R(cudaMemcpy(b, a, 4, cudaMemcpyDeviceToDevice));
    R(cudaMemset(b, 0, 4));
    R(cudaStreamQuery(s));
    R(cudaFree(b));
    R(cudaStreamQuery(s));
    R(cudaMallocHost((void **)&b, 64));
    R(cudaStreamQuery(s));
    R(cudaDeviceSynchronize());
}

static void c_peercopy_sync()
{
    int *a, *b;
    cudaStream_t s1;
    cudaSetDevice(1);
    cudaMalloc(&b, 4);
    cudaStreamCreateWithFlags(&s1, cudaStreamNonBlocking);
    spin<<<1, 1, 0, s1>>>(600000000LL);
    cudaSetDevice(0);
    cudaMalloc(&a, 4);
    R(cudaMemcpyPeer(b, 1, a, 0, 4));
    R(cudaStreamQuery(s1));
    R(cudaStreamQuery(0));
    R(cudaDeviceSynchronize());
    R(cudaStreamQuery(s1));
    R(cudaStreamSynchronize(s1));
}

#define C(name)                                                                                    \
    {                                                                                              \
#name, c_##name                                                                            \
    }
static const replay_case cases[] = {C(load_noenable),
                                    C(load_enabled),
                                    C(disable_then_load),
                                    C(enable_before_alloc),
                                    C(hostptr_in_kernel),
                                    C(null_store_rt),
                                    C(null_load_rt),
                                    C(trap),
                                    C(misaligned),
                                    C(use_after_free),
                                    C(sticky_two_contexts),
                                    C(launch_bad),
                                    C(launch_codes),
                                    C(launch_other_stream),
                                    C(notsupported),
                                    C(memcpy),
                                    C(events),
                                    C(event_misc),
                                    C(legacy_default),
                                    C(copy_order),
                                    C(peercopy_sync)};

int main(int argc, char **argv)
{
    return replay_main(argc, argv, cases, (int)(sizeof cases / sizeof cases[0]));
}
