/* SPDX-License-Identifier: MIT
 * host_defines.h: CUDA's declaration words (__global__, __device__ ...) for every compiler that
 * reads these headers.
 *
 * Two readers: plain C or C++, where the words mean nothing, and vgpu-cc, where Clang reads CUDA
 * and vgpu/attributes.h has them. So each word is defined here only where it is not yet.
 *
 * __noinline__ is left alone on purpose: libstdc++ writes __attribute__((__noinline__)), which a
 * macro of that name would break.
 */
#ifndef __HOST_DEFINES_H__
#define __HOST_DEFINES_H__

/* Where these headers lie. What reads debug information (vgpu/common/dwarf_lines.c) tells their
 * lines from the program's by this folder. */
#if !defined(__CUDA__) || !defined(__CUDA_ARCH__) /* vgpu-cc says it of Clang's device code */
__asm__(".pushsection .vgpu.headers, \"MS\", %progbits, 1\n"
        ".asciz \"" __FILE__ "\"\n"
        ".popsection");
#endif

#ifdef __CUDA__ /* Clang reads CUDA itself */
#include "vgpu/attributes.h"
#endif

#ifndef __host__
#define __host__
#endif
#ifndef __device__
#define __device__
#endif
#ifndef __global__
#define __global__
#endif
#ifndef __shared__
#define __shared__
#endif
#ifndef __constant__
#define __constant__
#endif
#ifndef __managed__
#define __managed__
#endif
#ifndef __grid_constant__
#define __grid_constant__
#endif
#ifndef __launch_bounds__
#define __launch_bounds__(...)
#endif
#ifndef __cluster_dims__
#define __cluster_dims__(...)
#endif
#ifndef __forceinline__
#define __forceinline__ __inline__ __attribute__((always_inline))
#endif
#ifndef __align__
#define __align__(bytes) __attribute__((aligned(bytes)))
#endif
#ifndef __builtin_align__
#define __builtin_align__(bytes) __align__(bytes)
#endif

/* Around headers whose functions are for host and device code. */
#ifdef __CUDA__
#define VGPU_BOTH_BEGIN _Pragma("clang force_cuda_host_device begin")
#define VGPU_BOTH_END _Pragma("clang force_cuda_host_device end")
#else
#define VGPU_BOTH_BEGIN
#define VGPU_BOTH_END
#endif

#define CUDARTAPI
#define CUDART_CB

/* Default arguments exist in C++ only. */
#ifdef __cplusplus
#define VGPU_DEFAULT(value) = value
#else
#define VGPU_DEFAULT(value)
#endif

#endif
