/* SPDX-License-Identifier: MIT
 * device_thread.h: who a thread is, how the threads of a block meet, fences, clocks.
 */
#ifndef VGPU_DEVICE_THREAD_H
#define VGPU_DEVICE_THREAD_H

/* ---- builtin variables ---- */

VGPU_INLINE const uint3 vgpu_index(struct vgpu_dim3 index)
{
    uint3 result = {index.x, index.y, index.z};
    return result;
}

VGPU_INLINE const dim3 vgpu_shape(struct vgpu_dim3 shape)
{
    return dim3(shape.x, shape.y, shape.z);
}

#define threadIdx (vgpu_index(vgpu_thread_idx()))
#define blockIdx (vgpu_index(vgpu_block_idx()))
#define blockDim (vgpu_shape(vgpu_block_dim()))
#define gridDim (vgpu_shape(vgpu_grid_dim()))

/* No macro: cudaDeviceProp has a member of the name. The context defines it, so it is no constant
 * expression, as in CUDA: an array of warpSize elements must not compile. */
extern "C" const int warpSize;

/* ---- barriers of the block ---- */

#define __syncthreads() vgpu_syncthreads(VGPU_SITE)
#define __syncthreads_count(predicate) vgpu_syncthreads_reduce(0, (predicate) != 0, VGPU_SITE)
#define __syncthreads_and(predicate) vgpu_syncthreads_reduce(1, (predicate) != 0, VGPU_SITE)
#define __syncthreads_or(predicate) vgpu_syncthreads_reduce(2, (predicate) != 0, VGPU_SITE)

/* ---- fences, clocks, the end ---- */

VGPU_INLINE void __threadfence_block(void)
{
    vgpu_fence(0);
}

VGPU_INLINE void __threadfence(void)
{
    vgpu_fence(1);
}

VGPU_INLINE void __threadfence_system(void)
{
    vgpu_fence(2);
}

VGPU_INLINE long long clock64(void)
{
    return vgpu_clock64();
}

VGPU_INLINE void __trap(void)
{
    vgpu_trap();
}

VGPU_INLINE void __brkpt(void)
{
    vgpu_trap();
}

/* A hint to wait a little: a look at the clock lets others go on. */
VGPU_INLINE void __nanosleep(unsigned int)
{
    vgpu_clock64();
}

#endif
