/* SPDX-License-Identifier: MIT
 * device_launch_parameters.h: threadIdx and its like. vgpu-cc has them from vgpu_device.h; here
 * they are names only, for editors that read CUDA as C++.
 */
#ifndef __DEVICE_LAUNCH_PARAMETERS_H__
#define __DEVICE_LAUNCH_PARAMETERS_H__

#include "vector_types.h"

#if defined(__CUDACC__) && !defined(__CUDA_ARCH__) && !defined(__CUDA__)
#ifdef __cplusplus
extern "C" {
#endif
extern const uint3 threadIdx;
extern const uint3 blockIdx;
extern const dim3 blockDim;
extern const dim3 gridDim;
extern const int warpSize;
#ifdef __cplusplus
}
#endif
#endif

#endif
