/* SPDX-License-Identifier: MIT
 * cuda_runtime.h: what a CUDA program includes. C programs get the calls; C++ programs also get the
 * typed forms (cudaMalloc(&pointer_to_float, bytes) ...); vgpu-cc also gets what
 * kernels are written with.
 */
#ifndef __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_H__

#include "cuda_runtime_api.h"
#include "driver_functions.h"
#include "library_types.h"
#include "vector_functions.h"

#ifdef __cplusplus
#include "channel_descriptor.h"
#include "vgpu/typed_calls.h"
#endif

#if defined(__CUDA_ARCH__) || defined(__CUDA__)
#include "vgpu_device.h"
#else
#include "device_launch_parameters.h"
#endif

#endif
