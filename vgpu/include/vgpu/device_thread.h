/* SPDX-License-Identifier: MIT
 * device_thread.h: who a thread is, how the threads of a block meet, fences, clocks.
 */
#ifndef VGPU_DEVICE_THREAD_H
#define VGPU_DEVICE_THREAD_H

/* ---- builtin variables ---- */

/* No macros: dim3 gridDim(4); is a common line of host code, and cudaDeviceProp has a member called
 * warpSize. The context defines them and sets them for the thread that runs. */
extern "C" __device__ const uint3 threadIdx, blockIdx;
extern "C" __device__ const dim3 blockDim, gridDim;
extern "C" __device__ const int warpSize;

/* ---- barriers of the block ---- */

#define __syncthreads() vgpu_syncthreads(VGPU_SITE)
#define __syncthreads_count(predicate) vgpu_syncthreads_reduce(0, (predicate) != 0, VGPU_SITE)
#define __syncthreads_and(predicate) vgpu_syncthreads_reduce(1, (predicate) != 0, VGPU_SITE)
#define __syncthreads_or(predicate) vgpu_syncthreads_reduce(2, (predicate) != 0, VGPU_SITE)
/* The block's barriers 0 to 15, of all its threads or of as many as given. */
#define __barrier_sync(id) ((void)vgpu_barrier(0, id, 0, 0, VGPU_SITE))
#define __barrier_sync_count(id, count) ((void)vgpu_barrier(0, id, count, 0, VGPU_SITE))

/* ---- the barrier of a cooperative grid ---- */

extern "C" __device__ const int vgpu_cooperative; /* of the kernel that runs; the context's */

VGPU_INLINE void vgpu_grid_sync_at(const char *site, bool first, unsigned long long blocks)
{
    if (!vgpu_cooperative)
        vgpu_assert_fail("this_grid().sync() in a kernel that cudaLaunchCooperativeKernel launched",
                         "cooperative_groups.h", 0, "sync");
    vgpu_syncthreads(site);
    if (first)
        vgpu_grid_meet(blocks);
    vgpu_syncthreads(site);
}
#define vgpu_grid_sync(first, blocks) vgpu_grid_sync_at(VGPU_SITE, first, blocks)

/* ---- clusters of blocks ---- */

VGPU_INLINE dim3 __clusterDim(void)
{
    return dim3(vgpu_cluster_dim(0), vgpu_cluster_dim(1), vgpu_cluster_dim(2));
}

VGPU_INLINE unsigned __clusterSizeInBlocks(void)
{
    return vgpu_cluster_dim(0) * vgpu_cluster_dim(1) * vgpu_cluster_dim(2);
}

VGPU_INLINE dim3 __clusterGridDimInClusters(void)
{
    dim3 size = __clusterDim();
    return dim3(gridDim.x / size.x, gridDim.y / size.y, gridDim.z / size.z);
}

VGPU_INLINE dim3 __clusterIdx(void)
{
    dim3 size = __clusterDim();
    return dim3(blockIdx.x / size.x, blockIdx.y / size.y, blockIdx.z / size.z);
}

VGPU_INLINE dim3 __clusterRelativeBlockIdx(void)
{
    dim3 size = __clusterDim();
    return dim3(blockIdx.x % size.x, blockIdx.y % size.y, blockIdx.z % size.z);
}

VGPU_INLINE unsigned __clusterRelativeBlockRank(void)
{
    dim3 size = __clusterDim(), at = __clusterRelativeBlockIdx();
    return (at.z * size.y + at.y) * size.x + at.x;
}

VGPU_INLINE void __cluster_barrier_arrive(void)
{
    vgpu_cluster_arrive();
}

VGPU_INLINE void __cluster_barrier_arrive_relaxed(void)
{
    vgpu_cluster_arrive();
}
#define __cluster_barrier_wait() vgpu_cluster_wait(VGPU_SITE)

VGPU_INLINE void *__cluster_map_shared_rank(const void *address, unsigned rank)
{
    return vgpu_cluster_map(address, rank);
}

VGPU_INLINE unsigned __cluster_query_shared_rank(const void *address)
{
    return vgpu_cluster_rank_of(address);
}

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

/* ---- state spaces ---- */

VGPU_INLINE unsigned __isGlobal(const void *p)
{
    return (unsigned)vgpu_is_space(VGPU_SPACE_GLOBAL, p);
}

VGPU_INLINE unsigned __isShared(const void *p)
{
    return (unsigned)vgpu_is_space(VGPU_SPACE_SHARED, p);
}

VGPU_INLINE unsigned __isLocal(const void *p)
{
    return (unsigned)vgpu_is_space(VGPU_SPACE_LOCAL, p);
}

VGPU_INLINE unsigned __isConstant(const void *) /* lies in global memory here */
{
    return 0;
}

VGPU_INLINE unsigned __isGridConstant(const void *)
{
    return 0;
}

VGPU_INLINE unsigned __isClusterShared(const void *p)
{
    return (unsigned)vgpu_is_space(VGPU_SPACE_SHARED, p);
}

VGPU_INLINE size_t __cvta_generic_to_shared(const void *p)
{
    return (size_t)p - VGPU_SHARED_VA;
}

VGPU_INLINE void *__cvta_shared_to_generic(size_t address)
{
    return (void *)(address + VGPU_SHARED_VA);
}

VGPU_INLINE size_t __cvta_generic_to_global(const void *p)
{
    return (size_t)p;
}

VGPU_INLINE void *__cvta_global_to_generic(size_t address)
{
    return (void *)address;
}

VGPU_INLINE size_t __cvta_generic_to_local(const void *p)
{
    return (size_t)p;
}

VGPU_INLINE void *__cvta_local_to_generic(size_t address)
{
    return (void *)address;
}

/* Programmatic dependent launch: a kernel starts when the one before it in the stream has ended, so
 * there is nothing to wait for and nobody who could start earlier. */
VGPU_INLINE void cudaGridDependencySynchronize(void) {}
VGPU_INLINE void cudaTriggerProgrammaticLaunchCompletion(void) {}

#endif
