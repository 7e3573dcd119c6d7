/* SPDX-License-Identifier: MIT
 * driver.h: what the calls of the driver API (driver_*.c) have in common.
 *
 * A driver call is a runtime call seen through three differences, and this file is those three: it
 * needs cuInit and, mostly, a current context; it answers CUresult, whose numbers are the runtime's
 * but for a few; and it leaves the thread's last error, which is the runtime's, alone.
 *
 * The body of most calls is one line:
 *     VGPU_DRIVER(cudaMalloc((void **)ptr, bytes));
 */
#ifndef VGPU_DRIVER_H
#define VGPU_DRIVER_H

#include "context.h"
#include "runtime.h"

enum vgpu__driver_need { VGPU__NEED_INIT, VGPU__NEED_CONTEXT };

/* Opens a driver call: what it answers at once, or CUDA_SUCCESS; then vgpu__driver_end must follow.
 */
CUresult vgpu__driver_begin(const char *call, enum vgpu__driver_need need);
CUresult vgpu__driver_end(cudaError_t error);

#define VGPU_DRIVER_OF(need, expression)                                                           \
    do {                                                                                           \
        CUresult gate = vgpu__driver_begin(__func__, need);                                        \
        return gate != CUDA_SUCCESS ? gate : vgpu__driver_end(expression);                         \
    } while (0)
#define VGPU_DRIVER(expression) VGPU_DRIVER_OF(VGPU__NEED_CONTEXT, expression)

static inline void *vgpu__driver_pointer(CUdeviceptr ptr)
{
    return (void *)(uintptr_t)ptr;
}

#endif
