/* SPDX-License-Identifier: MIT
 * driver_pool.c: memory pools of the driver API. They are the runtime's pools: a pool or pointer
 * made by one API is valid in the other, as on hardware.
 */
#include "driver.h"

#include <stddef.h>

#define P(ptr) vgpu__driver_pointer(ptr)

/* The driver's structures have the layout of the runtime's. */
#define SAME_FIELD(ours, field, theirs, other)                                                     \
    _Static_assert(offsetof(ours, field) == offsetof(struct theirs, other), #field)
#define SAME_SIZE(ours, theirs) _Static_assert(sizeof(ours) == sizeof(struct theirs), #theirs)

SAME_SIZE(CUmemPoolProps, cudaMemPoolProps);
SAME_FIELD(CUmemPoolProps, handleTypes, cudaMemPoolProps, handleTypes);
SAME_FIELD(CUmemPoolProps, location, cudaMemPoolProps, location);
SAME_FIELD(CUmemPoolProps, maxSize, cudaMemPoolProps, maxSize);
SAME_SIZE(CUmemPoolPtrExportData, cudaMemPoolPtrExportData);
SAME_SIZE(CUmemAccessDesc, cudaMemAccessDesc);
SAME_SIZE(CUmemLocation, cudaMemLocation);

/* ---- allocations ---- */

/* 0 bytes: the call succeeds and *ptr becomes 0 (recorded). */
static cudaError_t allocate_stream_ordered(CUdeviceptr *ptr, size_t bytes, CUmemoryPool pool,
                                           CUstream stream)
{
    if (!ptr)
        return cudaErrorInvalidValue;
    if (bytes > 0)
        return pool ? cudaMallocFromPoolAsync((void **)ptr, bytes, pool, stream)
                    : cudaMallocAsync((void **)ptr, bytes, stream);
    *ptr = 0;
    return cudaSuccess;
}

CUresult cuMemAllocAsync(CUdeviceptr *ptr, size_t bytes, CUstream stream)
{
    VGPU_DRIVER(allocate_stream_ordered(ptr, bytes, NULL, stream));
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *ptr, size_t bytes, CUmemoryPool pool, CUstream stream)
{
    VGPU_DRIVER(pool ? allocate_stream_ordered(ptr, bytes, pool, stream) : cudaErrorInvalidValue);
}

CUresult cuMemFreeAsync(CUdeviceptr ptr, CUstream stream)
{
    VGPU_DRIVER(cudaFreeAsync(P(ptr), stream));
}

/* ---- pools: these calls need no context ---- */

#define POOL(expression) VGPU_DRIVER_OF(VGPU__NEED_INIT, expression)

CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *props)
{
    POOL(cudaMemPoolCreate(pool, (const struct cudaMemPoolProps *)props));
}

CUresult cuMemPoolDestroy(CUmemoryPool pool)
{
    POOL(cudaMemPoolDestroy(pool));
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t keep)
{
    POOL(cudaMemPoolTrimTo(pool, keep));
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
    POOL(cudaMemPoolSetAttribute(pool, (enum cudaMemPoolAttr)attribute, value));
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
    POOL(cudaMemPoolGetAttribute(pool, (enum cudaMemPoolAttr)attribute, value));
}

CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *list, size_t count)
{
    POOL(cudaMemPoolSetAccess(pool, (const struct cudaMemAccessDesc *)list, count));
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool pool, CUmemLocation *location)
{
    POOL(cudaMemPoolGetAccess((enum cudaMemAccessFlags *)flags, pool,
                              (struct cudaMemLocation *)location));
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device)
{
    POOL(cudaDeviceGetDefaultMemPool(pool, device));
}

CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device)
{
    POOL(cudaDeviceGetMemPool(pool, device));
}

CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool)
{
    POOL(cudaDeviceSetMemPool(device, pool));
}

/* ---- other processes ---- */

CUresult cuMemPoolExportToShareableHandle(void *handle, CUmemoryPool pool,
                                          CUmemAllocationHandleType type, unsigned long long flags)
{
    POOL(flags ? cudaErrorInvalidValue
               : cudaMemPoolExportToShareableHandle(handle, pool,
                                                    (enum cudaMemAllocationHandleType)type, 0));
}

CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool *pool, void *handle,
                                            CUmemAllocationHandleType type,
                                            unsigned long long flags)
{
    POOL(flags ? cudaErrorInvalidValue
               : cudaMemPoolImportFromShareableHandle(pool, handle,
                                                      (enum cudaMemAllocationHandleType)type, 0));
}

CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData *data, CUdeviceptr ptr)
{
    VGPU_DRIVER(cudaMemPoolExportPointer((struct cudaMemPoolPtrExportData *)data, P(ptr)));
}

CUresult cuMemPoolImportPointer(CUdeviceptr *ptr, CUmemoryPool pool, CUmemPoolPtrExportData *data)
{
    VGPU_DRIVER(
        cudaMemPoolImportPointer((void **)ptr, pool, (struct cudaMemPoolPtrExportData *)data));
}
