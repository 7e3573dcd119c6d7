/* SPDX-License-Identifier: MIT
 * driver_context.c: contexts and each thread's stack of them; context.h has how they fit the
 * runtime.
 *
 * At the node a process has one address space for each GPU. Contexts that cuCtxCreate makes share
 * it: destroying one waits for the device and keeps its memory until cuMemFree or the process's
 * end.
 */
#include "driver.h"

#include <stdlib.h>

/* ---- contexts ---- */

/* The runtime's device becomes an entry of the stack, so that others can lie on top of it. */
static void settle(void)
{
    if (vgpu__self.context_count == 0 && vgpu__self.bound)
        vgpu__self.contexts[vgpu__self.context_count++] = vgpu__driver_primary(vgpu__self.device);
    vgpu__self.bound = false;
}

/* Without a context, the runtime goes back to what cudaSetDevice chose (recorded). */
static void follow(void)
{
    int count = vgpu__self.context_count;
    vgpu__self.device = count > 0 ? vgpu__self.contexts[count - 1]->device : vgpu__self.chosen;
}

static cudaError_t push(CUcontext context)
{
    if (!context)
        return cudaErrorInvalidValue;
    if (!vgpu__driver_is_context(context))
        return cudaErrorDeviceUninitialized; /* 201 is CUDA_ERROR_INVALID_CONTEXT */
    settle();
    if (vgpu__self.context_count == VGPU__CONTEXTS)
        return cudaErrorMemoryAllocation;
    vgpu__self.contexts[vgpu__self.context_count++] = context;
    follow();
    return cudaSuccess;
}

static cudaError_t pop(CUcontext *context)
{
    settle();
    if (vgpu__self.context_count == 0)
        return cudaErrorDeviceUninitialized;
    CUcontext top = vgpu__self.contexts[--vgpu__self.context_count];
    if (context)
        *context = top;
    follow();
    return cudaSuccess;
}

CUresult cuCtxPushCurrent(CUcontext context)
{
    VGPU_DRIVER_OF(VGPU__NEED_INIT, push(context));
}

CUresult cuCtxPopCurrent(CUcontext *context)
{
    VGPU_DRIVER_OF(VGPU__NEED_INIT, pop(context));
}

/* The top is replaced, or taken away by a null context. */
static cudaError_t set_current(CUcontext context)
{
    if (context && !vgpu__driver_is_context(context))
        return cudaErrorDeviceUninitialized;
    settle();
    if (vgpu__self.context_count > 0)
        vgpu__self.context_count--;
    if (context)
        vgpu__self.contexts[vgpu__self.context_count++] = context;
    follow();
    return cudaSuccess;
}

CUresult cuCtxSetCurrent(CUcontext context)
{
    VGPU_DRIVER_OF(VGPU__NEED_INIT, set_current(context));
}

static cudaError_t get_current(CUcontext *context)
{
    if (!context)
        return cudaErrorInvalidValue;
    *context = vgpu__driver_current();
    return cudaSuccess;
}

CUresult cuCtxGetCurrent(CUcontext *context)
{
    VGPU_DRIVER_OF(VGPU__NEED_INIT, get_current(context));
}

/* Makes the device's address space at the node, if there is none. */
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

/* The context is gone for whoever has it current, until it is retained again (recorded). */
static cudaError_t reset(int device)
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

/* At most one way of waiting. */
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
    return push(made);
}

CUresult cuCtxCreate(CUcontext *context, CUctxCreateParams *params, unsigned int flags,
                     CUdevice device)
{
    VGPU_DRIVER_OF(VGPU__NEED_INIT, create_context(context, params, flags, device));
}

static cudaError_t wait_for(int device)
{
    int before = vgpu__self.device;
    vgpu__self.device = device;
    cudaError_t error = cudaDeviceSynchronize();
    vgpu__self.device = before;
    return error;
}

static cudaError_t destroy(CUcontext context)
{
    if (!context)
        return cudaErrorInvalidValue;
    if (!vgpu__driver_is_context(context) || context->primary)
        return cudaErrorDeviceUninitialized;
    wait_for(context->device);
    if (vgpu__driver_current() == context)
        pop(NULL);
    atomic_store(&context->destroyed, true);
    return cudaSuccess;
}

CUresult cuCtxDestroy(CUcontext context)
{
    VGPU_DRIVER_OF(VGPU__NEED_INIT, destroy(context));
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

/* The last holder's release ends the context and all that is in it. */
static cudaError_t release(CUdevice device)
{
    if (!vgpu__device_exists(device))
        return cudaErrorInvalidDevice;
    int held = atomic_load(&vgpu__driver_primary(device)->retained);
    do
        if (held == 0)
            return cudaErrorDeviceUninitialized;
    while (!atomic_compare_exchange_weak(&vgpu__driver_primary(device)->retained, &held, held - 1));
    return held == 1 && !atomic_load(&vgpu__driver_primary(device)->runtime_uses) ? reset(device)
                                                                                  : cudaSuccess;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
    VGPU_DRIVER_OF(VGPU__NEED_INIT, release(device));
}

CUresult cuDevicePrimaryCtxReset(CUdevice device)
{
    VGPU_DRIVER_OF(VGPU__NEED_INIT,
                   vgpu__device_exists(device) ? reset(device) : cudaErrorInvalidDevice);
}

static cudaError_t set_flags(CUdevice device, unsigned int flags)
{
    if (!vgpu__device_exists(device) || !valid_context_flags(flags))
        return vgpu__device_exists(device) ? cudaErrorInvalidValue : cudaErrorInvalidDevice;
    vgpu__driver_primary(device)->flags = flags;
    return cudaSuccess;
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned int flags)
{
    VGPU_DRIVER_OF(VGPU__NEED_INIT, set_flags(device, flags));
}

static cudaError_t get_state(CUdevice device, unsigned int *flags, int *active)
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
    VGPU_DRIVER_OF(VGPU__NEED_INIT, get_state(device, flags, active));
}

/* ---- of the current context ---- */

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

static cudaError_t change_peer(CUcontext context, unsigned int flags, bool enable)
{
    if (!vgpu__driver_is_context(context))
        return cudaErrorDeviceUninitialized;
    if (context->device == vgpu__self.device) /* no peer of itself */
        return enable ? cudaErrorPeerAccessUnsupported : cudaErrorPeerAccessNotEnabled;
    return enable ? cudaDeviceEnablePeerAccess(context->device, flags)
                  : cudaDeviceDisablePeerAccess(context->device);
}

CUresult cuCtxEnablePeerAccess(CUcontext context, unsigned int flags)
{
    VGPU_DRIVER(change_peer(context, flags, true));
}

CUresult cuCtxDisablePeerAccess(CUcontext context)
{
    VGPU_DRIVER(change_peer(context, 0, false));
}
