/* SPDX-License-Identifier: MIT
 * context.h: the driver's contexts and each thread's stack of them, as far as every call needs
 * them.
 *
 * The runtime knows a current device, the driver a current context; they are two views of one
 * thing. While a thread's stack is empty, the runtime's device is what counts once a runtime call
 * has used it (`bound`); a context on top of the stack sets the runtime's device, and cudaSetDevice
 * replaces the top with that device's primary context.
 */
#ifndef VGPU_CONTEXT_H
#define VGPU_CONTEXT_H

#include "core.h"
#include "cuda.h"

/* Those that cuCtxCreate made share the device's address space at the node with its primary one.
 * They are never freed, so that a stale handle is known for one. */
struct CUctx_st {
    int device; /* logical */
    bool primary;
    atomic_bool destroyed;
    atomic_uint flags;
    atomic_int retained;      /* a primary one's, by cuDevicePrimaryCtxRetain */
    atomic_bool runtime_uses; /* the runtime holds the primary one until it is reset */
    struct CUctx_st *next;
};

/* The runtime has used the thread's device, or chosen another. */
void vgpu__context_used(void);
void vgpu__context_chosen(void);

CUcontext vgpu__driver_current(void);             /* NULL: none */
CUcontext vgpu__driver_primary(int device);       /* the device exists */
bool vgpu__driver_is_context(CUcontext context);  /* made, and not destroyed */
void vgpu__context_add(struct CUctx_st *context); /* for good */

#endif
