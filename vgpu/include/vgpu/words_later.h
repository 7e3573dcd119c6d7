/* SPDX-License-Identifier: MIT
 * words_later.h: keeps CUDA's words through a preprocessor that expands macros (clang's), so that
 * vgpu-cc still finds them. words.h gives them their meaning afterwards.
 */
#ifndef VGPU_WORDS_LATER_H
#define VGPU_WORDS_LATER_H

#define __host__ __host__
#define __device__ __device__
#define __global__ __global__
#define __shared__ __shared__
#define __constant__ __constant__
#define __managed__ __managed__
#define __grid_constant__ __grid_constant__
#define __launch_bounds__ __launch_bounds__
#define __maxnreg__ __maxnreg__
#define __cluster_dims__ __cluster_dims__
#define __forceinline__ __forceinline__
#define __align__ __align__

#endif
