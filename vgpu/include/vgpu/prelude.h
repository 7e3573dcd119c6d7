/* SPDX-License-Identifier: MIT
 * prelude.h: read in front of every .cu file, by both passes of Clang: CUDA's words, what device
 * code is written with, and what nvcc's own headers bring into every file.
 */
#ifndef VGPU_PRELUDE_H
#define VGPU_PRELUDE_H

#pragma GCC system_header

#include "attributes.h"
#include "cccl.h"

/* abs() of all types and std::initializer_list are both worlds', as nvcc has it; the rest of
 * <stdlib.h>, which they include, is host code's. It comes first: Clang's own <new> uses it without
 * including it. */
extern "C" {
__device__ inline int abs(int x) noexcept
{
    return __builtin_abs(x);
}
__device__ inline long labs(long x) noexcept
{
    return __builtin_labs(x);
}
__device__ inline long long llabs(long long x) noexcept
{
    return __builtin_llabs(x);
}
}
#include <cstddef>
#define _GLIBCXX_INCLUDE_NEXT_C_HEADERS
#include <stdlib.h>
#undef _GLIBCXX_INCLUDE_NEXT_C_HEADERS
#pragma clang force_cuda_host_device begin
#if __has_include(<bits/std_abs.h>)
#include <bits/std_abs.h>
#endif
#include <initializer_list>
#pragma clang force_cuda_host_device end
#include <stdlib.h>

/* What <cmath> includes and is not for device code as a whole. */
#include <limits>
#include <type_traits>
#include <utility>
#if __has_include(<bits/stl_algobase.h>)
#include <bits/stl_algobase.h>
#endif

#include <string.h>
#include <time.h>

/* Functions of numbers are both worlds'. */
#pragma clang force_cuda_host_device begin
#include <math.h>

#include <cmath>
#pragma clang force_cuda_host_device end

/* Clang's own <new> calls these in device code: vgpu-cc names them where the program does. */
extern "C" {
__device__ void *malloc(size_t bytes);
__device__ void free(void *memory);
}

#include <cstdlib>
#include <cstring>

#include "../cuda_runtime.h"
#include "both_math.h"

/* ---- what nvcc takes for device code's, too ---- */

#ifndef VGPU_RELAXED_CONSTEXPR /* with it they are */
namespace std
{
template <class T>
__device__ constexpr typename remove_reference<T>::type &&move(T &&value) noexcept
{
    return static_cast<typename remove_reference<T>::type &&>(value);
}
template <class T>
__device__ constexpr T &&forward(typename remove_reference<T>::type &value) noexcept
{
    return static_cast<T &&>(value);
}
template <class T>
__device__ constexpr T &&forward(typename remove_reference<T>::type &&value) noexcept
{
    return static_cast<T &&>(value);
}
} // namespace std
#endif

/* ---- launches: what Clang calls ---- */

extern "C" unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block = 1, size_t shared = 0,
                                                cudaStream_t stream = 0);

/* Thrust 1 and CUB 1 name them in functions that they do not call. */
#define VGPU_NO_DEVICE_RUNTIME                                                                     \
    __attribute__((error("device code starts a kernel, or waits for one: the virtual node has no " \
                         "dynamic parallelism")))
extern "C" {
__device__ void *cudaGetParameterBuffer(size_t alignment, size_t size) VGPU_NO_DEVICE_RUNTIME;
__device__ cudaError_t cudaLaunchDevice(void *function, void *parameters, dim3 grid, dim3 block,
                                        unsigned shared,
                                        cudaStream_t stream) VGPU_NO_DEVICE_RUNTIME;
__device__ cudaError_t __cudaDeviceSynchronizeDeprecationAvoidance(void) VGPU_NO_DEVICE_RUNTIME;
}

/* The parts of a configuration that is a pack: k<<<size...>>>() (vgpu/cc/compile/rewrite.c). */
inline dim3 vgpu_grid(dim3 grid, dim3, size_t = 0, cudaStream_t = 0)
{
    return grid;
}
inline dim3 vgpu_block(dim3, dim3 block, size_t = 0, cudaStream_t = 0)
{
    return block;
}
inline size_t vgpu_shared_bytes(dim3, dim3, size_t shared = 0, cudaStream_t = 0)
{
    return shared;
}
inline cudaStream_t vgpu_stream(dim3, dim3, size_t = 0, cudaStream_t stream = 0)
{
    return stream;
}

/* A pragma that device code does not have (vgpu/cc/compile/rewrite.c). */
#ifdef __CUDA_ARCH__
#define VGPU_HOST_PRAGMA(text)
#else
#define VGPU_HOST_PRAGMA(text) _Pragma(text)
#endif

#endif
