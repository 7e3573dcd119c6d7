/* SPDX-License-Identifier: MIT
 * context.h: the driver API's contexts and each thread's stack of them, as far as every call needs
 * them.
 *
 * The runtime API has a current device and the driver API a current context; both describe the same
 * state. While a thread's context stack is empty, the current context is the primary context of the
 * runtime's device, once a runtime call has used that device (`bound`). A context on top of the
 * stack sets the runtime's device, and cudaSetDevice replaces the top with the primary context of
 * the chosen device.
 */
#ifndef VGPU_CONTEXT_H
#define VGPU_CONTEXT_H

#include "core.h"
#include "cuda.h"

/* Contexts made by cuCtxCreate share the device's address space at the node with its primary
 * context. They are never freed, so that a destroyed one is still recognised by its handle. */
struct CUctx_st {
    int device; /* logical */
    bool primary;
    atomic_bool destroyed;
    atomic_uint flags;
    atomic_int retained; /* primary contexts: cuDevicePrimaryCtxRetain calls not yet released */
    atomic_bool runtime_uses; /* the runtime uses the primary context, until it is reset */
    struct CUctx_st *next;
};

/* vgpu__context_used: a runtime call uses the thread's device. vgpu__context_chosen: the thread has
 * chosen another device, whose primary context replaces the top of its stack. */
void vgpu__context_used(void);
void vgpu__context_chosen(void);

CUcontext vgpu__driver_current(void);             /* NULL: no context is current */
CUcontext vgpu__driver_primary(int device);       /* `device`: a logical device that exists */
bool vgpu__driver_is_context(CUcontext context);  /* true: exists and is not destroyed */
void vgpu__context_add(struct CUctx_st *context); /* takes ownership; the entry is never removed */

#endif
