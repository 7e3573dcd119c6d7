/* SPDX-License-Identifier: MIT
 * vgpu_cluster.h: the cluster of a block: blocks that are alive together and reach each other's
 * shared memory. cooperative_groups.h includes it.
 */
#ifndef VGPU_COOPERATIVE_GROUPS_CLUSTER_H
#define VGPU_COOPERATIVE_GROUPS_CLUSTER_H

#include "../cooperative_groups.h"

/* As there: host code that no CUDA compiler reads gets nothing. */
#ifdef __CUDA__

namespace cooperative_groups
{

class cluster_group
{
  public:
    struct arrival_token {
    };
    static __device__ arrival_token barrier_arrive()
    {
        vgpu_cluster_arrive();
        return arrival_token();
    }
    static __device__ void barrier_wait()
    {
        vgpu_cluster_wait(VGPU_SITE);
    }
    static __device__ void barrier_wait(arrival_token &&)
    {
        vgpu_cluster_wait(VGPU_SITE);
    }
    static __device__ void sync()
    {
        vgpu_cluster_arrive();
        vgpu_cluster_wait(VGPU_SITE);
    }
    static __device__ dim3 dim_blocks()
    {
        return __clusterDim();
    }
    static __device__ dim3 dim_threads()
    {
        dim3 blocks = dim_blocks();
        return dim3(blocks.x * blockDim.x, blocks.y * blockDim.y, blocks.z * blockDim.z);
    }
    static __device__ unsigned int num_blocks()
    {
        return __clusterSizeInBlocks();
    }
    static __device__ dim3 block_index()
    {
        return __clusterRelativeBlockIdx();
    }
    static __device__ unsigned int block_rank()
    {
        return __clusterRelativeBlockRank();
    }
    static __device__ dim3 thread_index()
    {
        dim3 block = block_index();
        return dim3(block.x * blockDim.x + threadIdx.x, block.y * blockDim.y + threadIdx.y,
                    block.z * blockDim.z + threadIdx.z);
    }
    static __device__ unsigned int thread_rank()
    {
        return block_rank() * thread_block::num_threads() + thread_block::thread_rank();
    }
    static __device__ unsigned int num_threads()
    {
        return num_blocks() * thread_block::num_threads();
    }
    static __device__ unsigned int size()
    {
        return num_threads();
    }
    /* Where block `rank` has what this block has at `address`, in its shared memory. */
    template <class T> static __device__ T *map_shared_rank(T *address, int rank)
    {
        return (T *)__cluster_map_shared_rank((const void *)address, (unsigned int)rank);
    }
    static __device__ unsigned int query_shared_rank(const void *address)
    {
        return __cluster_query_shared_rank(address);
    }
};

__device__ inline cluster_group this_cluster()
{
    return cluster_group();
}

} // namespace cooperative_groups

#endif

#endif
