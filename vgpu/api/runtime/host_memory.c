/* SPDX-License-Identifier: MIT
 * host_memory.c: pinned host memory. The node allocates ranges of the process's host memfd and
 * chooses their addresses; the process maps each range at that address, so that a pointer is valid
 * in host code and in kernels alike. host_ranges.c keeps the table of mapped ranges.
 */
#include "runtime.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

bool vgpu__range_unmap(const struct vgpu__range *r)
{
    vgpu__guard_drop(r->address, r->bytes);
    if (vgpu__range_is_registered(r))
        return vgpu__range_take_home(r);
    return munmap((void *)(uintptr_t)r->address, vgpu__whole_pages(r->bytes)) == 0;
}

/* The node's reply is ignored, since the call in progress has a result of its own. */
void vgpu__range_give_back(const char *call, uint64_t address)
{
    struct vgpu_request *request = vgpu__begin(call, VGPU_OP_HOST_FREE);
    if (request) {
        request->ptr = address;
        vgpu__ask(-1, true, NULL);
    }
}

void vgpu__host_forget(int physical)
{
    struct vgpu__range *r;
    while ((r = vgpu__range_take_of(physical)) != NULL) {
        if (vgpu__range_unmap(r)) /* otherwise the process and the node keep the range */
            vgpu__range_give_back("cudaDeviceReset",
                                  r->node / vgpu__page_bytes() * vgpu__page_bytes());
        free(r);
    }
}

static cudaError_t remember_range(const char *call, struct vgpu__range range)
{
    struct vgpu__range *r = malloc(sizeof *r);
    if (!r)
        return vgpu__no_memory(call);
    if (!vgpu__map_host(range.address, range.bytes)) {
        free(r);
        return cudaErrorOperatingSystem;
    }
    vgpu__range_add(r, range);
    return cudaSuccess;
}

cudaError_t vgpu__host_allocate(const char *call, void **ptr, size_t bytes, unsigned int flags,
                                bool managed)
{
    const struct vgpu_reply *reply;
    struct vgpu_request *request = vgpu__begin(call, VGPU_OP_HOST_ALLOC);
    if (!request)
        return vgpu__failed();
    int physical = request->device;
    request->bytes = bytes;
    request->flags = flags;
    request->value = managed ? VGPU_HOST_MANAGED : VGPU_HOST_PINNED;
    cudaError_t error = vgpu__end(&reply);
    if (error != cudaSuccess)
        return error;
    uint64_t address = reply->value;
    if (address == 0) {
        *ptr = NULL; /* 0 bytes */
        return cudaSuccess;
    }
    error = remember_range(
        call, (struct vgpu__range){address, bytes, physical, flags, managed, address, NULL});
    if (error == cudaSuccess)
        *ptr = (void *)(uintptr_t)address;
    else
        vgpu__range_give_back(call, address);
    return vgpu__record(error);
}

static cudaError_t allocate_pinned(const char *call, void **ptr, size_t bytes, unsigned int flags)
{
    if (!ptr || (flags & ~(unsigned int)(cudaHostAllocPortable | cudaHostAllocMapped |
                                         cudaHostAllocWriteCombined)))
        return vgpu__begin(call, VGPU_OP_CONTEXT) ? vgpu__record(cudaErrorInvalidValue)
                                                  : vgpu__failed();
    return vgpu__host_allocate(call, ptr, bytes, flags | cudaHostAllocMapped,
                               false); /* memory is always mapped */
}

cudaError_t cudaMallocHost(void **ptr, size_t size)
{
    return allocate_pinned("cudaMallocHost", ptr, size, cudaHostAllocDefault);
}

cudaError_t cudaHostAlloc(void **pHost, size_t size, unsigned int flags)
{
    return allocate_pinned("cudaHostAlloc", pHost, size, flags);
}

/* The pages are unmapped before the node gets the range back, since the node may then allocate it
 * to another thread, which maps it. A pointer that is not in the table is sent, too: the node
 * returns the right error. */
cudaError_t vgpu__host_free(const char *call, void *ptr)
{
    struct vgpu_request *request = vgpu__begin(call, ptr ? VGPU_OP_HOST_FREE : VGPU_OP_CONTEXT);
    if (!request)
        return vgpu__failed();
    request->ptr = (uint64_t)(uintptr_t)ptr;
    struct vgpu__range *r = ptr ? vgpu__range_take(request->ptr, false) : NULL;
    if (r && !vgpu__range_unmap(r)) {
        vgpu__range_add(r, *r);
        return vgpu__refuse(cudaErrorMemoryAllocation, call, "%p cannot be unmapped: %s", ptr,
                            strerror(errno));
    }
    free(r);
    return vgpu__end(NULL);
}

cudaError_t cudaFreeHost(void *ptr)
{
    if (vgpu__managed(ptr, 0))
        return vgpu__refuse(cudaErrorInvalidValue, "cudaFreeHost",
                            "%p is managed memory: give it back with cudaFree", ptr);
    return vgpu__host_free("cudaFreeHost", ptr);
}

/* ---- queries ---- */

static cudaError_t check_host_pointer(const char *call, const void *pointer, unsigned int *flags)
{
    cudaError_t error = vgpu__enter_call(call);
    if (error == cudaSuccess && atomic_load(&vgpu__process.forked))
        error = cudaErrorInitializationError;
    if (error != cudaSuccess)
        return vgpu__record(error);
    if (!vgpu__host_flags(pointer, flags))
        return vgpu__refuse(cudaErrorInvalidValue, call,
                            "%p is not pinned host memory of this process; it must come from "
                            "cudaMallocHost or cudaHostAlloc",
                            pointer);
    return cudaSuccess;
}

cudaError_t cudaHostGetDevicePointer(void **pDevice, void *pHost, unsigned int flags)
{
    unsigned int unused;
    if (!pDevice || flags != 0)
        return vgpu__record(cudaErrorInvalidValue);
    cudaError_t error = check_host_pointer("cudaHostGetDevicePointer", pHost, &unused);
    if (error == cudaSuccess && vgpu__managed(pHost, 1))
        return vgpu__refuse(cudaErrorInvalidValue, "cudaHostGetDevicePointer",
                            "%p is managed memory: its address is the devices' already", pHost);
    if (error == cudaSuccess)
        *pDevice = pHost; /* the same address for host and devices */
    return error;
}

cudaError_t cudaHostGetFlags(unsigned int *pFlags, void *pHost)
{
    unsigned int flags;
    if (!pFlags)
        return vgpu__record(cudaErrorInvalidValue);
    cudaError_t error = check_host_pointer("cudaHostGetFlags", pHost, &flags);
    if (error == cudaSuccess)
        *pFlags = flags;
    return error;
}
