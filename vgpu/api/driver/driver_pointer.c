/* SPDX-License-Identifier: MIT
 * driver_pointer.c: queries about pointers in the driver API.
 */
#include "driver.h"

#define P(ptr) vgpu__driver_pointer(ptr)

/* Stores what the node knows about `ptr`; kind 0: it does not know it. */
static cudaError_t query_pointer(const char *call, CUdeviceptr ptr, struct vgpu_pointer *out)
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

/* A pointer is valid in a context if it is memory of its own, of an enabled peer, or opened in it.
 * Memory of a pool is valid only in contexts of the pool's GPU: pool access and peer access do not
 * count (recorded). */
static bool is_valid_in_context(const struct vgpu_pointer *p)
{
    int current;
    if (cudaGetDevice(&current) != cudaSuccess)
        return true;
    int from = vgpu__process.physical[current];
    return p->pool ? from == p->device : vgpu__pointer_reached(from, p);
}

static cudaError_t address_range(CUdeviceptr *base, size_t *bytes, CUdeviceptr ptr)
{
    struct vgpu_pointer p = {0};
    cudaError_t error = query_pointer("cuMemGetAddressRange", ptr, &p);
    if (error != cudaSuccess)
        return error;
    bool elsewhere = p.kind == cudaMemoryTypeDevice && !is_valid_in_context(&p);
    uint64_t first, size;
    if (p.kind == cudaMemoryTypeUnregistered && vgpu__host_range(P(ptr), &first, &size))
        p = (struct vgpu_pointer){.kind = cudaMemoryTypeHost, .base = first, .bytes = size};
    if (p.kind == cudaMemoryTypeUnregistered || elsewhere)
        return cudaErrorSymbolNotFound;
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

/* Rarely used attributes. Compression, tokens and other handle types are not supported. */
static cudaError_t rare_attribute(void *data, CUpointer_attribute which,
                                  const struct vgpu_pointer *p)
{
    bool plain = p->kind == cudaMemoryTypeDevice && !p->pool;
    switch (which) {
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: /* 1 for managed memory (recorded) */
        *(int *)data = p->kind == cudaMemoryTypeManaged;
        return cudaSuccess;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
        *(unsigned char *)data = plain;
        return cudaSuccess;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
        *(uint64_t *)data = 0;
        return cudaSuccess;
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        *(int *)data = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        return cudaSuccess;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        *(uint64_t *)data = p->pool;
        return cudaSuccess;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID: /* unique while the memory is allocated */
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
        *(uint64_t *)data = p->base;
        return cudaSuccess;
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
        *(size_t *)data = p->bytes;
        return cudaSuccess;
    default:
        return vgpu__refuse(cudaErrorInvalidValue, "cuPointerGetAttribute",
                            "attribute %d of pointers is not modelled, or does not exist",
                            (int)which);
    }
}

/* Memory of a pool belongs to no context (recorded), other memory to its device's primary context.
 */
static CUcontext context_of_pointer(const struct vgpu_pointer *p, int device)
{
    return device >= 0 && !p->pool ? vgpu__driver_primary(device) : NULL;
}

static cudaError_t pointer_attribute(void *data, CUpointer_attribute which, CUdeviceptr ptr,
                                     const struct vgpu_pointer *p)
{
    bool on_host = p->kind == cudaMemoryTypeHost;
    int device =
        vgpu__logical(p->kind == cudaMemoryTypeDevice ? p->device : vgpu__host_owner(P(ptr)));
    switch (which) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        *(CUcontext *)data = context_of_pointer(p, device);
        return cudaSuccess;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(unsigned int *)data = on_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        return cudaSuccess;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        *(CUdeviceptr *)data = ptr;
        return cudaSuccess;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        if (p->kind == cudaMemoryTypeDevice)
            return cudaErrorInvalidValue;
        *(void **)data = P(ptr);
        return cudaSuccess;
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
        return rare_attribute(data, which, p);
    }
}

/* For an unknown pointer, cuPointerGetAttributes stores 0 for every attribute and -2 for the device
 * (recorded). */
static cudaError_t unknown_pointer(void *data, CUpointer_attribute which)
{
    switch (which) {
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *(int *)data = CU_DEVICE_INVALID;
        return cudaSuccess;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        *(int *)data = 0;
        return cudaSuccess;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_MAPPED:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
        *(unsigned char *)data = 0;
        return cudaSuccess;
    default:
        if ((int)which < CU_POINTER_ATTRIBUTE_CONTEXT ||
            which > CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID)
            return cudaErrorInvalidValue;
        *(uint64_t *)data = 0;
        return cudaSuccess;
    }
}

/* `each`: called for cuPointerGetAttributes, which accepts unknown pointers. */
static cudaError_t get_pointer_attribute(void *data, CUpointer_attribute which, CUdeviceptr ptr,
                                         bool each)
{
    struct vgpu_pointer p = {0};
    if (!data)
        return cudaErrorInvalidValue;
    cudaError_t error = query_pointer("cuPointerGetAttribute", ptr, &p);
    if (error != cudaSuccess)
        return error;
    if (p.kind == cudaMemoryTypeUnregistered)
        return each ? unknown_pointer(data, which) : cudaErrorInvalidValue;
    return pointer_attribute(data, which, ptr, &p);
}

CUresult cuPointerGetAttribute(void *data, CUpointer_attribute which, CUdeviceptr ptr)
{
    VGPU_DRIVER(get_pointer_attribute(data, which, ptr, false));
}

static cudaError_t get_pointer_attributes(unsigned int count, const CUpointer_attribute *which,
                                          void **data, CUdeviceptr ptr)
{
    cudaError_t error = which && data && count ? cudaSuccess : cudaErrorInvalidValue;
    for (unsigned int i = 0; i < count && error == cudaSuccess; i++)
        error = get_pointer_attribute(data[i], which[i], ptr, true);
    return error;
}

CUresult cuPointerGetAttributes(unsigned int count, CUpointer_attribute *which, void **data,
                                CUdeviceptr ptr)
{
    VGPU_DRIVER(get_pointer_attributes(count, which, data, ptr));
}
