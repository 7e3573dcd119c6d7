/* SPDX-License-Identifier: MIT
 * pool_share.c: memory pools shared between processes. A pool is exported as a file descriptor, a
 * pointer into it as 64 bytes that the node generates.
 */
#include "runtime.h"

#include <string.h>
#include <unistd.h>

_Static_assert(sizeof(struct cudaMemPoolPtrExportData) == CUDA_IPC_HANDLE_SIZE, "64 bytes");

static cudaError_t wrong_type(const char *call, enum cudaMemAllocationHandleType type,
                              unsigned int flags)
{
    return vgpu__refuse(cudaErrorInvalidValue, call,
                        "handle type %d and flags %u: give cudaMemHandleTypePosixFileDescriptor, "
                        "the address of an int, and flags 0",
                        (int)type, flags);
}

/* The descriptor identifies the pool to the node and contains no memory itself. */
cudaError_t cudaMemPoolExportToShareableHandle(void *shareableHandle, cudaMemPool_t memPool,
                                               enum cudaMemAllocationHandleType handleType,
                                               unsigned int flags)
{
    static const char call[] = "cudaMemPoolExportToShareableHandle";
    int fd = -1, count = 1;
    struct vgpu_request *request = vgpu__begin(call, VGPU_OP_POOL_EXPORT);
    if (!request)
        return vgpu__failed();
    if (!shareableHandle || handleType != cudaMemHandleTypePosixFileDescriptor || flags != 0)
        return wrong_type(call, handleType, flags);
    request->value = (uint64_t)(uintptr_t)memPool;
    cudaError_t error = vgpu__ask_fds(&fd, &count);
    if (error == cudaSuccess && count != 1)
        return vgpu__descriptor_missing("cudaMemPoolExportToShareableHandle");
    if (error == cudaSuccess) {
        *(int *)shareableHandle = fd;
        vgpu__descriptor_given(fd);
    }
    return vgpu__record(error);
}

cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t *memPool, void *shareableHandle,
                                                 enum cudaMemAllocationHandleType handleType,
                                                 unsigned int flags)
{
    static const char call[] = "cudaMemPoolImportFromShareableHandle";
    const struct vgpu_reply *reply;
    int fd = (int)(intptr_t)shareableHandle;
    if (!vgpu__begin(call, VGPU_OP_POOL_IMPORT))
        return vgpu__failed();
    if (!memPool || handleType != cudaMemHandleTypePosixFileDescriptor || flags != 0)
        return wrong_type(call, handleType, flags);
    int copy = vgpu__descriptor_copy(call, fd);
    if (copy < 0)
        return vgpu__failed();
    cudaError_t error = vgpu__ask(copy, false, &reply);
    close(copy);
    if (error == cudaSuccess)
        *memPool = (cudaMemPool_t)(uintptr_t)reply->value;
    return vgpu__record(error);
}

cudaError_t cudaMemPoolExportPointer(struct cudaMemPoolPtrExportData *exportData, void *ptr)
{
    const struct vgpu_reply *reply;
    struct vgpu_request *request = vgpu__begin("cudaMemPoolExportPointer", VGPU_OP_POOL_EXPORT_PTR);
    if (!request)
        return vgpu__failed();
    if (!exportData)
        return vgpu__record(cudaErrorInvalidValue);
    request->ptr = (uint64_t)(uintptr_t)ptr;
    cudaError_t error = vgpu__end(&reply);
    if (error == cudaSuccess)
        memcpy(exportData, reply->data, sizeof *exportData);
    return error;
}

cudaError_t cudaMemPoolImportPointer(void **ptr, cudaMemPool_t memPool,
                                     struct cudaMemPoolPtrExportData *exportData)
{
    const struct vgpu_reply *reply;
    struct vgpu_request *request = vgpu__begin("cudaMemPoolImportPointer", VGPU_OP_POOL_IMPORT_PTR);
    if (!request)
        return vgpu__failed();
    if (!ptr || !exportData)
        return vgpu__record(cudaErrorInvalidValue);
    request->value = (uint64_t)(uintptr_t)memPool;
    memcpy(request->data, exportData, sizeof *exportData);
    request->data_bytes = sizeof *exportData;
    cudaError_t error = vgpu__end(&reply);
    if (error == cudaSuccess)
        *ptr = (void *)(uintptr_t)reply->value;
    return error;
}
