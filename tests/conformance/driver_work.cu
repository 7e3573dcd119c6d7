// SPDX-License-Identifier: MIT
// driver_work.cu: the driver API's streams, events and kernels.
#include "ask.h"

extern "C" __global__ void conformance_put(int *p, int v)
{
    p[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

CASE(driver_streams)
{
    CUcontext c = ask_context(0), of = NULL;
    CUstream s = NULL, t = NULL;
    unsigned flags = 99;
    int priority = 99;
    CUdevice d = -1;
    unsigned long long a = 0, b = 0;
    D(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    D(cuStreamGetFlags(s, &flags));
    V("flags %u", flags);
    D(cuStreamCreateWithPriority(&t, CU_STREAM_DEFAULT, -3));
    D(cuStreamGetPriority(t, &priority));
    V("priority %d", priority);
    D(cuStreamGetFlags(t, &flags));
    V("flags %u", flags);
    D(cuStreamGetId(s, &a));
    D(cuStreamGetId(t, &b));
    V("differ %d", a != b);
    D(cuStreamGetDevice(s, &d));
    V("device %d", d);
    D(cuStreamGetCtx(s, &of));
    V("the primary one %d", of == c);
    D(cuStreamSynchronize(s));
    D(cuStreamQuery(s));
    D(cuStreamSynchronize(NULL));
    D(cuStreamQuery(CU_STREAM_PER_THREAD));
    D(cuStreamDestroy(t));
    D(cuStreamCreate(&t, 7));
    D(cuStreamCreateWithPriority(&t, CU_STREAM_NON_BLOCKING, -99));
    D(cuStreamGetPriority(t, &priority));
    V("priority %d", priority);
    D(cuStreamGetFlags(s, NULL));
    D(cuStreamGetPriority(s, NULL));
    D(cuStreamGetId(s, NULL));
    D(cuStreamGetDevice(s, NULL));
    D(cuStreamGetCtx(s, NULL));
    D(cuStreamCreate(NULL, 0));
    D(cuStreamCreateWithPriority(NULL, 0, 0));
}

CASE(driver_streams_default)
{
    CUcontext c = ask_context(1), of = NULL;
    unsigned flags = 99;
    int priority = 99;
    CUdevice d = -1;
    unsigned long long a = 0, b = 0;
    D(cuStreamGetFlags(NULL, &flags));
    V("flags %u", flags);
    D(cuStreamGetPriority(NULL, &priority));
    V("priority %d", priority);
    D(cuStreamGetDevice(NULL, &d));
    V("device %d", d);
    D(cuStreamGetCtx(NULL, &of));
    V("the primary one %d", of == c);
    D(cuStreamGetId(NULL, &a));
    D(cuStreamGetId(CU_STREAM_LEGACY, &b));
    V("the same %d", a == b);
    D(cuStreamDestroy(NULL));
    D(cuStreamDestroy(CU_STREAM_LEGACY));
}

CASE(driver_events)
{
    ask_context(0);
    CUstream s = ask_stream();
    CUevent a = NULL, b = NULL, n = NULL;
    float ms = -1;
    D(cuEventCreate(&a, CU_EVENT_DEFAULT));
    D(cuEventCreate(&b, CU_EVENT_BLOCKING_SYNC));
    D(cuEventCreate(&n, CU_EVENT_DISABLE_TIMING));
    D(cuEventQuery(a));
    D(cuEventSynchronize(a));
    D(cuEventElapsedTime(&ms, a, b));
    D(cuEventRecord(a, s));
    D(cuEventRecordWithFlags(b, s, CU_EVENT_RECORD_DEFAULT));
    D(cuEventRecordWithFlags(b, s, CU_EVENT_RECORD_EXTERNAL));
    D(cuEventRecordWithFlags(b, s, 2));
    D(cuEventSynchronize(b));
    D(cuEventQuery(b));
    D(cuEventElapsedTime(&ms, a, b));
    V("not negative %d", ms >= 0);
    D(cuEventRecord(n, s));
    D(cuEventSynchronize(n));
    D(cuEventElapsedTime(&ms, a, n));
    D(cuStreamWaitEvent(s, a, 0));
    D(cuStreamWaitEvent(s, a, 2));
    D(cuStreamWaitEvent(NULL, a, 0));
    D(cuEventCreate(&n, 8));
    D(cuEventCreate(&n, CU_EVENT_INTERPROCESS));
    D(cuEventDestroy(b));
    D(cuEventElapsedTime(NULL, a, a));
    D(cuEventElapsedTime(&ms, NULL, a));
    D(cuEventRecord(NULL, s));
    D(cuEventQuery(NULL));
    D(cuEventSynchronize(NULL));
    D(cuStreamWaitEvent(s, NULL, 0));
    D(cuEventDestroy(NULL));
    D(cuEventCreate(NULL, 0));
}

CASE(driver_event_elsewhere)
{
    ask_context(1);
    CUevent e;
    OK(cuEventCreate(&e, 0));
    ask_context(0);
    CUstream s = ask_stream();
    D(cuEventRecord(e, s));
    D(cuEventRecord(e, NULL));
    D(cuStreamWaitEvent(s, e, 0));
    D(cuEventQuery(e));
    D(cuEventSynchronize(e));
}

static CUfunction function(void)
{
    cudaFunction_t f;
    OK(cudaGetFuncBySymbol(&f, (const void *)conformance_put));
    return f;
}

CASE(driver_function)
{
    ask_context(0);
    CUfunction f = function(), g = NULL;
    cudaKernel_t k = NULL;
    const char *name = NULL;
    D(cuFuncGetName(&name, f));
    V("%s", name ? name : "null");
    OK(cudaGetKernel(&k, (const void *)conformance_put));
    D(cuKernelGetName(&name, (CUkernel)k));
    V("%s", name ? name : "null");
    D(cuKernelGetFunction(&g, (CUkernel)k));
    V("there %d, the same %d", g != NULL, f == g);
    D(cuKernelGetFunction(NULL, (CUkernel)k));
    D(cuKernelGetName(NULL, (CUkernel)k));
    D(cuFuncGetName(NULL, f));
    D(cuKernelGetFunction(&g, NULL));
    D(cuKernelGetName(&name, NULL));
    D(cuFuncGetName(&name, NULL));
}

CASE(driver_function_attributes)
{
    ask_context(0);
    CUfunction f = function();
    int v = -1;
    const int which[] = {0, 1, 2, 8, 9, 10, 11, 12, 13, 14, 15};
    for (int a : which) {
        v = -1;
        D(cuFuncGetAttribute(&v, (CUfunction_attribute)a, f));
        V("attribute %d: %d", a, v);
    }
    D(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100 * 1024));
    D(cuFuncGetAttribute(&v, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, f));
    V("%d", v);
    D(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 300 * 1024));
    D(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, -1));
    D(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 101));
    D(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 50));
    D(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_NUM_REGS, 50));
    D(cuFuncSetAttribute(f, (CUfunction_attribute)77, 1));
    D(cuFuncGetAttribute(&v, (CUfunction_attribute)77, f));
    D(cuFuncGetAttribute(NULL, CU_FUNC_ATTRIBUTE_NUM_REGS, f));
    D(cuFuncGetAttribute(&v, CU_FUNC_ATTRIBUTE_NUM_REGS, NULL));
}

CASE(driver_occupancy)
{
    ask_context(0);
    CUfunction f = function();
    int n = -1;
    D(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, 256, 0));
    V("%d", n);
    D(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, 1024, 0));
    V("%d", n);
    D(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, 0, 0));
    D(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, -1, 0));
    D(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, 4096, 0));
    V("%d", n);
    D(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, 32, 1 << 20));
    V("%d", n);
    D(cuOccupancyMaxActiveBlocksPerMultiprocessor(NULL, f, 256, 0));
    D(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, NULL, 256, 0));
}

CASE(driver_launch)
{
    ask_context(0);
    CUfunction f = function();
    CUdeviceptr p = ask_memory(4096);
    int v = 9;
    void *args[] = {&p, &v};
    D(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, args, NULL));
    D(cuCtxSynchronize());
    V("%d", ask_peek((void *)(p + 124)));
    v = 10;
    D(cuLaunchCooperativeKernel(f, 2, 1, 1, 32, 1, 1, 0, NULL, args));
    D(cuCtxSynchronize());
    V("%d", ask_peek((void *)(p + 252)));
    D(cuLaunchKernel(f, 0, 1, 1, 32, 1, 1, 0, NULL, args, NULL));
    D(cuLaunchKernel(f, 1, 1, 1, 0, 1, 1, 0, NULL, args, NULL));
    D(cuLaunchKernel(f, 1, 1, 1, 2048, 1, 1, 0, NULL, args, NULL));
    D(cuLaunchKernel(f, 1, 70000, 1, 32, 1, 1, 0, NULL, args, NULL));
    D(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 1 << 20, NULL, args, NULL));
    D(cuLaunchCooperativeKernel(f, 1 << 20, 1, 1, 32, 1, 1, 0, NULL, args));
    D(cuLaunchCooperativeKernel(f, 0, 1, 1, 32, 1, 1, 0, NULL, args));
    D(cuCtxSynchronize());
    D(cuLaunchKernel(NULL, 1, 1, 1, 32, 1, 1, 0, NULL, args, NULL));
    D(cuLaunchCooperativeKernel(NULL, 1, 1, 1, 32, 1, 1, 0, NULL, args));
}

CASE(driver_launch_extra)
{
    ask_context(0);
    CUfunction f = function();
    struct {
        CUdeviceptr p;
        int v;
    } packed = {ask_memory(4096), 11};
    size_t bytes = sizeof packed.p + sizeof packed.v;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CU_LAUNCH_PARAM_END};
    void *args[] = {&packed.p, &packed.v};
    D(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, extra));
    D(cuCtxSynchronize());
    V("%d", ask_peek((void *)(packed.p + 124)));
    D(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, args, extra));
    bytes = 8;
    D(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, extra));
    D(cuCtxSynchronize());
}

CASE(driver_launch_no_arguments)
{
    ask_context(0);
    D(cuLaunchKernel(function(), 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
}
