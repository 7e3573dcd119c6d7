/* SPDX-License-Identifier: MIT
 * driver.h: what the calls of the driver API (driver_*.c) share.
 *
 * A driver call is a runtime call with three differences, which this file and driver_call.c
 * implement: it needs cuInit and, in most cases, a current context; it returns a CUresult, whose
 * values equal the runtime's but for a few; and it leaves the runtime's last error of the thread
 * unchanged.
 *
 * The body of most calls is one line:
 *     VGPU_DRIVER(cudaMalloc((void **)ptr, bytes));
 */
#ifndef VGPU_DRIVER_H
#define VGPU_DRIVER_H

#include "context.h"
#include "runtime.h"

enum vgpu__driver_need { VGPU__NEED_INIT, VGPU__NEED_CONTEXT };

/* Begins a driver call. Returns CUDA_SUCCESS, and then vgpu__driver_end must follow; or the error
 * that the call must return at once. */
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

/* driver_graph.c: makes the context's device the runtime's, and *before is what it was, which the
 * caller restores; an error for what is no context. */
cudaError_t vgpu__driver_enter(CUcontext context, int *before);

/* driver_array.c: the copy's parameters as the runtime has them. */
cudaError_t vgpu__driver_box(const CUDA_MEMCPY3D *copy, struct cudaMemcpy3DParms *out);
void vgpu__driver_box_of(const struct cudaMemcpy3DParms *copy, CUDA_MEMCPY3D *out);

/* driver_kernel.c: *out lists the arguments, which are at `args` or in the buffer of `extra`. The
 * caller frees *made, also after an error. 400: `function` is no kernel. */
cudaError_t vgpu__driver_arguments(CUfunction function, void **args, void **extra, void ***out,
                                   void ***made);

/* driver_module.c: device code that is loaded while the program runs. */

/* Where a caller wants the compiler's messages (CU_JIT_ERROR_LOG_BUFFER). */
struct vgpu__jit_log {
    char *text;
    size_t room;
};
struct vgpu__jit_log vgpu__jit_log(unsigned int count, const CUjit_option *options, void **values);

/* A copy of the record (fatbin.h) that `image` is, or that is made of it; freed by the caller.
 * NULL: *error was told. */
void *vgpu__read_module(const char *call, const void *image, const struct vgpu__jit_log *log,
                        cudaError_t *error);
/* The file's bytes and a zero; freed by the caller. NULL: see errno. */
char *vgpu__read_module_file(const char *path);

#endif
