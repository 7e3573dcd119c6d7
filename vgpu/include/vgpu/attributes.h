/* SPDX-License-Identifier: MIT
 * attributes.h: CUDA's declaration words for Clang, which knows what they mean.
 */
#ifndef VGPU_ATTRIBUTES_H
#define VGPU_ATTRIBUTES_H

#ifdef VGPU_HOST_IS_INLINE /* compile_cuda.c: what only host code uses is left out */
#define __host__ __inline__ __attribute__((host))
#else
#define __host__ __attribute__((host))
#endif
/* Clang takes a constant of the host's for the device's, too: which are marked says the annotation
 * (vgpu/cc/lower/lower_rules.c). */
#ifdef __CUDA_ARCH__
#define __device__ __attribute__((device, annotate("vgpu_marked")))
#define __constant__ __attribute__((constant, annotate("vgpu_marked")))
#else
#define __device__ __attribute__((device))
#define __constant__ __attribute__((constant))
#endif
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
/* The section is a mark: vgpu-cc takes such variables out of it (vgpu/cc/lower/lower_managed.c). */
#define __managed__ __attribute__((device)) __attribute__((section("vgpu_managed")))
#define __grid_constant__
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __maxnreg__(...)
/* vgpu/cc/lower/lower_kernel.c reads the sizes. */
#define __cluster_dims__(...) __attribute__((annotate("vgpu_cluster", __VA_ARGS__)))
#if __clang_major__ < 15 /* it reads the word as ours, and libstdc++ as an attribute */
#define __noinline__
#endif
#define __forceinline__ __inline__ __attribute__((always_inline))

#endif
