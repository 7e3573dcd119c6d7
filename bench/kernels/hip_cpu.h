/* SPDX-License-Identifier: MIT
 * hip_cpu.h: CUDA's names for HIP-CPU (https://github.com/ROCm/HIP-CPU), whose one device stands
 * for all. Its shuffles are right only over whole warps, which have 64 threads there.
 */
#include <hip/hip_runtime.h>

enum { WARP = warpSize };
#define SHUFFLE_DOWN(value, by) __shfl_down(value, by, WARP)
#define LAUNCH(kernel, grid, block, ...) hipLaunchKernelGGL(kernel, grid, block, 0, 0, __VA_ARGS__)

#define cudaError_t hipError_t
#define cudaSuccess hipSuccess
#define cudaGetErrorString hipGetErrorString
#define cudaGetLastError hipGetLastError
#define cudaDeviceSynchronize hipDeviceSynchronize
#define cudaMalloc hipMalloc
#define cudaMemset hipMemset
#define cudaMemcpy hipMemcpy
#define cudaMemcpyHostToDevice hipMemcpyHostToDevice
#define cudaMemcpyDeviceToHost hipMemcpyDeviceToHost
#define cudaMemcpyDefault hipMemcpyDefault
#define cudaSetDevice(device) ((void)(device), hipSuccess)
#define cudaMemcpyPeer(to, there, from, here, bytes)                                               \
    ((void)(there), (void)(here), hipMemcpy(to, from, bytes, hipMemcpyDeviceToDevice))
