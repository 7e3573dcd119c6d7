/* SPDX-License-Identifier: MIT
 * driver_memory.c: allocations, copies and memsets of the driver API.
 */
#include "driver.h"

#define P(ptr) vgpu__driver_pointer(ptr)

/* ---- allocations ---- */

/* Unlike cudaMalloc, it refuses 0 bytes. */
CUresult cuMemAlloc(CUdeviceptr *ptr, size_t bytes)
{
    VGPU_DRIVER(ptr && bytes ? cudaMalloc((void **)ptr, bytes) : cudaErrorInvalidValue);
}

CUresult cuMemFree(CUdeviceptr ptr)
{
    VGPU_DRIVER_OF(ptr ? VGPU__NEED_CONTEXT : VGPU__NEED_INIT,
                   ptr ? cudaFree(P(ptr)) : cudaSuccess);
}

CUresult cuMemGetInfo(size_t *free, size_t *total)
{
    VGPU_DRIVER(cudaMemGetInfo(free, total));
}

CUresult cuMemAllocHost(void **ptr, size_t bytes)
{
    VGPU_DRIVER(cudaMallocHost(ptr, bytes));
}

CUresult cuMemFreeHost(void *ptr)
{
    VGPU_DRIVER(cudaFreeHost(ptr));
}

CUresult cuMemHostAlloc(void **ptr, size_t bytes, unsigned int flags)
{
    VGPU_DRIVER(cudaHostAlloc(ptr, bytes, flags));
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

/* Stores the context's device; a null context means the current one (recorded). False: not a
 * context. */
static bool context_device(CUcontext context, int *device)
{
    bool known = !context || vgpu__driver_is_context(context);
    if (known)
        *device = (context ? context : vgpu__driver_current())->device;
    return known;
}

/* Returns 201 (CUDA_ERROR_INVALID_CONTEXT) if either is not a context. */
static cudaError_t copy_between_contexts(CUdeviceptr dst, CUcontext to, CUdeviceptr src,
                                         CUcontext from, size_t bytes)
{
    int there, here;
    if (!context_device(to, &there) || !context_device(from, &here))
        return cudaErrorDeviceUninitialized;
    return cudaMemcpyPeer(P(dst), there, P(src), here, bytes);
}

CUresult cuMemcpyPeer(CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from, size_t bytes)
{
    VGPU_DRIVER(copy_between_contexts(dst, to, src, from, bytes));
}

static cudaError_t copy_peer_async(CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from,
                                   size_t bytes, CUstream stream)
{
    int there, here;
    if (!context_device(to, &there) || !context_device(from, &here))
        return cudaErrorDeviceUninitialized;
    return cudaMemcpyPeerAsync(P(dst), there, P(src), here, bytes, stream);
}

CUresult cuMemcpyPeerAsync(CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from,
                           size_t bytes, CUstream stream)
{
    VGPU_DRIVER(copy_peer_async(dst, to, src, from, bytes, stream));
}

/* ---- memsets ---- */

static cudaError_t fill_words(const char *call, CUdeviceptr dst, uint32_t value, uint32_t width,
                              size_t count, CUstream stream, bool sync)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, width, &bytes) || (count > 0 && dst % width != 0))
        return vgpu__refuse(cudaErrorInvalidValue, call,
                            "%zu values of %u bytes at %#llx; the address must be a multiple of "
                            "their size",
                            count, width, dst);
    struct memset_call set = {P(dst), bytes, count, 1, .value = value, .element_bytes = width};
    return vgpu__fill(call, &set, stream, sync);
}

CUresult cuMemsetD8(CUdeviceptr dst, unsigned char value, size_t count)
{
    VGPU_DRIVER(fill_words("cuMemsetD8", dst, value, 1, count, NULL, true));
}

CUresult cuMemsetD16(CUdeviceptr dst, unsigned short value, size_t count)
{
    VGPU_DRIVER(fill_words("cuMemsetD16", dst, value, 2, count, NULL, true));
}

CUresult cuMemsetD32(CUdeviceptr dst, unsigned int value, size_t count)
{
    VGPU_DRIVER(fill_words("cuMemsetD32", dst, value, 4, count, NULL, true));
}

CUresult cuMemsetD8Async(CUdeviceptr dst, unsigned char value, size_t count, CUstream stream)
{
    VGPU_DRIVER(fill_words("cuMemsetD8Async", dst, value, 1, count, stream, false));
}

CUresult cuMemsetD16Async(CUdeviceptr dst, unsigned short value, size_t count, CUstream stream)
{
    VGPU_DRIVER(fill_words("cuMemsetD16Async", dst, value, 2, count, stream, false));
}

CUresult cuMemsetD32Async(CUdeviceptr dst, unsigned int value, size_t count, CUstream stream)
{
    VGPU_DRIVER(fill_words("cuMemsetD32Async", dst, value, 4, count, stream, false));
}
