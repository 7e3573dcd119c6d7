/* SPDX-License-Identifier: MIT
 * driver_memory.c: allocations, copies, memsets and what a pointer points to, for the driver API.
 */
#include "driver.h"

#define P(ptr) vgpu__driver_pointer(ptr)

/* ---- allocations ---- */

/* Unlike cudaMalloc, 0 bytes are an error. */
CUresult cuMemAlloc(CUdeviceptr *ptr, size_t bytes)
{
    VGPU_DRIVER(ptr && bytes ? cudaMalloc((void **)ptr, bytes) : cudaErrorInvalidValue);
}

CUresult cuMemFree(CUdeviceptr ptr)
{
    VGPU_DRIVER(cudaFree(P(ptr)));
}

CUresult cuMemGetInfo(size_t *free, size_t *total)
{
    VGPU_DRIVER(cudaMemGetInfo(free, total));
}

CUresult cuMemAllocHost(void **ptr, size_t bytes)
{
    VGPU_DRIVER(ptr && bytes ? cudaMallocHost(ptr, bytes) : cudaErrorInvalidValue);
}

CUresult cuMemFreeHost(void *ptr)
{
    VGPU_DRIVER(cudaFreeHost(ptr));
}

CUresult cuMemHostAlloc(void **ptr, size_t bytes, unsigned int flags)
{
    VGPU_DRIVER(ptr && bytes ? cudaHostAlloc(ptr, bytes, flags) : cudaErrorInvalidValue);
}

CUresult cuMemHostGetDevicePointer(CUdeviceptr *device, void *host, unsigned int flags)
{
    VGPU_DRIVER(cudaHostGetDevicePointer((void **)device, host, flags));
}

CUresult cuMemHostGetFlags(unsigned int *flags, void *ptr)
{
    VGPU_DRIVER(cudaHostGetFlags(flags, ptr));
}

/* ---- copies ---- */

CUresult cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t bytes)
{
    VGPU_DRIVER(cudaMemcpy(P(dst), P(src), bytes, cudaMemcpyDefault));
}

CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream)
{
    VGPU_DRIVER(cudaMemcpyAsync(P(dst), P(src), bytes, cudaMemcpyDefault, stream));
}

CUresult cuMemcpyHtoD(CUdeviceptr dst, const void *src, size_t bytes)
{
    VGPU_DRIVER(cudaMemcpy(P(dst), src, bytes, cudaMemcpyHostToDevice));
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr dst, const void *src, size_t bytes, CUstream stream)
{
    VGPU_DRIVER(cudaMemcpyAsync(P(dst), src, bytes, cudaMemcpyHostToDevice, stream));
}

CUresult cuMemcpyDtoH(void *dst, CUdeviceptr src, size_t bytes)
{
    VGPU_DRIVER(cudaMemcpy(dst, P(src), bytes, cudaMemcpyDeviceToHost));
}

CUresult cuMemcpyDtoHAsync(void *dst, CUdeviceptr src, size_t bytes, CUstream stream)
{
    VGPU_DRIVER(cudaMemcpyAsync(dst, P(src), bytes, cudaMemcpyDeviceToHost, stream));
}

CUresult cuMemcpyDtoD(CUdeviceptr dst, CUdeviceptr src, size_t bytes)
{
    VGPU_DRIVER(cudaMemcpy(P(dst), P(src), bytes, cudaMemcpyDeviceToDevice));
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream)
{
    VGPU_DRIVER(cudaMemcpyAsync(P(dst), P(src), bytes, cudaMemcpyDeviceToDevice, stream));
}

/* 201 is CUDA_ERROR_INVALID_CONTEXT. */
static cudaError_t both(CUcontext to, CUcontext from)
{
    return vgpu__driver_is_context(to) && vgpu__driver_is_context(from)
               ? cudaSuccess
               : cudaErrorDeviceUninitialized;
}

CUresult cuMemcpyPeer(CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from, size_t bytes)
{
    VGPU_DRIVER(both(to, from) != cudaSuccess
                    ? cudaErrorDeviceUninitialized
                    : cudaMemcpyPeer(P(dst), to->device, P(src), from->device, bytes));
}

CUresult cuMemcpyPeerAsync(CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from,
                           size_t bytes, CUstream stream)
{
    VGPU_DRIVER(both(to, from) != cudaSuccess
                    ? cudaErrorDeviceUninitialized
                    : cudaMemcpyPeerAsync(P(dst), to->device, P(src), from->device, bytes, stream));
}

/* ---- memsets ---- */

static cudaError_t fill(const char *call, CUdeviceptr dst, uint32_t value, uint32_t width,
                        size_t count, CUstream stream, bool sync)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, width, &bytes) || dst % width != 0)
        return vgpu__refuse(cudaErrorInvalidValue, call,
                            "%zu values of %u bytes at %#llx; the address must be a multiple of "
                            "their size",
                            count, width, dst);
    struct vgpu_request *request = vgpu__begin(call, VGPU_OP_MEMSET);
    if (!request)
        return vgpu__failed();
    request->stream = vgpu__stream_id(stream);
    request->u.memset = (struct vgpu_memset){.dst = dst,
                                             .bytes = bytes,
                                             .rows = 1,
                                             .pitch = bytes,
                                             .value = value,
                                             .width = width,
                                             .sync = sync};
    return vgpu__end(NULL);
}

CUresult cuMemsetD8(CUdeviceptr dst, unsigned char value, size_t count)
{
    VGPU_DRIVER(fill("cuMemsetD8", dst, value, 1, count, NULL, true));
}

CUresult cuMemsetD16(CUdeviceptr dst, unsigned short value, size_t count)
{
    VGPU_DRIVER(fill("cuMemsetD16", dst, value, 2, count, NULL, true));
}

CUresult cuMemsetD32(CUdeviceptr dst, unsigned int value, size_t count)
{
    VGPU_DRIVER(fill("cuMemsetD32", dst, value, 4, count, NULL, true));
}

CUresult cuMemsetD8Async(CUdeviceptr dst, unsigned char value, size_t count, CUstream stream)
{
    VGPU_DRIVER(fill("cuMemsetD8Async", dst, value, 1, count, stream, false));
}

CUresult cuMemsetD16Async(CUdeviceptr dst, unsigned short value, size_t count, CUstream stream)
{
    VGPU_DRIVER(fill("cuMemsetD16Async", dst, value, 2, count, stream, false));
}

CUresult cuMemsetD32Async(CUdeviceptr dst, unsigned int value, size_t count, CUstream stream)
{
    VGPU_DRIVER(fill("cuMemsetD32Async", dst, value, 4, count, stream, false));
}

/* ---- pointers ---- */

/* What the node knows of `ptr`: kind 0 is nothing. */
static cudaError_t ask(const char *call, CUdeviceptr ptr, struct vgpu_pointer *out)
{
    const struct vgpu_reply *reply;
    struct vgpu_request *request = vgpu__begin(call, VGPU_OP_POINTER);
    if (!request)
        return vgpu__failed();
    request->ptr = ptr;
    cudaError_t error = vgpu__end(&reply);
    if (error == cudaSuccess)
        *out = reply->u.pointer;
    return error;
}

static cudaError_t address_range(CUdeviceptr *base, size_t *bytes, CUdeviceptr ptr)
{
    struct vgpu_pointer p = {0};
    cudaError_t error = ask("cuMemGetAddressRange", ptr, &p);
    if (error == cudaSuccess && p.kind == cudaMemoryTypeUnregistered)
        error = cudaErrorInvalidValue;
    if (error != cudaSuccess)
        return error;
    if (base)
        *base = p.base;
    if (bytes)
        *bytes = p.bytes;
    return cudaSuccess;
}

CUresult cuMemGetAddressRange(CUdeviceptr *base, size_t *bytes, CUdeviceptr ptr)
{
    VGPU_DRIVER(address_range(base, bytes, ptr));
}

static cudaError_t attribute(void *data, CUpointer_attribute which, CUdeviceptr ptr,
                             const struct vgpu_pointer *p)
{
    bool host = p->kind == cudaMemoryTypeHost;
    int device = vgpu__logical(host ? vgpu__host_owner(P(ptr)) : p->device);
    switch (which) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        *(CUcontext *)data = device >= 0 ? vgpu__driver_primary(device) : NULL;
        return cudaSuccess;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(unsigned int *)data = host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        return cudaSuccess;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        *(CUdeviceptr *)data = ptr;
        return cudaSuccess;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        *(void **)data = P(ptr);
        return p->kind == cudaMemoryTypeDevice ? cudaErrorInvalidValue : cudaSuccess;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        *(unsigned char *)data = p->kind == cudaMemoryTypeManaged;
        return cudaSuccess;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *(int *)data = device;
        return cudaSuccess;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        *(CUdeviceptr *)data = p->base;
        return cudaSuccess;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        *(size_t *)data = p->bytes;
        return cudaSuccess;
    case CU_POINTER_ATTRIBUTE_MAPPED:
        *(unsigned char *)data = 1;
        return cudaSuccess;
    default:
        return vgpu__refuse(cudaErrorNotSupported, "cuPointerGetAttribute",
                            "attribute %d is not modelled", (int)which);
    }
}

static cudaError_t get_attribute(void *data, CUpointer_attribute which, CUdeviceptr ptr)
{
    struct vgpu_pointer p = {0};
    if (!data)
        return cudaErrorInvalidValue;
    cudaError_t error = ask("cuPointerGetAttribute", ptr, &p);
    if (error == cudaSuccess && p.kind == cudaMemoryTypeUnregistered)
        error = cudaErrorInvalidValue;
    return error == cudaSuccess ? attribute(data, which, ptr, &p) : error;
}

CUresult cuPointerGetAttribute(void *data, CUpointer_attribute which, CUdeviceptr ptr)
{
    VGPU_DRIVER(get_attribute(data, which, ptr));
}

CUresult cuPointerGetAttributes(unsigned int count, CUpointer_attribute *which, void **data,
                                CUdeviceptr ptr)
{
    CUresult result = which && data && count ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    for (unsigned int i = 0; i < count && result == CUDA_SUCCESS; i++)
        result = cuPointerGetAttribute(data[i], which[i], ptr);
    return result;
}
