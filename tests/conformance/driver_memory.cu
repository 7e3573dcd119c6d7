// SPDX-License-Identifier: MIT
// driver_memory.cu: the driver API's memory, copies and fills; what it says of pointers.
#include "ask.h"

CASE(driver_alloc)
{
    CUdeviceptr p = 0;
    OK(cuInit(0));
    ask_context(0);
    D(cuMemAlloc(&p, 1000));
    V("aligned %d", p % 512 == 0);
    D(cuMemFree(p));
    D(cuMemFree(p));
    D(cuMemFree(0));
    D(cuMemFree(4096));
    D(cuMemAlloc(&p, 0));
    D(cuMemAlloc(&p, (size_t)1 << 50));
    CUdeviceptr q = ask_memory(64);
    D(cuMemFree(q + 16));
    D(cuMemAlloc(NULL, 64));
}

CASE(driver_host_memory)
{
    void *p = NULL, *q = NULL;
    CUdeviceptr d = 0;
    unsigned flags = 99;
    int local = 0;
    ask_context(0);
    D(cuMemAllocHost(&p, 64));
    D(cuMemHostGetFlags(&flags, p));
    D(cuMemHostAlloc(&q, 64 << 20, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));
    D(cuMemHostGetFlags(&flags, q));
    V("flags %u", flags);
    D(cuMemHostGetDevicePointer(&d, q, 0));
    V("the same address %d", d == (CUdeviceptr)q);
    D(cuMemHostGetDevicePointer(&d, (char *)q + 16, 0));
    V("inside %d", d == (CUdeviceptr)q + 16);
    D(cuMemHostGetDevicePointer(&d, q, 1));
    D(cuMemHostGetDevicePointer(&d, &local, 0));
    D(cuMemHostGetFlags(&flags, &local));
    D(cuMemHostAlloc(&p, 64, 0x40));
    D(cuMemHostAlloc(&p, 0, 0));
    D(cuMemAllocHost(&p, 0));
    D(cuMemFreeHost(q));
    D(cuMemFreeHost(q));
    D(cuMemFreeHost(&local));
    D(cuMemFreeHost(NULL));
    D(cuMemAllocHost(NULL, 64));
    D(cuMemHostAlloc(NULL, 64, 0));
    D(cuMemHostGetDevicePointer(NULL, &local, 0));
    D(cuMemHostGetDevicePointer(&d, NULL, 0));
    D(cuMemHostGetFlags(&flags, NULL));
    D(cuMemHostGetFlags(NULL, &local));
}

CASE(driver_copies)
{
    ask_context(0);
    CUdeviceptr a = ask_memory(4096), b = ask_memory(4096);
    static int h[1024], back[1024];
    h[0] = 77;
    D(cuMemcpyHtoD(a, h, 4096));
    D(cuMemcpyDtoD(b, a, 4096));
    D(cuMemcpyDtoH(back, b, 4096));
    V("%d", back[0]);
    D(cuMemcpyHtoD(a, h, 0));
    D(cuMemcpyDtoD(b, a, 0));
    D(cuMemcpyHtoD(a, h, 64 << 20));
    D(cuMemcpyDtoD(b, a, 64 << 20));
    D(cuMemcpyDtoD(b, b + 64, 256));
    D(cuMemcpyHtoD(0, h, 4));
    D(cuMemcpyDtoD(0, a, 4));
    D(cuMemcpyDtoD(a, 0, 4));
    D(cuMemcpyDtoH(back, 0, 4));
    D(cuMemcpyHtoD((CUdeviceptr)back, h, 4));
    D(cuMemcpyDtoD((CUdeviceptr)back, a, 4));
    D(cuMemcpyDtoH((void *)a, b, 4));
    D(cuMemcpyHtoD(a, NULL, 4));
    D(cuMemcpyDtoH(NULL, a, 4));
}

CASE(driver_copies_async)
{
    ask_context(0);
    CUdeviceptr a = ask_memory(4096), b = ask_memory(4096);
    CUstream s = ask_stream();
    static int h[1024], back[1024];
    h[0] = 78;
    D(cuMemcpyHtoDAsync(a, h, 4096, s));
    D(cuMemcpyDtoDAsync(b, a, 4096, s));
    D(cuMemcpyDtoHAsync(back, b, 4096, s));
    D(cuStreamSynchronize(s));
    V("%d", back[0]);
    D(cuMemcpyHtoDAsync(a, h, 0, s));
    D(cuMemcpyDtoDAsync(b, a, 64 << 20, s));
    D(cuMemcpyDtoDAsync(b, 0, 4, s));
    D(cuMemcpyHtoDAsync(0, h, 4, s));
    D(cuMemcpyDtoHAsync(back, 0, 4, s));
    D(cuMemcpyHtoDAsync((CUdeviceptr)back, h, 4, s));
    D(cuMemcpyHtoDAsync(a, NULL, 4, s));
    D(cuMemcpyDtoHAsync(NULL, a, 4, s));
    D(cuStreamSynchronize(s));
}

CASE(driver_copies_peer)
{
    CUcontext one = ask_context(1);
    CUdeviceptr b = ask_memory(4096);
    CUcontext zero = ask_context(0);
    CUdeviceptr a = ask_memory(4096);
    CUstream s = ask_stream();
    OK(cuMemsetD32(a, 79, 1024));
    D(cuMemcpyPeer(b, one, a, zero, 4096));
    V("%d", ask_peek((void *)b));
    OK(cuMemsetD32(a, 80, 1024));
    D(cuMemcpyPeerAsync(b, one, a, zero, 4096, s));
    D(cuStreamSynchronize(s));
    V("%d", ask_peek((void *)b));
    D(cuMemcpyPeer(b, zero, a, one, 4096));
    D(cuMemcpyPeer(b, one, a, zero, 0));
    D(cuMemcpyPeer(b, one, a, zero, 64 << 20));
    D(cuMemcpyPeerAsync(b, one, 0, zero, 4, s));
    D(cuMemcpyPeer(0, one, a, zero, 4));
    D(cuMemcpyPeer(b, one, a, NULL, 4));
    D(cuMemcpyPeer(b, NULL, a, zero, 4));
    D(cuMemcpyPeerAsync(b, one, a, NULL, 4, s));
    D(cuStreamSynchronize(s));
}

CASE(driver_fills)
{
    ask_context(0);
    CUdeviceptr a = ask_memory(4096);
    CUstream s = ask_stream();
    D(cuMemsetD16(a, 0x1234, 2));
    V("%x", (unsigned)ask_peek((void *)a));
    D(cuMemsetD16(a + 1, 0x1234, 2));
    D(cuMemsetD32(a + 2, 1, 1));
    D(cuMemsetD16(a, 0x1234, 0));
    D(cuMemsetD16(a, 0x1234, 64 << 20));
    D(cuMemsetD16(0, 1, 1));
    D(cuMemsetD16Async(a, 0x4321, 2, s));
    D(cuMemsetD8Async(a + 4, 0x55, 4, s));
    D(cuStreamSynchronize(s));
    V("%x %x", (unsigned)ask_peek((void *)a), (unsigned)ask_peek((void *)(a + 4)));
    D(cuMemsetD16Async(a + 1, 1, 2, s));
    D(cuMemsetD8Async(a, 1, 64 << 20, s));
    D(cuMemsetD8Async(0, 1, 1, s));
    D(cuMemsetD8Async(a, 1, 0, s));
    D(cuMemsetD16Async(0, 1, 1, s));
    int h = 0;
    D(cuMemsetD8((CUdeviceptr)&h, 1, 4));
    D(cuMemsetD16Async((CUdeviceptr)&h, 1, 2, s));
    D(cuStreamSynchronize(s));
}

static void says(const char *what, CUdeviceptr p)
{
    V("of %s:", what);
    for (int a = 1; a <= 20; a++) {
        unsigned long long v = 0;
        if (a == 5 || a == 11)
            continue;
        CUresult e = cuPointerGetAttribute(&v, (CUpointer_attribute)a, p);
        bool address = a == 1 || a == 3 || a == 4 || a == 7 || a >= 17;
        V("attribute %d: %d, %s %lld", a, (int)e, address ? "not null" : "value",
          address ? v != 0 : (long long)(a == 9 ? (int)v : v));
    }
}

CASE(driver_pointer)
{
    ask_context(1);
    CUdeviceptr d = ask_memory(4096);
    says("device memory", d + 16);
}

CASE(driver_pointer_host)
{
    void *h;
    ask_context(0);
    OK(cuMemHostAlloc(&h, 4096, CU_MEMHOSTALLOC_PORTABLE));
    says("pinned memory", (CUdeviceptr)h);
}

CASE(driver_pointer_managed)
{
    void *m;
    ask_context(0);
    OK(cudaMallocManaged(&m, 4096));
    says("managed memory", (CUdeviceptr)m);
}

CASE(driver_pointer_pool)
{
    void *m;
    ask_context(0);
    OK(cudaMallocAsync(&m, 4096, 0));
    OK(cudaDeviceSynchronize());
    says("memory of a pool", (CUdeviceptr)m);
}

CASE(driver_pointer_unknown)
{
    int h = 0;
    ask_context(0);
    says("the stack", (CUdeviceptr)&h);
}

CASE(driver_pointer_wrong)
{
    ask_context(0);
    CUdeviceptr d = ask_memory(4096);
    unsigned long long v = 0;
    D(cuPointerGetAttribute(&v, (CUpointer_attribute)77, d));
    D(cuPointerGetAttribute(&v, (CUpointer_attribute)0, d));
    D(cuPointerGetAttribute(&v, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 0));
    D(cuPointerGetAttribute(&v, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 4096));
    OK(cuMemFree(d));
    D(cuPointerGetAttribute(&v, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, d));
    D(cuPointerGetAttribute(NULL, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, d));
}

CASE(driver_pointer_several)
{
    ask_context(0);
    CUdeviceptr d = ask_memory(4096);
    unsigned type = 99;
    int device = 99, h = 0;
    CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                   CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
    void *where[] = {&type, &device};
    D(cuPointerGetAttributes(2, which, where, d));
    V("type %u, device %d", type, device);
    D(cuPointerGetAttributes(2, which, where, (CUdeviceptr)&h));
    V("type %u, device %d", type, device);
    D(cuPointerGetAttributes(2, which, where, 0));
    D(cuPointerGetAttributes(0, which, where, d));
    which[1] = (CUpointer_attribute)77;
    D(cuPointerGetAttributes(2, which, where, d));
    D(cuPointerGetAttributes(2, NULL, where, d));
    D(cuPointerGetAttributes(2, which, NULL, d));
}

CASE(driver_ipc)
{
    ask_context(0);
    CUdeviceptr d = ask_memory(4096), there = 0;
    CUipcMemHandle h = {}, g = {};
    int local = 0;
    D(cuIpcGetMemHandle(&h, d));
    D(cuIpcGetMemHandle(&g, d + 64));
    D(cuIpcOpenMemHandle(&there, h, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    D(cuIpcOpenMemHandle(&there, h, 0));
    D(cuIpcOpenMemHandle(&there, h, 2));
    D(cuIpcGetMemHandle(&g, (CUdeviceptr)&local));
    D(cuIpcGetMemHandle(&g, 0));
    memset(&g, 0x5a, sizeof g);
    D(cuIpcOpenMemHandle(&there, g, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    D(cuIpcCloseMemHandle(d));
    D(cuIpcCloseMemHandle(0));
    D(cuIpcGetMemHandle(NULL, d));
    D(cuIpcOpenMemHandle(NULL, h, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
}

CASE(driver_ipc_events)
{
    ask_context(0);
    CUevent plain, shared, there = NULL;
    CUipcEventHandle h = {}, g = {};
    OK(cuEventCreate(&plain, CU_EVENT_DISABLE_TIMING));
    OK(cuEventCreate(&shared, CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS));
    D(cuIpcGetEventHandle(&h, shared));
    D(cuIpcOpenEventHandle(&there, h));
    V("there %d", there != NULL);
    D(cuIpcGetEventHandle(&g, plain));
    D(cuIpcGetEventHandle(&g, NULL));
    D(cuIpcGetEventHandle(NULL, shared));
    D(cuIpcOpenEventHandle(NULL, h));
    memset(&g, 0x5a, sizeof g);
    D(cuIpcOpenEventHandle(&there, g));
}
