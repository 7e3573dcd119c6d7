/* SPDX-License-Identifier: MIT
 * replay_vmm.cu: the recorded cases of virtual memory management. The calls and their order are the
 * recording's.
 *
 *     api-replay-vmm CASE tests/recorded/hgx-h200-4
 */
#include "replay.h"

#include <cuda.h>

__global__ void load1(const int *p, int *out)
{
    *out = *p;
}
__global__ void store1(int *p, int v)
{
    *p = v;
}

static void say(const char *call, CUresult error)
{
    const char *name = "?";
    cuGetErrorName(error, &name);
    printf("    %-90s -> %d %s\n", call, (int)error, name);
    fflush(stdout);
}
#define D(x) say(#x, (x))

static int peek(const void *d)
{
    int v = -12345;
    cudaMemcpy(&v, d, 4, cudaMemcpyDefault);
    return v;
}

static void start()
{
    CUcontext c;
    cuInit(0);
    cuDevicePrimaryCtxRetain(&c, 0);
    cuCtxSetCurrent(c);
}

static CUmemAllocationProp pinned(int device, CUmemAllocationHandleType types)
{
    CUmemAllocationProp p = {};
    p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    p.location.id = device;
    p.requestedHandleTypes = types;
    return p;
}

static CUmemAccessDesc access_of(int device, CUmemAccess_flags flags)
{
    CUmemAccessDesc d = {};
    d.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    d.location.id = device;
    d.flags = flags;
    return d;
}

static CUmemGenericAllocationHandle h, h2, hr;
static CUdeviceptr a;
static size_t g = 2 << 20, gr;

static void mapped_and_read(const CUmemAccessDesc &d)
{
    D(cuMemsetD32(a, 7, 4));
    D(cuMemMap(a, g, 0, h, 0));
    D(cuMemMap(a, g, 0, h, 0));
    D(cuMemsetD32(a, 7, 4));
    R(cudaMemset((void *)a, 0, 16));
    D(cuMemSetAccess(a, 2 * g, &d, 1));
    D(cuMemSetAccess(a, g, &d, 1));
    D(cuMemsetD32(a, 7, 4));
    unsigned long long fl;
    CUmemLocation l = d.location;
    D(cuMemGetAccess(&fl, &l, a));
    V("flags %llu", fl);
    l.id = 1;
    D(cuMemGetAccess(&fl, &l, a));
    V("flags dev1 %llu", fl);
}

static void aliased(const CUmemAccessDesc &d)
{
    int fd = -1;
    D(cuMemAddressFree(a, 2 * g));
    D(cuMemRelease(h));
    V("after release: read %d", peek((int *)a));
    D(cuMemRetainAllocationHandle(&hr, (void *)a));
    D(cuMemExportToShareableHandle(&fd, hr, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    V("fd>=0 %d", fd >= 0);
    D(cuMemImportFromShareableHandle(&h2, (void *)(long)fd,
                                     CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    D(cuMemMap(a + g, g, 0, h2, 0));
    D(cuMemSetAccess(a + g, g, &d, 1));
    V("alias read %d", peek((int *)(a + g)));
    D(cuMemUnmap(a, g / 2));
    D(cuMemUnmap(a, 2 * g));
    D(cuMemUnmap(a, 2 * g));
    D(cuMemRelease(h2));
    D(cuMemRelease(hr));
    D(cuMemAddressFree(a, 2 * g));
    D(cuMemAddressFree(a, 2 * g));
}

static void c_vmm()
{
    start();
    int fd, *b;
    CUmemAllocationProp p = pinned(0, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    CUmemAccessDesc d = access_of(0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    D(cuMemGetAllocationGranularity(&g, &p, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    D(cuMemGetAllocationGranularity(&gr, &p, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
    V("granularity %zu %zu", g, gr);
    D(cuMemCreate(&h, 4096, &p, 0));
    D(cuMemCreate(&h, 0, &p, 0));
    D(cuMemCreate(&h, g, &p, 0));
    D(cuMemAddressReserve(&a, 4096, 0, 0, 0));
    D(cuMemAddressReserve(&a, 2 * g, 0, 0, 0));
    V("aligned to granularity %d", (int)(a % g == 0));
    cudaMalloc(&b, 4);
    mapped_and_read(d);
    aliased(d);
    p.requestedHandleTypes = CU_MEM_HANDLE_TYPE_NONE;
    D(cuMemCreate(&h, g, &p, 0));
    D(cuMemExportToShareableHandle(&fd, h, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    p.location.id = 99;
    D(cuMemCreate(&h, g, &p, 0));
    D(cuMemImportFromShareableHandle(&h2, (void *)(long)0,
                                     CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
}

static void c_vmm_ro()
{
    start();
    CUmemAllocationProp p = pinned(0, CU_MEM_HANDLE_TYPE_NONE);
    CUmemAccessDesc d = access_of(0, CU_MEM_ACCESS_FLAGS_PROT_READ);
    int *b;
    cuMemCreate(&h, g, &p, 0);
    cuMemAddressReserve(&a, g, 0, 0, 0);
    cuMemMap(a, g, 0, h, 0);
    D(cuMemSetAccess(a, g, &d, 1));
    cudaMalloc(&b, 4);
    load1<<<1, 1>>>((int *)a, b);
    R(cudaDeviceSynchronize());
    store1<<<1, 1>>>((int *)a, 1);
    R(cudaDeviceSynchronize());
}

static void c_vmm_peer()
{
    start();
    CUmemAllocationProp p = pinned(1, CU_MEM_HANDLE_TYPE_NONE);
    CUmemAccessDesc d[2] = {access_of(0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE),
                            access_of(1, CU_MEM_ACCESS_FLAGS_PROT_READWRITE)};
    cudaPointerAttributes t;
    D(cuMemCreate(&h, g, &p, 0));
    D(cuMemAddressReserve(&a, g, 0, 0, 0));
    D(cuMemMap(a, g, 0, h, 0));
    D(cuMemSetAccess(a, g, d, 2));
    store1<<<1, 1>>>((int *)a, 31);
    R(cudaDeviceSynchronize());
    V("read %d", peek((int *)a));
    SKIP(1, "cudaIpcGetMemHandle");
    R(cudaPointerGetAttributes(&t, (void *)a));
    V("type %d device %d", t.type, t.device);
    R(cudaFree((void *)a));
    d[0].flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    D(cuMemSetAccess(a, g, d, 1));
    store1<<<1, 1>>>((int *)a, 31);
    R(cudaDeviceSynchronize());
}

static void c_vmm2()
{
    cudaFree(0);
    CUmemAllocationProp p = pinned(0, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    CUmemAccessDesc d = access_of(0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    D(cuMemCreate(&h, 2 * g, &p, 0));
    D(cuMemAddressReserve(&a, 4 * g, 0, 0, 0));
    D(cuMemMap(a, g, 0, h, 0));
    D(cuMemMap(a + g, g, g, h, 0));
    D(cuMemMap(a, 2 * g, 0, h, 0));
    D(cuMemSetAccess(a, 2 * g, &d, 1));
    D(cuMemUnmap(a, g));
    D(cuMemSetAccess(a + g, g, &d, 1));
    D(cuMemUnmap(a, 2 * g));
    D(cuMemUnmap(a + 2 * g, g));
    D(cuMemMap(a + 2 * g, 2 * g, 0, h, 0));
    D(cuMemSetAccess(a + 2 * g, 2 * g, &d, 1));
    D(cuMemsetD32(a + 2 * g, 5, 16));
    D(cuMemCreate(&h2, g, &p, 0));
    D(cuMemRelease(h2));
    D(cuMemRelease(h2));
    SKIP(1, "a handle that was released crashes the driver in cuMemMap; here it is refused");
}

#define C(name)                                                                                    \
    {                                                                                              \
#name, c_##name                                                                            \
    }
static const replay_case cases[] = {C(vmm), C(vmm_ro), C(vmm_peer), C(vmm2)};

int main(int argc, char **argv)
{
    return replay_main(argc, argv, cases, (int)(sizeof cases / sizeof cases[0]));
}
