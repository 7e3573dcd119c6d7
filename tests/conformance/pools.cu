// SPDX-License-Identifier: MIT
// pools.cu: pools of a program's own, their attributes, and what leaves the process.
#include "ask.h"

#include <unistd.h>

static cudaMemPoolProps props(int device, cudaMemAllocationHandleType handles)
{
    cudaMemPoolProps p = {};
    p.allocType = cudaMemAllocationTypePinned;
    p.handleTypes = handles;
    p.location.type = cudaMemLocationTypeDevice;
    p.location.id = device;
    return p;
}

static cudaMemPool_t pool(int device, cudaMemAllocationHandleType handles)
{
    cudaMemPool_t made;
    cudaMemPoolProps p = props(device, handles);
    OK(cudaMemPoolCreate(&made, &p));
    return made;
}

CASE(pool_create)
{
    cudaMemPool_t m;
    cudaMemPoolProps p = props(1, cudaMemHandleTypeNone);
    R(cudaMemPoolCreate(&m, &p));
    void *a = NULL;
    R(cudaMallocFromPoolAsync(&a, 64, m, 0));
    cudaPointerAttributes at;
    R(cudaPointerGetAttributes(&at, a));
    V("type %d, device %d", (int)at.type, at.device);
    R(cudaMemPoolDestroy(m));
    R(cudaFreeAsync(a, 0));
    R(cudaDeviceSynchronize());
    p.maxSize = 1 << 20;
    R(cudaMemPoolCreate(&m, &p));
    R(cudaMallocFromPoolAsync(&a, 64 << 20, m, 0));
    R(cudaMallocFromPoolAsync(&a, 0, m, 0));
    V("null %d", a == NULL);
    R(cudaMemPoolDestroy(m));
}

CASE(pool_create_wrong)
{
    cudaMemPool_t m;
    cudaMemPoolProps p = props(99, cudaMemHandleTypeNone);
    R(cudaMemPoolCreate(&m, &p));
    p.location.id = -1;
    R(cudaMemPoolCreate(&m, &p));
    p = props(0, (cudaMemAllocationHandleType)0x40);
    R(cudaMemPoolCreate(&m, &p));
    p = props(0, cudaMemHandleTypeWin32);
    R(cudaMemPoolCreate(&m, &p));
    p = props(0, cudaMemHandleTypeNone);
    p.allocType = cudaMemAllocationTypeInvalid;
    R(cudaMemPoolCreate(&m, &p));
    p.allocType = (cudaMemAllocationType)7;
    R(cudaMemPoolCreate(&m, &p));
    p = props(0, cudaMemHandleTypeNone);
    p.location.type = cudaMemLocationTypeInvalid;
    R(cudaMemPoolCreate(&m, &p));
    p.location.type = (cudaMemLocationType)9;
    R(cudaMemPoolCreate(&m, &p));
    p = props(0, cudaMemHandleTypeNone);
    R(cudaMemPoolCreate(NULL, &p));
    R(cudaMemPoolCreate(&m, NULL));
}

CASE(pool_destroy)
{
    cudaMemPool_t m;
    R(cudaDeviceGetDefaultMemPool(&m, 0));
    R(cudaMemPoolDestroy(m));
    R(cudaMemPoolTrimTo(m, 0));
    cudaMemPool_t own = pool(0, cudaMemHandleTypeNone), now = NULL;
    R(cudaDeviceSetMemPool(0, own));
    R(cudaMemPoolDestroy(own));
    R(cudaDeviceGetMemPool(&now, 0));
    V("the default again %d", now == m);
    R(cudaMemPoolDestroy(NULL));
}

CASE(pool_of_device)
{
    cudaMemPool_t m = NULL, first = NULL, other = pool(1, cudaMemHandleTypeNone);
    R(cudaDeviceGetDefaultMemPool(&first, 0));
    R(cudaDeviceGetMemPool(&m, 0));
    V("the default %d", m == first);
    R(cudaDeviceSetMemPool(0, other));
    cudaMemPool_t own = pool(0, cudaMemHandleTypeNone);
    R(cudaDeviceSetMemPool(0, own));
    R(cudaDeviceGetMemPool(&m, 0));
    V("its own %d", m == own);
    R(cudaDeviceGetMemPool(&m, 99));
    R(cudaDeviceGetDefaultMemPool(&m, 99));
    R(cudaDeviceSetMemPool(99, own));
    R(cudaDeviceSetMemPool(0, NULL));
    R(cudaDeviceGetMemPool(NULL, 0));
    R(cudaDeviceGetDefaultMemPool(NULL, 0));
}

static void value(cudaMemPool_t m, const char *name, cudaMemPoolAttr a)
{
    unsigned long long v = 0;
    cudaError_t e = cudaMemPoolGetAttribute(m, a, &v);
    V("%s: %d, value %llu", name, (int)e, v);
}

CASE(pool_attributes)
{
    cudaMemPool_t m = pool(0, cudaMemHandleTypeNone);
    unsigned long long zero = 0, some = 4 << 20;
    int no = 0;
    for (int a = 1; a <= 8; a++)
        value(m, "attribute", (cudaMemPoolAttr)a);
    void *p;
    R(cudaMallocFromPoolAsync(&p, 1000, m, 0));
    R(cudaDeviceSynchronize());
    for (int a = 4; a <= 8; a++)
        value(m, "attribute", (cudaMemPoolAttr)a);
    R(cudaMemPoolSetAttribute(m, cudaMemPoolAttrReleaseThreshold, &some));
    R(cudaMemPoolSetAttribute(m, cudaMemPoolReuseFollowEventDependencies, &no));
    R(cudaMemPoolSetAttribute(m, cudaMemPoolReuseAllowOpportunistic, &no));
    R(cudaMemPoolSetAttribute(m, cudaMemPoolReuseAllowInternalDependencies, &no));
    R(cudaMemPoolSetAttribute(m, cudaMemPoolAttrReservedMemCurrent, &zero));
    R(cudaMemPoolSetAttribute(m, cudaMemPoolAttrUsedMemCurrent, &zero));
    R(cudaMemPoolSetAttribute(m, cudaMemPoolAttrReservedMemHigh, &some));
    R(cudaMemPoolSetAttribute(m, cudaMemPoolAttrUsedMemHigh, &some));
    R(cudaMemPoolSetAttribute(m, cudaMemPoolAttrReservedMemHigh, &zero));
    R(cudaMemPoolSetAttribute(m, cudaMemPoolAttrUsedMemHigh, &zero));
    R(cudaFreeAsync(p, 0));
    R(cudaDeviceSynchronize());
    for (int a = 1; a <= 8; a++)
        value(m, "attribute", (cudaMemPoolAttr)a);
    R(cudaMemPoolTrimTo(m, 0));
    value(m, "reserved", cudaMemPoolAttrReservedMemCurrent);
    R(cudaMemPoolSetAttribute(m, (cudaMemPoolAttr)77, &zero));
    R(cudaMemPoolGetAttribute(m, (cudaMemPoolAttr)77, &zero));
    R(cudaMemPoolSetAttribute(m, (cudaMemPoolAttr)0, &zero));
    R(cudaMemPoolGetAttribute(m, cudaMemPoolAttrReleaseThreshold, NULL));
    R(cudaMemPoolSetAttribute(m, cudaMemPoolAttrReleaseThreshold, NULL));
}

CASE(pool_no_handle)
{
    unsigned long long zero = 0;
    void *p;
    R(cudaMemPoolSetAttribute(NULL, cudaMemPoolAttrReleaseThreshold, &zero));
    R(cudaMemPoolGetAttribute(NULL, cudaMemPoolAttrReleaseThreshold, &zero));
    R(cudaMemPoolTrimTo(NULL, 0));
    R(cudaMallocFromPoolAsync(&p, 64, NULL, 0));
    R(cudaMallocAsync(NULL, 64, 0));
    R(cudaFreeAsync(NULL, 0));
}

CASE(pool_access)
{
    cudaMemPool_t m = pool(0, cudaMemHandleTypeNone);
    cudaMemAccessDesc d = {};
    d.location.type = cudaMemLocationTypeDevice;
    d.location.id = 1;
    d.flags = cudaMemAccessFlagsProtReadWrite;
    cudaMemAccessFlags f = (cudaMemAccessFlags)9;
    R(cudaMemPoolGetAccess(&f, m, &d.location));
    V("flags %d", (int)f);
    R(cudaMemPoolSetAccess(m, &d, 1));
    R(cudaMemPoolGetAccess(&f, m, &d.location));
    V("flags %d", (int)f);
    d.flags = cudaMemAccessFlagsProtRead;
    R(cudaMemPoolSetAccess(m, &d, 1));
    d.flags = (cudaMemAccessFlags)2;
    R(cudaMemPoolSetAccess(m, &d, 1));
    d.flags = cudaMemAccessFlagsProtNone;
    R(cudaMemPoolSetAccess(m, &d, 1));
    d.location.id = 0;
    R(cudaMemPoolSetAccess(m, &d, 1));
    d.location.id = 99;
    d.flags = cudaMemAccessFlagsProtReadWrite;
    R(cudaMemPoolSetAccess(m, &d, 1));
    R(cudaMemPoolGetAccess(&f, m, &d.location));
    R(cudaMemPoolSetAccess(m, &d, 0));
    R(cudaMemPoolSetAccess(m, NULL, 0));
    R(cudaMemPoolSetAccess(m, NULL, 1));
    R(cudaMemPoolGetAccess(&f, m, NULL));
    d.location.id = 0;
    R(cudaMemPoolGetAccess(NULL, m, &d.location));
}

CASE(pool_export)
{
    cudaMemPool_t m = pool(0, cudaMemHandleTypePosixFileDescriptor);
    int fd = -1;
    R(cudaMemPoolExportToShareableHandle(&fd, m, cudaMemHandleTypePosixFileDescriptor, 0));
    V("a descriptor %d", fd >= 0);
    int more = -1;
    R(cudaMemPoolExportToShareableHandle(&more, m, cudaMemHandleTypePosixFileDescriptor, 1));
    R(cudaMemPoolExportToShareableHandle(&more, m, cudaMemHandleTypeNone, 0));
    R(cudaMemPoolExportToShareableHandle(&more, m, cudaMemHandleTypeFabric, 0));
    R(cudaMemPoolExportToShareableHandle(&more, m, (cudaMemAllocationHandleType)64, 0));
    cudaMemPool_t plain = pool(0, cudaMemHandleTypeNone), standard;
    R(cudaMemPoolExportToShareableHandle(&more, plain, cudaMemHandleTypePosixFileDescriptor, 0));
    OK(cudaDeviceGetDefaultMemPool(&standard, 0));
    R(cudaMemPoolExportToShareableHandle(&more, standard, cudaMemHandleTypePosixFileDescriptor, 0));
    R(cudaMemPoolExportToShareableHandle(NULL, m, cudaMemHandleTypePosixFileDescriptor, 0));
    R(cudaMemPoolExportToShareableHandle(&more, NULL, cudaMemHandleTypePosixFileDescriptor, 0));
}

CASE(pool_import)
{
    cudaMemPool_t m = pool(0, cudaMemHandleTypePosixFileDescriptor), in = NULL;
    int fd = -1;
    OK(cudaMemPoolExportToShareableHandle(&fd, m, cudaMemHandleTypePosixFileDescriptor, 0));
    void *handle = (void *)(long)fd, *p;
    R(cudaMemPoolImportFromShareableHandle(&in, handle, cudaMemHandleTypePosixFileDescriptor, 0));
    V("a pool %d, another one %d", in != NULL, in != m);
    R(cudaMallocFromPoolAsync(&p, 64, in, 0));
    R(cudaMemPoolImportFromShareableHandle(&in, handle, cudaMemHandleTypePosixFileDescriptor, 1));
    R(cudaMemPoolImportFromShareableHandle(&in, handle, cudaMemHandleTypeNone, 0));
    R(cudaMemPoolImportFromShareableHandle(NULL, handle, cudaMemHandleTypePosixFileDescriptor, 0));
    R(cudaMemPoolImportFromShareableHandle(&in, (void *)0, cudaMemHandleTypePosixFileDescriptor,
                                           0));
    R(cudaMemPoolImportFromShareableHandle(&in, (void *)-1l, cudaMemHandleTypePosixFileDescriptor,
                                           0));
}

CASE(pool_pointers)
{
    cudaMemPool_t m = pool(0, cudaMemHandleTypePosixFileDescriptor), in = NULL;
    cudaMemPool_t plain = pool(0, cudaMemHandleTypeNone);
    int fd = -1, h = 0, *p, *q, *d, *back = NULL;
    OK(cudaMemPoolExportToShareableHandle(&fd, m, cudaMemHandleTypePosixFileDescriptor, 0));
    OK(cudaMallocFromPoolAsync((void **)&p, 4096, m, 0));
    OK(cudaMallocFromPoolAsync((void **)&q, 4096, plain, 0));
    OK(cudaMalloc(&d, 64));
    OK(cudaMemset(p, 1, 4096));
    cudaMemPoolPtrExportData data = {}, none = {};
    R(cudaMemPoolExportPointer(&data, p));
    R(cudaMemPoolExportPointer(&none, p + 16));
    R(cudaMemPoolExportPointer(&none, q));
    R(cudaMemPoolExportPointer(&none, d));
    R(cudaMemPoolExportPointer(&none, &h));
    R(cudaMemPoolExportPointer(&none, NULL));
    OK(cudaMemPoolImportFromShareableHandle(&in, (void *)(long)fd,
                                            cudaMemHandleTypePosixFileDescriptor, 0));
    R(cudaMemPoolImportPointer((void **)&back, in, &data));
    V("%d", ask_peek(back));
    R(cudaMemPoolImportPointer((void **)&back, m, &data));
    R(cudaMemPoolImportPointer((void **)&back, plain, &data));
    memset(&none, 0x5a, sizeof none);
    R(cudaMemPoolImportPointer((void **)&back, in, &none));
    R(cudaMemPoolExportPointer(NULL, p));
    R(cudaMemPoolImportPointer(NULL, in, &data));
    R(cudaMemPoolImportPointer((void **)&back, in, NULL));
    R(cudaMemPoolImportPointer((void **)&back, NULL, &data));
}
