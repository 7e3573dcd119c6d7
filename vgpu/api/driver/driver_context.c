/* SPDX-License-Identifier: MIT
 * driver_context.c: contexts and each thread's stack of them; context.h describes how they relate
 * to the runtime's current device.
 *
 * At the node a process has one address space for each GPU. Contexts made by cuCtxCreate share it:
 * destroying one waits for the device but frees no memory; memory stays allocated until cuMemFree
 * or the end of the process.
 */
#include "driver.h"

#include <stdlib.h>

/* ---- contexts ---- */

/* Pushes the primary context of the runtime's device if only the runtime uses it, so that other
 * contexts can be pushed on top. */
static void push_runtime_context(void)
{
    if (vgpu__self.context_count == 0 && vgpu__self.bound)
        vgpu__self.contexts[vgpu__self.context_count++] = vgpu__driver_primary(vgpu__self.device);
    vgpu__self.bound = false;
}

/* Sets the runtime's device to that of the current context; without one, to the device of the last
 * cudaSetDevice (recorded). */
static void update_runtime_device(void)
{
    int count = vgpu__self.context_count;
    vgpu__self.device = count > 0 ? vgpu__self.contexts[count - 1]->device : vgpu__self.chosen;
}

static cudaError_t push_context(CUcontext context)
{
    if (!context)
        return cudaErrorInvalidValue;
    if (!vgpu__driver_is_context(context))
        return cudaErrorDeviceUninitialized; /* 201, CUDA_ERROR_INVALID_CONTEXT */
    push_runtime_context();
    if (vgpu__self.context_count == VGPU__CONTEXTS)
        return cudaErrorMemoryAllocation;
    vgpu__self.contexts[vgpu__self.context_count++] = context;
    update_runtime_device();
    return cudaSuccess;
}

static cudaError_t pop_context(CUcontext *context)
{
    push_runtime_context();
    if (vgpu__self.context_count == 0)
        return cudaErrorDeviceUninitialized;
    CUcontext top = vgpu__self.contexts[--vgpu__self.context_count];
    if (context)
        *context = top;
    update_runtime_device();
    return cudaSuccess;
}

CUresult cuCtxPushCurrent(CUcontext context)
{
    VGPU_DRIVER_OF(VGPU__NEED_INIT, push_context(context));
}

CUresult cuCtxPopCurrent(CUcontext *context)
{
    VGPU_DRIVER_OF(VGPU__NEED_INIT, pop_context(context));
}

/* Replaces the top of the stack, or removes it if `context` is null. */
static cudaError_t set_current_context(CUcontext context)
{
    if (context && !vgpu__driver_is_context(context))
        return cudaErrorDeviceUninitialized;
    push_runtime_context();
    if (vgpu__self.context_count > 0)
        vgpu__self.context_count--;
    if (context)
        vgpu__self.contexts[vgpu__self.context_count++] = context;
    update_runtime_device();
    return cudaSuccess;
}

CUresult cuCtxSetCurrent(CUcontext context)
{
    VGPU_DRIVER_OF(VGPU__NEED_INIT, set_current_context(context));
}

static cudaError_t get_current_context(CUcontext *context)
{
    if (!context)
        return cudaErrorInvalidValue;
    *context = vgpu__driver_current();
    return cudaSuccess;
}

CUresult cuCtxGetCurrent(CUcontext *context)
{
    VGPU_DRIVER_OF(VGPU__NEED_INIT, get_current_context(context));
}

/* Makes the device's address space at the node, if the process has none. */
static cudaError_t make_primary(int device)
{
    int before = vgpu__self.device;
    vgpu__self.device = device;
    struct vgpu_request *request = vgpu__begin("context", VGPU_OP_CONTEXT);
    cudaError_t error = request ? vgpu__end(NULL) : vgpu__failed();
    vgpu__self.device = before;
    if (error == cudaSuccess)
        atomic_store(&vgpu__process.has_context[vgpu__process.physical[device]], true);
    return error;
}

/* Resets the device. The context counts as destroyed until it is retained again, also in threads in
 * which it is current (recorded). */
static cudaError_t reset_primary(int device)
{
    int before = vgpu__self.device;
    vgpu__self.device = device;
    cudaError_t error = cudaDeviceReset();
    vgpu__self.device = before;
    atomic_store(&vgpu__driver_primary(device)->destroyed, true);
    vgpu__driver_primary(device)->flags = 0;
    return error;
}

/* ---- created contexts ---- */

/* At most one scheduling flag may be set. */
static bool valid_context_flags(unsigned int flags)
{
    unsigned int waits = flags & CU_CTX_SCHED_MASK;
    return (flags & ~(unsigned int)CU_CTX_FLAGS_MASK) == 0 && (waits & (waits - 1)) == 0;
}

static cudaError_t create_context(CUcontext *context, const CUctxCreateParams *params,
                                  unsigned int flags, CUdevice device)
{
    if (!context || !valid_context_flags(flags))
        return cudaErrorInvalidValue;
    if (params && (params->execAffinityParams || params->cigParams))
        return vgpu__refuse(cudaErrorNotSupported, "cuCtxCreate",
                            "execution affinity and CIG are not modelled; pass a null pointer");
    if (!vgpu__device_exists(device))
        return cudaErrorInvalidDevice;
    cudaError_t error = make_primary(device);
    struct CUctx_st *made = error == cudaSuccess ? calloc(1, sizeof *made) : NULL;
    if (!made)
        return error != cudaSuccess ? error : vgpu__no_memory("cuCtxCreate");
    made->device = device;
    made->flags = flags;
    vgpu__context_add(made);
    *context = made;
    return push_context(made);
}

CUresult cuCtxCreate(CUcontext *context, CUctxCreateParams *params, unsigned int flags,
                     CUdevice device)
{
    VGPU_DRIVER_OF(VGPU__NEED_INIT, create_context(context, params, flags, device));
}

static cudaError_t synchronize_device(int device)
{
    int before = vgpu__self.device;
    vgpu__self.device = device;
    cudaError_t error = cudaDeviceSynchronize();
    vgpu__self.device = before;
    return error;
}

static cudaError_t destroy_context(CUcontext context)
{
    if (!context)
        return cudaErrorInvalidValue;
    if (!vgpu__driver_is_context(context) || context->primary)
        return cudaErrorDeviceUninitialized;
    synchronize_device(context->device);
    if (vgpu__driver_current() == context)
        pop_context(NULL);
    atomic_store(&context->destroyed, true);
    return cudaSuccess;
}

CUresult cuCtxDestroy(CUcontext context)
{
    VGPU_DRIVER_OF(VGPU__NEED_INIT, destroy_context(context));
}

/* ---- primary contexts ---- */

static cudaError_t retain_primary(CUcontext *context, CUdevice device)
{
    if (!context || !vgpu__device_exists(device))
        return context ? cudaErrorInvalidDevice : cudaErrorInvalidValue;
    cudaError_t error = make_primary(device);
    if (error != cudaSuccess)
        return error;
    atomic_fetch_add(&vgpu__driver_primary(device)->retained, 1);
    atomic_store(&vgpu__driver_primary(device)->destroyed, false);
    *context = vgpu__driver_primary(device);
    return cudaSuccess;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    VGPU_DRIVER_OF(VGPU__NEED_INIT, retain_primary(context, device));
}

/* The last release destroys the context and everything in it, unless the runtime uses it. */
static cudaError_t release_primary(CUdevice device)
{
    if (!vgpu__device_exists(device))
        return cudaErrorInvalidDevice;
    int held = atomic_load(&vgpu__driver_primary(device)->retained);
    do
        if (held == 0)
            return cudaErrorDeviceUninitialized;
    while (!atomic_compare_exchange_weak(&vgpu__driver_primary(device)->retained, &held, held - 1));
    return held == 1 && !atomic_load(&vgpu__driver_primary(device)->runtime_uses)
               ? reset_primary(device)
               : cudaSuccess;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
    VGPU_DRIVER_OF(VGPU__NEED_INIT, release_primary(device));
}

CUresult cuDevicePrimaryCtxReset(CUdevice device)
{
    VGPU_DRIVER_OF(VGPU__NEED_INIT,
                   vgpu__device_exists(device) ? reset_primary(device) : cudaErrorInvalidDevice);
}

static cudaError_t set_primary_flags(CUdevice device, unsigned int flags)
{
    if (!vgpu__device_exists(device) || !valid_context_flags(flags))
        return vgpu__device_exists(device) ? cudaErrorInvalidValue : cudaErrorInvalidDevice;
    vgpu__driver_primary(device)->flags = flags;
    return cudaSuccess;
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned int flags)
{
    VGPU_DRIVER_OF(VGPU__NEED_INIT, set_primary_flags(device, flags));
}

static cudaError_t get_primary_state(CUdevice device, unsigned int *flags, int *active)
{
    if (!vgpu__device_exists(device))
        return cudaErrorInvalidDevice;
    if (!flags || !active)
        return cudaErrorInvalidValue;
    *flags = vgpu__driver_primary(device)->flags;
    *active = vgpu__has_context(vgpu__process.physical[device]);
    return cudaSuccess;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned int *flags, int *active)
{
    VGPU_DRIVER_OF(VGPU__NEED_INIT, get_primary_state(device, flags, active));
}

/* ---- calls about the current context ---- */

static cudaError_t fill_parameter(void *out, unsigned int value)
{
    if (!out)
        return cudaErrorInvalidValue;
    *(unsigned int *)out = value;
    return cudaSuccess;
}

CUresult cuCtxGetDevice(CUdevice *device)
{
    VGPU_DRIVER(fill_parameter(device, (unsigned int)vgpu__driver_current()->device));
}

CUresult cuCtxGetFlags(unsigned int *flags)
{
    VGPU_DRIVER(fill_parameter(flags, vgpu__driver_current()->flags));
}

CUresult cuCtxGetApiVersion(CUcontext context, unsigned int *version)
{
    VGPU_DRIVER_OF(context ? VGPU__NEED_INIT : VGPU__NEED_CONTEXT,
                   !context || vgpu__driver_is_context(context) ? fill_parameter(version, 3020)
                                                                : cudaErrorDeviceUninitialized);
}

CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    VGPU_DRIVER(cudaDeviceGetStreamPriorityRange(least, greatest));
}

CUresult cuCtxSynchronize(void)
{
    VGPU_DRIVER(cudaDeviceSynchronize());
}

static cudaError_t change_peer_access(CUcontext context, unsigned int flags, bool enable)
{
    if (!vgpu__driver_is_context(context))
        return cudaErrorDeviceUninitialized;
    if (context->device == vgpu__self.device) /* a device is not its own peer */
        return enable ? cudaErrorPeerAccessUnsupported : cudaErrorPeerAccessNotEnabled;
    return enable ? cudaDeviceEnablePeerAccess(context->device, flags)
                  : cudaDeviceDisablePeerAccess(context->device);
}

CUresult cuCtxEnablePeerAccess(CUcontext context, unsigned int flags)
{
    VGPU_DRIVER(change_peer_access(context, flags, true));
}

CUresult cuCtxDisablePeerAccess(CUcontext context)
{
    VGPU_DRIVER(change_peer_access(context, 0, false));
}
