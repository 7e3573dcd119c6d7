// SPDX-License-Identifier: MIT
// driver_contexts.cu: contexts made, pushed, popped and destroyed; calls without one.
#include "ask.h"

CASE(context_stack)
{
    CUcontext a = NULL, b = NULL, c = NULL;
    CUdevice d = -1;
    OK(cuInit(0));
    D(cuCtxGetDevice(&d));
    D(cuCtxGetCurrent(&c));
    V("none %d", c == NULL);
    D(cuCtxPopCurrent(&c));
    D(cuCtxCreate(&a, NULL, 0, 0));
    D(cuCtxCreate(&b, NULL, 0, 1));
    D(cuCtxGetDevice(&d));
    V("device %d", d);
    D(cuCtxPopCurrent(&c));
    V("the second %d", c == b);
    D(cuCtxGetCurrent(&c));
    V("the first %d", c == a);
    D(cuCtxPushCurrent(b));
    D(cuCtxPushCurrent(b));
    D(cuCtxPopCurrent(NULL));
    D(cuCtxGetCurrent(&c));
    V("the second %d", c == b);
    D(cuCtxSetCurrent(a));
    D(cuCtxSetCurrent(NULL));
    D(cuCtxGetCurrent(&c));
    V("the first %d, none %d", c == a, c == NULL);
    D(cuCtxPushCurrent(NULL));
    D(cuCtxGetDevice(NULL));
    D(cuCtxGetCurrent(NULL));
    D(cuCtxDestroy(b));
    D(cuCtxDestroy(a));
    D(cuCtxGetCurrent(&c));
    V("none %d", c == NULL);
}

CASE(context_create_wrong)
{
    CUcontext c;
    OK(cuInit(0));
    D(cuCtxCreate(&c, NULL, 0, 99));
    D(cuCtxCreate(&c, NULL, 0, -1));
    D(cuCtxCreate(&c, NULL, 3, 0));
    D(cuCtxCreate(&c, NULL, 0x400, 0));
    D(cuCtxDestroy(NULL));
    D(cuCtxCreate(NULL, NULL, 0, 0));
}

CASE(context_of_runtime)
{
    CUcontext c = NULL, d = NULL;
    OK(cuInit(0));
    R(cudaSetDevice(1));
    D(cuCtxGetCurrent(&c));
    V("there %d", c != NULL);
    R(cudaFree(0));
    D(cuCtxGetCurrent(&c));
    D(cuDevicePrimaryCtxRetain(&d, 1));
    V("the primary one %d", c == d);
    int current = -1;
    D(cuDevicePrimaryCtxRetain(&d, 0));
    D(cuCtxSetCurrent(d));
    R(cudaGetDevice(&current));
    V("device %d", current);
    D(cuCtxSetCurrent(NULL));
    R(cudaGetDevice(&current));
    V("device %d", current);
}

CASE(context_flags)
{
    CUcontext c;
    unsigned flags = 99, version = 0;
    int least = 9, greatest = 9;
    OK(cuInit(0));
    D(cuCtxGetFlags(&flags));
    D(cuCtxGetStreamPriorityRange(&least, &greatest));
    D(cuCtxGetApiVersion(NULL, &version));
    OK(cuCtxCreate(&c, NULL, CU_CTX_SCHED_YIELD, 0));
    D(cuCtxGetFlags(&flags));
    V("flags %u", flags);
    D(cuCtxGetApiVersion(c, &version));
    V("version %u", version);
    D(cuCtxGetApiVersion(NULL, &version));
    V("version %u", version);
    D(cuCtxGetStreamPriorityRange(&least, &greatest));
    V("%d to %d", least, greatest);
    D(cuCtxGetStreamPriorityRange(NULL, &greatest));
    D(cuCtxGetStreamPriorityRange(NULL, NULL));
    D(cuCtxSynchronize());
    D(cuCtxGetFlags(NULL));
    D(cuCtxGetApiVersion(c, NULL));
}

CASE(context_peers)
{
    CUcontext a, b;
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&b, 1));
    OK(cuDevicePrimaryCtxRetain(&a, 0));
    D(cuCtxEnablePeerAccess(b, 0));
    OK(cuCtxSetCurrent(a));
    D(cuCtxDisablePeerAccess(b));
    D(cuCtxEnablePeerAccess(b, 1));
    D(cuCtxEnablePeerAccess(b, 0));
    D(cuCtxEnablePeerAccess(b, 0));
    D(cuCtxEnablePeerAccess(a, 0));
    D(cuCtxDisablePeerAccess(a));
    D(cuCtxDisablePeerAccess(b));
    D(cuCtxDisablePeerAccess(b));
    D(cuCtxEnablePeerAccess(NULL, 0));
    D(cuCtxDisablePeerAccess(NULL));
}

CASE(context_of_its_own)
{
    CUcontext c;
    CUdeviceptr p, q;
    OK(cuInit(0));
    OK(cuCtxCreate(&c, NULL, 0, 0));
    D(cuMemAlloc(&p, 64));
    D(cuMemsetD32(p, 7, 16));
    ask_context(0);
    V("seen from the primary one %d", ask_peek((void *)p));
    OK(cuMemAlloc(&q, 64));
    D(cuMemcpyDtoD(q, p, 64));
    V("%d", ask_peek((void *)q));
    D(cuMemFree(p));
    D(cuCtxDestroy(c));
}

CASE(context_destroyed)
{
    CUcontext c;
    unsigned version = 0;
    OK(cuInit(0));
    OK(cuCtxCreate(&c, NULL, 0, 0));
    D(cuCtxDestroy(c));
    D(cuCtxGetApiVersion(c, &version));
    D(cuCtxSetCurrent(c));
    D(cuCtxDestroy(c));
}

CASE(context_none)
{
    CUdeviceptr p = 0;
    CUstream s = NULL;
    CUevent e = NULL;
    void *h = NULL;
    size_t n;
    OK(cuInit(0));
    D(cuMemAlloc(&p, 64));
    D(cuMemFree(0));
    D(cuMemGetInfo(&n, &n));
    D(cuMemAllocHost(&h, 64));
    D(cuMemHostAlloc(&h, 64, 0));
    D(cuMemcpyHtoD(4096, &n, 4));
    D(cuMemsetD8(4096, 0, 4));
    D(cuMemsetD16(4096, 0, 4));
    D(cuStreamCreate(&s, 0));
    D(cuStreamSynchronize(NULL));
    D(cuStreamQuery(NULL));
    D(cuEventCreate(&e, 0));
    D(cuCtxSynchronize());
    CUipcMemHandle handle = {};
    D(cuIpcGetMemHandle(&handle, 4096));
    D(cuIpcOpenMemHandle(&p, handle, 1));
    D(cuIpcCloseMemHandle(4096));
    D(cuMemAllocAsync(&p, 64, NULL));
    D(cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
}
