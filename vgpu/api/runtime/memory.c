/* SPDX-License-Identifier: MIT
 * memory.c: allocation of device memory, and pointer attributes.
 */
#include "runtime.h"

#include <string.h>

#define PITCH_ALIGNMENT 512

cudaError_t vgpu__device_allocate(const char *call, void **ptr, size_t bytes)
{
    const struct vgpu_reply *reply;
    struct vgpu_request *request = vgpu__begin(call, VGPU_OP_MALLOC);
    if (!request)
        return vgpu__failed();
    if (!ptr)
        return vgpu__record(cudaErrorInvalidValue);
    request->bytes = bytes;
    cudaError_t error = vgpu__end(&reply);
    if (error != cudaSuccess)
        return error;
    *ptr = (void *)(uintptr_t)reply->value;
    vgpu__allocated(reply->value, bytes);
    return error;
}

/* 0 bytes: nothing is allocated, *devPtr becomes NULL, and the call succeeds (recorded). */
cudaError_t cudaMalloc(void **devPtr, size_t size)
{
    return vgpu__device_allocate("cudaMalloc", devPtr, size);
}

cudaError_t cudaMallocPitch(void **devPtr, size_t *pitch, size_t width, size_t height)
{
    size_t row = (width + PITCH_ALIGNMENT - 1) / PITCH_ALIGNMENT * PITCH_ALIGNMENT;
    size_t bytes;
    if (!pitch || row < width || __builtin_mul_overflow(row, height, &bytes))
        return vgpu__record(cudaErrorInvalidValue);
    cudaError_t error = vgpu__device_allocate("cudaMallocPitch", devPtr, bytes);
    if (error == cudaSuccess)
        *pitch = bytes ? row : 0; /* recorded (boxes.txt) */
    return error;
}

cudaError_t vgpu__device_free(const char *call, void *ptr)
{
    if (vgpu__graph_frees(ptr, 0))
        return cudaDeviceSynchronize();
    struct vgpu_request *request = vgpu__begin(call, ptr ? VGPU_OP_FREE : VGPU_OP_CONTEXT);
    if (!request)
        return vgpu__failed();
    request->ptr = (uint64_t)(uintptr_t)ptr;
    cudaError_t error = vgpu__end(NULL);
    if (error == cudaSuccess)
        vgpu__freed((uint64_t)(uintptr_t)ptr);
    return error;
}

/* cudaFree(0) makes the context; programs use it for that. */
cudaError_t cudaFree(void *devPtr)
{
    if (vgpu__find_managed(devPtr))
        return vgpu__refuse(cudaErrorInvalidValue, "cudaFree",
                            "%p is a __managed__ variable, which cannot be freed", devPtr);
    if (vgpu__managed(devPtr, 0))
        return vgpu__host_free("cudaFree", devPtr);
    return vgpu__device_free("cudaFree", devPtr);
}

cudaError_t cudaMemGetInfo(size_t *free, size_t *total)
{
    const struct vgpu_reply *reply;
    if (!vgpu__begin("cudaMemGetInfo", VGPU_OP_MEM_INFO))
        return vgpu__failed();
    cudaError_t error = vgpu__end(&reply);
    if (error != cudaSuccess)
        return error;
    if (free)
        *free = reply->value;
    if (total)
        *total = reply->value2;
    return cudaSuccess;
}

/* ---- pointers ---- */

/* True if kernels on the physical GPU `from` may access memory of `owner`. */
static bool peer_reaches(int from, int owner)
{
    return from == owner || (owner >= 0 && owner < VGPU_MAX_DEVICES &&
                             atomic_load(&vgpu__process.peer_enabled[from][owner]));
}

bool vgpu__pointer_reached(int from, const struct vgpu_pointer *p)
{
    return from >= 0 && ((p->allowed >> from & 1) || (!p->pool && peer_reaches(from, p->device)));
}

/* Mapped memory has a device pointer on the GPUs given to cuMemSetAccess, and on the GPU it lies on
 * only if that was given, too (recorded). */
static bool has_device_pointer(int from, const struct vgpu_pointer *p)
{
    bool mapped = p->allowed && !p->pool;
    return mapped ? from >= 0 && p->allowed >> from & 1 : vgpu__pointer_reached(from, p);
}

static void describe_pointer(struct cudaPointerAttributes *a, const void *ptr,
                             const struct vgpu_pointer *pointer)
{
    int from = vgpu__process.physical[vgpu__self.device];
    a->type = (enum cudaMemoryType)pointer->kind;
    a->device = vgpu__logical(pointer->kind == cudaMemoryTypeDevice ? pointer->device
                                                                    : vgpu__host_owner(ptr));
    if (a->type == cudaMemoryTypeDevice) {
        a->devicePointer = has_device_pointer(from, pointer) ? (void *)ptr : NULL;
        a->hostPointer = NULL;
    } else {
        a->devicePointer = a->hostPointer = (void *)ptr;
    }
}

/* Host memory unknown to CUDA is no error: the type is 0 and the device -2 (recorded). */
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *ptr)
{
    const struct vgpu_reply *reply;
    struct vgpu_request *request = vgpu__begin("cudaPointerGetAttributes", VGPU_OP_POINTER);
    if (!request)
        return vgpu__failed();
    if (!attributes)
        return vgpu__record(cudaErrorInvalidValue);
    request->ptr = vgpu__node_address(ptr);
    cudaError_t error = vgpu__end(&reply);
    if (error != cudaSuccess)
        return error;
    memset(attributes, 0, sizeof *attributes);
    if (reply->u.pointer.kind != cudaMemoryTypeUnregistered) {
        describe_pointer(attributes, ptr, &reply->u.pointer);
    } else {
        attributes->device = cudaInvalidDeviceId;
        attributes->hostPointer = (void *)ptr;
    }
    return cudaSuccess;
}
