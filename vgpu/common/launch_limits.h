/* SPDX-License-Identifier: MIT
 * launch_limits.h: limits of a launch, which are the same on all GPUs of node descriptions: compute
 * capability 5.0 to 10.0 (CUDA C++ Programming Guide, "Technical Specifications per Compute
 * Capability"). Device images are compiled with this header, too (image.h).
 */
#ifndef VGPU_LAUNCH_LIMITS_H
#define VGPU_LAUNCH_LIMITS_H

enum {
    VGPU_BLOCK_THREADS_MAX = 1024,
    VGPU_BLOCK_X_MAX = 1024,
    VGPU_BLOCK_Y_MAX = 1024,
    VGPU_BLOCK_Z_MAX = 64,
    VGPU_GRID_X_MAX = 2147483647,
    VGPU_GRID_Y_MAX = 65535,
    VGPU_GRID_Z_MAX = 65535,
    VGPU_CLUSTER_BLOCKS_PORTABLE = 8, /* from compute capability 9.0 on */
    VGPU_CLUSTER_BLOCKS_MAX = 16,     /* with cudaFuncAttributeNonPortableClusterSizeAllowed */
    VGPU_ARGS_MAX = 32764, /* bytes of all parameters of a kernel, as from CUDA 12.1 on */
    VGPU_STATIC_SHARED_MAX =
        48 * 1024, /* bytes of __shared__ variables; more needs dynamic shared memory */
    VGPU_SHARED_RESERVED_BYTES =
        1024,                     /* bytes that the system reserves in each block, from 8.0 on */
    VGPU_SHARED_RESERVED_FROM = 8 /* major compute capability */
};

#endif
