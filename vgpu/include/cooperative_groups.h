/* SPDX-License-Identifier: MIT
 * cooperative_groups.h: groups of threads: the block, and tiles of a warp.
 *
 * Ordinary CUDA over the barriers, shuffles and votes of the prelude. Not there yet: grid_group,
 * clusters, coalesced groups and memcpy_async; naming one is a compile error.
 */
#ifndef COOPERATIVE_GROUPS_H
#define COOPERATIVE_GROUPS_H

#ifndef __cplusplus
#error "cooperative_groups.h is C++"
#endif

/* What meets other threads has a body in device code only: the host pass has no such builtins. */
#ifdef __CUDA_ARCH__
#define VGPU_GROUP_BODY(...)                                                                       \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#else
#define VGPU_GROUP_BODY(...) ;
#endif

/* The formatter takes VGPU_GROUP_BODY(...) for the head of what follows. */
/* clang-format off */
namespace cooperative_groups
{

class thread_block
{
public:
    static __device__ void sync() VGPU_GROUP_BODY(__syncthreads();)
    static __device__ unsigned int thread_rank()
    {
        return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    }
    static __device__ unsigned int num_threads()
    {
        return blockDim.x * blockDim.y * blockDim.z;
    }
    static __device__ unsigned int size()
    {
        return num_threads();
    }
    static __device__ dim3 group_index()
    {
        return dim3(blockIdx.x, blockIdx.y, blockIdx.z);
    }
    static __device__ dim3 thread_index()
    {
        return dim3(threadIdx.x, threadIdx.y, threadIdx.z);
    }
    static __device__ dim3 group_dim()
    {
        return dim3(blockDim.x, blockDim.y, blockDim.z);
    }
    static __device__ dim3 dim_threads()
    {
        return group_dim();
    }
};

__device__ inline thread_block this_thread_block()
{
    return thread_block();
}

/* `Size` neighbouring lanes of a warp: 1, 2, 4, 8, 16 or 32. */
template <unsigned int Size, class Parent = void> class thread_block_tile
{
    static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0,
                  "a tile has 1, 2, 4, 8, 16 or 32 threads");

    /* The lanes of this tile, but not those that the block does not have. */
    static __device__ unsigned int mask()
    {
        unsigned int rank = thread_block::thread_rank(), first = rank / Size * Size;
        unsigned int left = thread_block::num_threads() - first;
        unsigned int lanes = left < Size ? left : Size;
        return (lanes == 32 ? 0xffffffffu : (1u << lanes) - 1) << first % 32;
    }

public:
    static __device__ unsigned int thread_rank()
    {
        return thread_block::thread_rank() % Size;
    }
    static constexpr __device__ unsigned int num_threads()
    {
        return Size;
    }
    static constexpr __device__ unsigned int size()
    {
        return Size;
    }
    static __device__ unsigned int meta_group_rank()
    {
        return thread_block::thread_rank() / Size;
    }
    static __device__ unsigned int meta_group_size()
    {
        return (thread_block::num_threads() + Size - 1) / Size;
    }
    __device__ void sync() const VGPU_GROUP_BODY(__syncwarp(mask());)
    template <class T> __device__ T shfl(T value, int lane) const
        VGPU_GROUP_BODY(return __shfl_sync(mask(), value, lane, Size);)
    template <class T> __device__ T shfl_up(T value, unsigned int delta) const
        VGPU_GROUP_BODY(return __shfl_up_sync(mask(), value, delta, Size);)
    template <class T> __device__ T shfl_down(T value, unsigned int delta) const
        VGPU_GROUP_BODY(return __shfl_down_sync(mask(), value, delta, Size);)
    template <class T> __device__ T shfl_xor(T value, unsigned int lanes) const
        VGPU_GROUP_BODY(return __shfl_xor_sync(mask(), value, lanes, Size);)
    __device__ int any(int predicate) const
        VGPU_GROUP_BODY(return __any_sync(mask(), predicate);)
    __device__ int all(int predicate) const
        VGPU_GROUP_BODY(return __all_sync(mask(), predicate);)
    /* Bit i is the thread of rank i in the tile. */
    __device__ unsigned int ballot(int predicate) const
        VGPU_GROUP_BODY(unsigned int first = thread_block::thread_rank() / Size * Size % 32;
                        unsigned int lanes = __ballot_sync(mask(), predicate) >> first;
                        return Size == 32 ? lanes : lanes & ((1u << Size % 32) - 1);)
};

template <unsigned int Size, class Parent>
__device__ inline thread_block_tile<Size, Parent> tiled_partition(const Parent &)
{
    return thread_block_tile<Size, Parent>();
}

template <class Group> __device__ inline void sync(const Group &group)
{
    group.sync();
}

} // namespace cooperative_groups
/* clang-format on */

#undef VGPU_GROUP_BODY

#endif
