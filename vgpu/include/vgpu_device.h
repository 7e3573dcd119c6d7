/* SPDX-License-Identifier: MIT
 * vgpu_device.h: what device code is written with: the part of CUDA C++ that no #include brings.
 * vgpu-cc reads it in front of every .cu file (vgpu/prelude.h).
 *
 * Everything ends in the functions of image.h, which vgpu-exec offers. Calls that a diagnosis may
 * have to name are macros, so that they carry the file and line they stand in.
 */
#ifndef VGPU_DEVICE_H
#define VGPU_DEVICE_H

#ifndef __cplusplus
#error "vgpu_device.h is for CUDA C++: vgpu-cc compiles .cu files with it"
#endif

/* ---- names of the C library that mean something else here, beside the host's own ---- */

#include <stdint.h>

#if __has_include("vgpu/image.h") /* where it is installed */
#include "vgpu/image.h"
#else
#include "../common/image.h"
#endif

/* __assert_fail is for both sides, as nvcc has it: CCCL declares it so again. */
#pragma push_macro("NDEBUG")
#undef NDEBUG
#pragma clang force_cuda_host_device begin
#include <assert.h>
#pragma clang force_cuda_host_device end
#pragma pop_macro("NDEBUG")
#undef assert /* the program's #include <assert.h> says what it is */

extern "C" {
__device__ long clock(void) noexcept __asm__("vgpu_clock64");
__device__ void *memcpy(void *to, const void *from, size_t bytes) noexcept;
__device__ void *memmove(void *to, const void *from, size_t bytes) noexcept;
__device__ void *memset(void *at, int value, size_t bytes) noexcept;
__device__ int abs(int value) noexcept;
__device__ long labs(long value) noexcept;
__device__ long long llabs(long long value) noexcept;
}

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "vector_functions.h"

#define VGPU_INLINE __device__ __attribute__((always_inline, unused)) static inline

#ifdef __FILE_NAME__
#define VGPU_FILE __FILE_NAME__
#else
#define VGPU_FILE __FILE__
#endif
#define VGPU_STRING_(x) #x
#define VGPU_STRING(x) VGPU_STRING_(x)
#define VGPU_SITE VGPU_FILE ":" VGPU_STRING(__LINE__)

#include "vgpu/device_thread.h"
#include "vgpu/device_warp.h"
#include "vgpu/device_atomic.h"
#include "vgpu/nv_atomic.h"
#include "vgpu/device_math.h"
#include "vgpu/device_texture.h"

#endif
