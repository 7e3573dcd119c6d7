/* SPDX-License-Identifier: MIT
 * ipc.c: memory and events shared between processes, in both APIs. The 64 bytes of a handle are
 * made by the node: a secret number that identifies the allocation or event while it exists in the
 * process that exported it.
 */
#include <string.h>

#include "driver.h"

/* Requests a handle from the node. */
static cudaError_t get_handle(const char *call, uint32_t op, uint64_t ptr, uint64_t event,
                              void *handle)
{
    const struct vgpu_reply *reply;
    struct vgpu_request *request = vgpu__begin(call, op);
    if (!request)
        return vgpu__failed();
    if (!handle)
        return vgpu__record(cudaErrorInvalidValue);
    request->ptr = ptr;
    request->event = event;
    cudaError_t error = vgpu__end(&reply);
    if (error == cudaSuccess)
        memcpy(handle, reply->data, CUDA_IPC_HANDLE_SIZE);
    return error;
}

static cudaError_t open_handle(const char *call, uint32_t op, const void *handle, uint64_t *value)
{
    const struct vgpu_reply *reply;
    *value = 0;
    struct vgpu_request *request = vgpu__begin(call, op);
    if (!request)
        return vgpu__failed();
    memcpy(request->data, handle, CUDA_IPC_HANDLE_SIZE);
    request->data_bytes = CUDA_IPC_HANDLE_SIZE;
    cudaError_t error = vgpu__end(&reply);
    if (error == cudaSuccess)
        *value = reply->value;
    return error;
}

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *devPtr)
{
    return get_handle("cudaIpcGetMemHandle", VGPU_OP_IPC_EXPORT, (uint64_t)(uintptr_t)devPtr, 0,
                      handle);
}

cudaError_t cudaIpcOpenMemHandle(void **devPtr, cudaIpcMemHandle_t handle, unsigned int flags)
{
    static const char call[] = "cudaIpcOpenMemHandle";
    uint64_t address;
    if (!devPtr)
        return vgpu__record(cudaErrorInvalidValue);
    if (flags != cudaIpcMemLazyEnablePeerAccess)
        return vgpu__refuse(cudaErrorInvalidValue, call,
                            "flags are %u and must be cudaIpcMemLazyEnablePeerAccess", flags);
    cudaError_t error = open_handle(call, VGPU_OP_IPC_OPEN, &handle, &address);
    if (error == cudaSuccess)
        *devPtr = (void *)(uintptr_t)address;
    return error;
}

cudaError_t cudaIpcCloseMemHandle(void *devPtr)
{
    struct vgpu_request *request = vgpu__begin("cudaIpcCloseMemHandle", VGPU_OP_IPC_CLOSE);
    if (!request)
        return vgpu__failed();
    request->ptr = (uint64_t)(uintptr_t)devPtr;
    return vgpu__end(NULL);
}

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t *handle, cudaEvent_t event)
{
    return get_handle("cudaIpcGetEventHandle", VGPU_OP_IPC_EVENT, 0, (uint64_t)(uintptr_t)event,
                      handle);
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t *event, cudaIpcEventHandle_t handle)
{
    uint64_t id;
    if (!event)
        return vgpu__record(cudaErrorInvalidValue);
    cudaError_t error = open_handle("cudaIpcOpenEventHandle", VGPU_OP_IPC_EVENT_OPEN, &handle, &id);
    if (error == cudaSuccess)
        *event = (cudaEvent_t)(uintptr_t)id;
    return error;
}

/* ---- the same calls of the driver API: its handles are the same 64 bytes ---- */

CUresult cuIpcGetMemHandle(CUipcMemHandle *handle, CUdeviceptr ptr)
{
    VGPU_DRIVER(cudaIpcGetMemHandle((cudaIpcMemHandle_t *)handle, vgpu__driver_pointer(ptr)));
}

CUresult cuIpcOpenMemHandle(CUdeviceptr *ptr, CUipcMemHandle handle, unsigned int flags)
{
    cudaIpcMemHandle_t same;
    memcpy(&same, &handle, sizeof same);
    VGPU_DRIVER(cudaIpcOpenMemHandle((void **)ptr, same, flags));
}

CUresult cuIpcCloseMemHandle(CUdeviceptr ptr)
{
    VGPU_DRIVER(cudaIpcCloseMemHandle(vgpu__driver_pointer(ptr)));
}

CUresult cuIpcGetEventHandle(CUipcEventHandle *handle, CUevent event)
{
    VGPU_DRIVER(!event ? cudaErrorInvalidValue
                       : cudaIpcGetEventHandle((cudaIpcEventHandle_t *)handle, event));
}

CUresult cuIpcOpenEventHandle(CUevent *event, CUipcEventHandle handle)
{
    cudaIpcEventHandle_t same;
    memcpy(&same, &handle, sizeof same);
    VGPU_DRIVER(cudaIpcOpenEventHandle(event, same));
}
