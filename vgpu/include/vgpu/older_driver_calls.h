/* SPDX-License-Identifier: MIT
 * older_driver_calls.h: cuCtxCreate as CUDA 12 spells it, without parameters of its own: an
 * overload in C++; in C the number of arguments chooses. Part of cuda.h.
 */
#ifndef VGPU_OLDER_DRIVER_CALLS_H
#define VGPU_OLDER_DRIVER_CALLS_H

#define VGPU_UNTIL_12_CONTEXT                                                                      \
    __attribute__((deprecated("CUDA 13 has dropped this; there it is cuCtxCreate(context, NULL, "  \
                              "flags, device)")))

#ifdef __cplusplus
VGPU_UNTIL_12_CONTEXT inline CUresult cuCtxCreate(CUcontext *context, unsigned int flags,
                                                  CUdevice device)
{
    return ::cuCtxCreate(context, (CUctxCreateParams *)0, flags, device);
}
#else
VGPU_UNTIL_12_CONTEXT static inline CUresult vgpu_context_of_12(CUcontext *context,
                                                                unsigned int flags, CUdevice device)
{
    return (cuCtxCreate)(context, (CUctxCreateParams *)0, flags, device);
}

#define VGPU_FIFTH(a, b, c, d, fifth, ...) fifth
#define cuCtxCreate(...) VGPU_FIFTH(__VA_ARGS__, cuCtxCreate, vgpu_context_of_12, 0)(__VA_ARGS__)
#endif

#endif
