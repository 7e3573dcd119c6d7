/* SPDX-License-Identifier: MIT
 * driver_vmm.c: virtual memory management. The node keeps allocations, address ranges and mappings;
 * this file checks CUDA's structures and passes file descriptors on.
 */
#include "driver.h"

#include <string.h>
#include <unistd.h>

#define VMM(expression) VGPU_DRIVER_OF(VGPU__NEED_INIT, expression)

/* ---- properties of allocations ---- */

static cudaError_t check_allocation_prop(const char *call, const CUmemAllocationProp *prop)
{
    if (!prop)
        return cudaErrorInvalidValue;
    if (prop->type != CU_MEM_ALLOCATION_TYPE_PINNED ||
        prop->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return vgpu__refuse(cudaErrorInvalidValue, call,
                            "type %d at a location of type %d: only pinned memory of a device "
                            "(CU_MEM_ALLOCATION_TYPE_PINNED, CU_MEM_LOCATION_TYPE_DEVICE) exists",
                            (int)prop->type, (int)prop->location.type);
    const unsigned int offered =
        CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR | (unsigned int)CU_MEM_HANDLE_TYPE_FABRIC;
    if (prop->requestedHandleTypes & ~offered)
        return vgpu__refuse(cudaErrorNotSupported, call,
                            "handle types %#x: only CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR and "
                            "CU_MEM_HANDLE_TYPE_FABRIC exist",
                            (unsigned int)prop->requestedHandleTypes);
    return cudaSuccess;
}

static cudaError_t get_granularity(size_t *bytes, const CUmemAllocationProp *prop,
                                   CUmemAllocationGranularity_flags option)
{
    if (!bytes || (option != CU_MEM_ALLOC_GRANULARITY_MINIMUM &&
                   option != CU_MEM_ALLOC_GRANULARITY_RECOMMENDED))
        return cudaErrorInvalidValue;
    cudaError_t error = check_allocation_prop("cuMemGetAllocationGranularity", prop);
    if (error == cudaSuccess)
        *bytes = vgpu__device_exists(prop->location.id)
                     ? (size_t)vgpu__device_info(prop->location.id)->vmm_granule
                     : VGPU_CHUNK_BYTES;
    return error;
}

CUresult cuMemGetAllocationGranularity(size_t *bytes, const CUmemAllocationProp *prop,
                                       CUmemAllocationGranularity_flags option)
{
    VMM(get_granularity(bytes, prop, option));
}

/* ---- allocations ---- */

static cudaError_t create_handle(CUmemGenericAllocationHandle *handle, size_t bytes,
                                 const CUmemAllocationProp *prop, unsigned long long flags)
{
    const struct vgpu_reply *reply;
    if (!handle || flags != 0)
        return cudaErrorInvalidValue;
    /* The size is checked before the device. */
    if (prop && (bytes == 0 || bytes % VGPU_CHUNK_BYTES != 0))
        return vgpu__refuse(cudaErrorInvalidValue, "cuMemCreate",
                            "%zu bytes are not a multiple of the granularity; round up to 2 MiB "
                            "(cuMemGetAllocationGranularity)",
                            bytes);
    cudaError_t error = check_allocation_prop("cuMemCreate", prop);
    if (error == cudaSuccess && !vgpu__device_exists(prop->location.id))
        error = vgpu__refuse(cudaErrorInvalidDevice, "cuMemCreate",
                             "there is no device %d; this process sees %d", prop->location.id,
                             vgpu__process.device_count);
    if (error != cudaSuccess)
        return error;
    struct vgpu_request *request = vgpu__begin("cuMemCreate", VGPU_OP_VMM_CREATE);
    if (!request)
        return vgpu__failed();
    request->device = vgpu__process.physical[prop->location.id];
    request->bytes = bytes;
    request->flags = (uint32_t)prop->requestedHandleTypes;
    error = vgpu__end(&reply);
    if (error == cudaSuccess)
        *handle = reply->value;
    return error;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t bytes,
                     const CUmemAllocationProp *prop, unsigned long long flags)
{
    VMM(create_handle(handle, bytes, prop, flags));
}

static cudaError_t send_handle_request(const char *call, uint32_t op,
                                       CUmemGenericAllocationHandle handle,
                                       const struct vgpu_reply **reply)
{
    struct vgpu_request *request = vgpu__begin(call, op);
    if (!request)
        return vgpu__failed();
    request->value = handle;
    return vgpu__end(reply);
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
    VMM(send_handle_request("cuMemRelease", VGPU_OP_VMM_RELEASE, handle, NULL));
}

static cudaError_t get_handle_properties(CUmemAllocationProp *prop,
                                         CUmemGenericAllocationHandle handle)
{
    const struct vgpu_reply *reply;
    if (!prop)
        return cudaErrorInvalidValue;
    cudaError_t error = send_handle_request("cuMemGetAllocationPropertiesFromHandle",
                                            VGPU_OP_VMM_INFO, handle, &reply);
    if (error != cudaSuccess)
        return error;
    *prop = (CUmemAllocationProp){
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .requestedHandleTypes = (CUmemAllocationHandleType)reply->value2,
        .location = {CU_MEM_LOCATION_TYPE_DEVICE, vgpu__logical((int)reply->value)}};
    return cudaSuccess;
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *prop,
                                                CUmemGenericAllocationHandle handle)
{
    VMM(get_handle_properties(prop, handle));
}

static cudaError_t retain_handle(CUmemGenericAllocationHandle *handle, void *address)
{
    const struct vgpu_reply *reply;
    struct vgpu_request *request = vgpu__begin("cuMemRetainAllocationHandle", VGPU_OP_VMM_RETAIN);
    if (!request)
        return vgpu__failed();
    if (!handle)
        return cudaErrorInvalidValue;
    request->ptr = (uint64_t)(uintptr_t)address;
    cudaError_t error = vgpu__end(&reply);
    if (error == cudaSuccess)
        *handle = reply->value;
    return error;
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *address)
{
    VMM(retain_handle(handle, address));
}

/* ---- descriptors ---- */

/* The allocation exists until the last copy of the descriptor is closed. */
static cudaError_t export_descriptor(const char *call, int *out)
{
    int fd = -1, count = 1;
    cudaError_t error = vgpu__ask_fds(&fd, &count);
    if (error == cudaSuccess && count != 1)
        error = vgpu__descriptor_missing(call);
    if (error == cudaSuccess) {
        *out = fd;
        vgpu__descriptor_given(fd);
    }
    return error;
}

/* A fabric handle is bytes, which do not keep the allocation. */
static cudaError_t export_fabric(CUmemFabricHandle *out)
{
    const struct vgpu_reply *reply;
    cudaError_t error = vgpu__end(&reply);
    if (error == cudaSuccess)
        memcpy(out, reply->data, sizeof *out);
    return error;
}

static cudaError_t export_handle(void *out, CUmemGenericAllocationHandle handle,
                                 CUmemAllocationHandleType type, unsigned long long flags)
{
    static const char call[] = "cuMemExportToShareableHandle";
    if (!out || flags != 0 ||
        (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR && type != CU_MEM_HANDLE_TYPE_FABRIC))
        return vgpu__refuse(cudaErrorInvalidValue, call,
                            "handle type %d: give CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR and the "
                            "address of an int, or CU_MEM_HANDLE_TYPE_FABRIC and that of a "
                            "CUmemFabricHandle, and flags 0",
                            (int)type);
    struct vgpu_request *request = vgpu__begin(call, VGPU_OP_VMM_EXPORT);
    if (!request)
        return vgpu__failed();
    request->value = handle;
    request->flags = (uint32_t)type;
    return type == CU_MEM_HANDLE_TYPE_FABRIC ? export_fabric(out) : export_descriptor(call, out);
}

CUresult cuMemExportToShareableHandle(void *out, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType type, unsigned long long flags)
{
    VMM(export_handle(out, handle, type, flags));
}

static cudaError_t import_descriptor(const char *call, int fd, const struct vgpu_reply **reply)
{
    int copy = vgpu__descriptor_copy(call, fd);
    if (copy < 0)
        return vgpu__failed();
    cudaError_t error =
        vgpu__begin(call, VGPU_OP_VMM_IMPORT) ? vgpu__ask(copy, false, reply) : vgpu__failed();
    close(copy);
    return error;
}

static cudaError_t import_fabric(const char *call, const CUmemFabricHandle *from,
                                 const struct vgpu_reply **reply)
{
    struct vgpu_request *request = vgpu__begin(call, VGPU_OP_VMM_IMPORT);
    if (!request)
        return vgpu__failed();
    memcpy(request->data, from, sizeof *from);
    request->data_bytes = sizeof *from;
    return vgpu__end(reply);
}

static cudaError_t import_handle(CUmemGenericAllocationHandle *handle, void *from,
                                 CUmemAllocationHandleType type)
{
    static const char call[] = "cuMemImportFromShareableHandle";
    const struct vgpu_reply *reply;
    bool fabric = type == CU_MEM_HANDLE_TYPE_FABRIC;
    if (!handle || !from || (!fabric && type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR))
        return cudaErrorInvalidValue; /* descriptor 0 is a null pointer, which is refused (recorded:
                                         [vmm]) */
    cudaError_t error = fabric ? import_fabric(call, from, &reply)
                               : import_descriptor(call, (int)(intptr_t)from, &reply);
    if (error == cudaSuccess)
        *handle = reply->value;
    return error;
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *descriptor,
                                        CUmemAllocationHandleType type)
{
    VMM(import_handle(handle, descriptor, type));
}

/* ---- address ranges ---- */

static struct vgpu_request *begin_range_request(const char *call, uint32_t op, CUdeviceptr ptr,
                                                size_t bytes)
{
    struct vgpu_request *request = vgpu__begin(call, op);
    if (request) {
        request->ptr = ptr;
        request->bytes = bytes;
    }
    return request;
}

/* The requested address (`hint`) is ignored, which CUDA permits; ranges are aligned to the
 * granularity. */
static cudaError_t reserve_range(CUdeviceptr *ptr, size_t bytes, size_t alignment,
                                 unsigned long long flags)
{
    static const char call[] = "cuMemAddressReserve";
    const struct vgpu_reply *reply;
    if (!ptr || flags != 0 || (alignment & (alignment - 1)) || alignment > VGPU_DEVICE_STRIDE)
        return vgpu__refuse(cudaErrorInvalidValue, call,
                            "alignment %zu and flags %llu: alignments are powers of two up to "
                            "1 TiB, flags 0",
                            alignment, flags);
    struct vgpu_request *request = begin_range_request(call, VGPU_OP_VMM_RESERVE, 0, bytes);
    if (!request)
        return vgpu__failed();
    request->value = alignment;
    cudaError_t error = vgpu__end(&reply);
    if (error == cudaSuccess)
        *ptr = reply->value;
    return error;
}

CUresult cuMemAddressReserve(CUdeviceptr *ptr, size_t bytes, size_t alignment, CUdeviceptr hint,
                             unsigned long long flags)
{
    (void)hint;
    VMM(reserve_range(ptr, bytes, alignment, flags));
}

CUresult cuMemAddressFree(CUdeviceptr ptr, size_t bytes)
{
    VMM(begin_range_request("cuMemAddressFree", VGPU_OP_VMM_FREE, ptr, bytes) ? vgpu__end(NULL)
                                                                              : vgpu__failed());
}

static cudaError_t map_allocation_handle(CUdeviceptr ptr, size_t bytes, size_t offset,
                                         CUmemGenericAllocationHandle handle,
                                         unsigned long long flags)
{
    struct vgpu_request *request = begin_range_request("cuMemMap", VGPU_OP_VMM_MAP, ptr, bytes);
    if (!request)
        return vgpu__failed();
    if (flags != 0)
        return cudaErrorInvalidValue;
    request->value = handle;
    request->event = offset;
    return vgpu__end(NULL);
}

CUresult cuMemMap(CUdeviceptr ptr, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags)
{
    VMM(map_allocation_handle(ptr, bytes, offset, handle, flags));
}

CUresult cuMemUnmap(CUdeviceptr ptr, size_t bytes)
{
    VMM(begin_range_request("cuMemUnmap", VGPU_OP_VMM_UNMAP, ptr, bytes) ? vgpu__end(NULL)
                                                                         : vgpu__failed());
}

static cudaError_t set_mapping_access(CUdeviceptr ptr, size_t bytes, const CUmemAccessDesc *list,
                                      size_t count)
{
    static const char call[] = "cuMemSetAccess";
    cudaError_t error = list && count ? cudaSuccess : cudaErrorInvalidValue;
    for (size_t i = 0; i < count && error == cudaSuccess; i++)
        if (list[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE)
            error =
                vgpu__refuse(cudaErrorInvalidValue, call,
                             "entry %zu: only locations of type CU_MEM_LOCATION_TYPE_DEVICE", i);
        else if (!vgpu__device_exists(list[i].location.id))
            error = vgpu__refuse(cudaErrorInvalidValue, call, "entry %zu: there is no device %d", i,
                                 list[i].location.id);
    for (size_t i = 0; i < count && error == cudaSuccess; i++) {
        struct vgpu_request *request = begin_range_request(call, VGPU_OP_VMM_ACCESS, ptr, bytes);
        if (!request)
            return vgpu__failed();
        request->device = vgpu__process.physical[list[i].location.id];
        request->flags = (uint32_t)list[i].flags;
        error = vgpu__end(NULL);
    }
    return error;
}

CUresult cuMemSetAccess(CUdeviceptr ptr, size_t bytes, const CUmemAccessDesc *list, size_t count)
{
    VMM(set_mapping_access(ptr, bytes, list, count));
}

static cudaError_t get_mapping_access(unsigned long long *flags, const CUmemLocation *location,
                                      CUdeviceptr ptr)
{
    const struct vgpu_reply *reply;
    if (!flags || !location || location->type != CU_MEM_LOCATION_TYPE_DEVICE)
        return cudaErrorInvalidValue;
    if (!vgpu__device_exists(location->id))
        return cudaErrorInvalidDevice;
    struct vgpu_request *request =
        begin_range_request("cuMemGetAccess", VGPU_OP_VMM_GET_ACCESS, ptr, 0);
    if (!request)
        return vgpu__failed();
    request->device = vgpu__process.physical[location->id];
    cudaError_t error = vgpu__end(&reply);
    if (error == cudaSuccess)
        *flags = reply->value;
    return error;
}

CUresult cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr ptr)
{
    VMM(get_mapping_access(flags, location, ptr));
}
