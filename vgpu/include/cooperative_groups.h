/* SPDX-License-Identifier: MIT
 * cooperative_groups.h: groups of threads: the grid, the block, tiles of a warp, and whoever
 * happens to run together. Reductions and copies: cooperative_groups/reduce.h and memcpy_async.h.
 *
 * Ordinary CUDA over the barriers, shuffles and votes of the prelude. Not there: clusters, and
 * groups of several devices; naming one is a compile error.
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
    __device__ thread_block_tile() {}

    /* Forgets of what it is a tile: thread_block_tile<32> t = tiled_partition<32>(block). */
    template <class Other> __device__ thread_block_tile(const thread_block_tile<Size, Other> &) {}

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

/* The lanes that were together when coalesced_threads() was called; ranks in order of lanes. */
class coalesced_group
{
    unsigned int lanes_;

    __device__ unsigned int lane_of(unsigned int rank) const
    {
        unsigned int rest = lanes_;
        for (unsigned int i = 0; i < rank && rest; i++)
            rest &= rest - 1;
        return rest ? (unsigned int)__builtin_ctz(rest) : 32;
    }
    static __device__ unsigned int lane()
    {
        return thread_block::thread_rank() % 32;
    }
    /* Lanes of the warp become ranks of the group. */
    __device__ unsigned int ranks_of(unsigned int lanes) const
    {
        unsigned int ranks = 0, at = 0;
        for (unsigned int rest = lanes_; rest; rest &= rest - 1, at++)
            ranks |= (lanes >> __builtin_ctz(rest) & 1) << at;
        return ranks;
    }

public:
    explicit __device__ coalesced_group(unsigned int lanes) : lanes_(lanes) {}
    __device__ unsigned int thread_rank() const
    {
        return (unsigned int)__builtin_popcount(lanes_ & ((1u << lane()) - 1));
    }
    __device__ unsigned int num_threads() const
    {
        return (unsigned int)__builtin_popcount(lanes_);
    }
    __device__ unsigned int size() const
    {
        return num_threads();
    }
    __device__ unsigned int meta_group_rank() const
    {
        return 0;
    }
    __device__ unsigned int meta_group_size() const
    {
        return 1;
    }
    __device__ void sync() const VGPU_GROUP_BODY(__syncwarp(lanes_);)
    template <class T> __device__ T shfl(T value, unsigned int rank) const
        VGPU_GROUP_BODY(unsigned int from = lane_of(rank);
                        return __shfl_sync(lanes_, value, (int)(from < 32 ? from : lane()));)
    template <class T> __device__ T shfl_up(T value, unsigned int delta) const
        VGPU_GROUP_BODY(unsigned int mine = thread_rank();
                        return shfl(value, mine >= delta ? mine - delta : mine);)
    template <class T> __device__ T shfl_down(T value, unsigned int delta) const
        VGPU_GROUP_BODY(unsigned int mine = thread_rank();
                        return shfl(value, mine + delta < size() ? mine + delta : mine);)
    __device__ int any(int predicate) const
        VGPU_GROUP_BODY(return __any_sync(lanes_, predicate);)
    __device__ int all(int predicate) const
        VGPU_GROUP_BODY(return __all_sync(lanes_, predicate);)
    __device__ unsigned int ballot(int predicate) const
        VGPU_GROUP_BODY(return ranks_of(__ballot_sync(lanes_, predicate));)
};

__device__ inline coalesced_group coalesced_threads()
    VGPU_GROUP_BODY(return coalesced_group(__activemask());)

/* All blocks of a kernel that cudaLaunchCooperativeKernel launched. */
class grid_group
{
public:
    static __device__ bool is_valid() VGPU_GROUP_BODY(return vgpu_cooperative != 0;)
    /* Each block meets inside; then one thread of each counts, and waits for the others'. */
    static __device__ void sync()
        VGPU_GROUP_BODY(vgpu_grid_sync(thread_block::thread_rank() == 0, num_blocks());)
    static __device__ unsigned long long num_blocks()
    {
        return (unsigned long long)gridDim.x * gridDim.y * gridDim.z;
    }
    static __device__ unsigned long long block_rank()
    {
        return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    }
    static __device__ unsigned long long thread_rank()
    {
        return block_rank() * thread_block::num_threads() + thread_block::thread_rank();
    }
    static __device__ unsigned long long num_threads()
    {
        return num_blocks() * thread_block::num_threads();
    }
    static __device__ unsigned long long size()
    {
        return num_threads();
    }
    static __device__ dim3 block_index()
    {
        return dim3(blockIdx.x, blockIdx.y, blockIdx.z);
    }
    static __device__ dim3 group_dim()
    {
        return dim3(gridDim.x, gridDim.y, gridDim.z);
    }
    static __device__ dim3 dim_blocks()
    {
        return group_dim();
    }
};

__device__ inline grid_group this_grid()
{
    return grid_group();
}

template <class Group> __device__ inline void sync(const Group &group)
{
    group.sync();
}

/* Declared so that the compiler can say at the user's line what is not there. */
#define VGPU_NO_CLUSTERS                                                                           \
    __device__ __attribute__((error("thread block clusters are not modelled by the virtual node")))

class cluster_group
{
  public:
    static VGPU_NO_CLUSTERS void sync();
    static VGPU_NO_CLUSTERS unsigned int block_rank();
    static VGPU_NO_CLUSTERS unsigned int thread_rank();
    static VGPU_NO_CLUSTERS unsigned int num_blocks();
    static VGPU_NO_CLUSTERS unsigned int num_threads();
    static VGPU_NO_CLUSTERS dim3 block_index();
    static VGPU_NO_CLUSTERS dim3 dim_blocks();
    template <class T> static VGPU_NO_CLUSTERS T *map_shared_rank(T *variable, int block);
};

VGPU_NO_CLUSTERS cluster_group this_cluster();
#undef VGPU_NO_CLUSTERS

} // namespace cooperative_groups
/* clang-format on */

#undef VGPU_GROUP_BODY

#endif
