/* SPDX-License-Identifier: MIT
 * cooperative_groups.h: groups of threads: the grid, the block, tiles of a warp, and whoever
 * happens to run together. Tiles of several warps: cooperative_groups/vgpu_block_tile.h; clusters
 * of blocks: vgpu_cluster.h there. Reductions, prefix sums and copies: reduce.h, scan.h and
 * memcpy_async.h there.
 *
 * Ordinary CUDA over the barriers, shuffles and votes of the prelude. Not there: groups
 * of several devices; naming one is a compile error.
 */
#ifndef _COOPERATIVE_GROUPS_H_
#define _COOPERATIVE_GROUPS_H_

/* As CUDA's: host code that no CUDA compiler reads may include it, and gets nothing. */
#ifdef __CUDA__

namespace cooperative_groups
{

/* CUDA shuffles of groups take any type that is copied byte by byte: four bytes at a time here, and
 * what the warp's own shuffles know by those. `SHUFFLE(word)` is the shuffle of one word. */
#define VGPU_GROUP_SHUFFLE(T, value, SHUFFLE)                                                      \
    unsigned int words[(sizeof(T) + 3) / 4] = {};                                                  \
    __builtin_memcpy(words, &value, sizeof(T));                                                    \
    for (unsigned int &word : words)                                                               \
        word = SHUFFLE;                                                                            \
    __builtin_memcpy(&value, words, sizeof(T));                                                    \
    return value

class thread_block
{
  public:
    /* Here all threads meet in barrier_wait(): one that has only arrived holds the others up. */
    struct arrival_token {
    };
    static __device__ arrival_token barrier_arrive()
    {
        return arrival_token();
    }
    static __device__ void barrier_wait(arrival_token &&)
    {
        __syncthreads();
    }
    static __device__ void sync()
    {
        __syncthreads();
    }
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

template <unsigned int Size, class Parent = void> class thread_block_tile;

namespace vgpu_detail
{
/* What a tile is a part of: another tile, or the block. */
template <class Parent> struct tile_parent : thread_block {
};
template <unsigned int Size, class Parent>
struct tile_parent<thread_block_tile<Size, Parent>> : thread_block_tile<Size, Parent> {
};

/* Called by all threads of the parent of a tile, before it is used. */
template <unsigned int Size, bool Wide = (Size > 32)> struct tile_start {
    template <class Parent> static __device__ void at(const Parent &) {}
};
} // namespace vgpu_detail

/* `Size` neighbouring lanes of a warp: 1, 2, 4, 8, 16 or 32. */
template <unsigned int Size, class Parent> class thread_block_tile
{
    static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0,
                  "a tile has 1, 2, 4, 8, 16 or 32 threads, or 64, 128, 256, 512 or 1024");
    using parent = vgpu_detail::tile_parent<Parent>;

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

    static __device__ unsigned int lanes()
    {
        return mask();
    }
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
        return parent::thread_rank() / Size;
    }
    static __device__ unsigned int meta_group_size()
    {
        return (parent::num_threads() + Size - 1) / Size;
    }
    __device__ void sync() const
    {
        __syncwarp(mask());
    }
    template <class T> __device__ T shfl(T value, int lane) const
    {
        VGPU_GROUP_SHUFFLE(T, value, __shfl_sync(mask(), word, lane, Size));
    }
    template <class T> __device__ T shfl_up(T value, unsigned int delta) const
    {
        VGPU_GROUP_SHUFFLE(T, value, __shfl_up_sync(mask(), word, delta, Size));
    }
    template <class T> __device__ T shfl_down(T value, unsigned int delta) const
    {
        VGPU_GROUP_SHUFFLE(T, value, __shfl_down_sync(mask(), word, delta, Size));
    }
    template <class T> __device__ T shfl_xor(T value, unsigned int lanes) const
    {
        VGPU_GROUP_SHUFFLE(T, value, __shfl_xor_sync(mask(), word, lanes, Size));
    }
    __device__ int any(int predicate) const
    {
        return __any_sync(mask(), predicate);
    }
    __device__ int all(int predicate) const
    {
        return __all_sync(mask(), predicate);
    }
    /* Bit i is the thread of rank i in the tile. */
    __device__ unsigned int ballot(int predicate) const
    {
        unsigned int first = thread_block::thread_rank() / Size * Size % 32;
        unsigned int lanes = __ballot_sync(mask(), predicate) >> first;
        return Size == 32 ? lanes : lanes & ((1u << Size % 32) - 1);
    }
    /* The threads with the same value, or all if it is the same for all: bit i is that of rank i.
     */
    template <class T> __device__ unsigned int match_any(T value) const
    {
        return __match_any_sync(mask(), value) >> thread_block::thread_rank() / Size * Size % 32;
    }
    template <class T> __device__ unsigned int match_all(T value, int &all) const
    {
        unsigned int lanes = __match_all_sync(mask(), value, &all);
        return lanes >> thread_block::thread_rank() / Size * Size % 32;
    }
};

/* A tile of nothing larger: its number is 0 of 1. */
__device__ inline thread_block_tile<1, thread_block_tile<1>> this_thread()
{
    return thread_block_tile<1, thread_block_tile<1>>();
}

template <unsigned int Size, class Parent>
__device__ inline thread_block_tile<Size, Parent> tiled_partition(const Parent &parent)
{
    vgpu_detail::tile_start<Size>::at(parent);
    return thread_block_tile<Size, Parent>();
}

/* The lanes that were together when coalesced_threads() was called; ranks in order of lanes. */
class coalesced_group
{
    unsigned int lanes_, part_, parts_; /* part_: of the parts_ into which another group fell */

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
    explicit __device__ coalesced_group(unsigned int lanes, unsigned int part = 0,
                                        unsigned int parts = 1)
        : lanes_(lanes), part_(part), parts_(parts)
    {
    }
    __device__ unsigned int lanes() const
    {
        return lanes_;
    }
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
        return part_;
    }
    __device__ unsigned int meta_group_size() const
    {
        return parts_;
    }
    __device__ void sync() const
    {
        __syncwarp(lanes_);
    }
    /* The lane that a shuffle from `rank` reads: its own where there is no such rank. */
    __device__ int source(unsigned int rank) const
    {
        unsigned int from = lane_of(rank);
        return (int)(from < 32 ? from : lane());
    }
    template <class T> __device__ T shfl(T value, unsigned int rank) const
    {
        VGPU_GROUP_SHUFFLE(T, value, __shfl_sync(lanes_, word, source(rank)));
    }
    template <class T> __device__ T shfl_up(T value, unsigned int delta) const
    {
        unsigned int mine = thread_rank();
        return shfl(value, mine >= delta ? mine - delta : mine);
    }
    template <class T> __device__ T shfl_down(T value, unsigned int delta) const
    {
        unsigned int mine = thread_rank();
        return shfl(value, mine + delta < size() ? mine + delta : mine);
    }
    __device__ int any(int predicate) const
    {
        return __any_sync(lanes_, predicate);
    }
    __device__ int all(int predicate) const
    {
        return __all_sync(lanes_, predicate);
    }
    __device__ unsigned int ballot(int predicate) const
    {
        return ranks_of(__ballot_sync(lanes_, predicate));
    }
    template <class T> __device__ unsigned int match_any(T value) const
    {
        return ranks_of(__match_any_sync(lanes_, value));
    }
    template <class T> __device__ unsigned int match_all(T value, int &all) const
    {
        return ranks_of(__match_all_sync(lanes_, value, &all));
    }

    /* The threads of this group whose ranks divided by `threads` are equal. */
    __device__ coalesced_group tile(unsigned int threads) const
    {
        unsigned int part = thread_rank() / threads, lanes = 0, rank = 0;
        for (unsigned int rest = lanes_; rest; rest &= rest - 1, rank++)
            if (rank / threads == part)
                lanes |= rest & -rest;
        return coalesced_group(lanes, part, (size() + threads - 1) / threads);
    }
};

__device__ inline coalesced_group coalesced_threads()
{
    return coalesced_group(__activemask());
}

/* The threads of `parent` (a tile or a coalesced group) for which `same` is equal. The parts are
 * numbered by their first lanes. */
template <class Parent, class T>
__device__ inline coalesced_group labeled_partition(const Parent &parent, T same)
{
    const unsigned int ranks = parent.match_any(same);
    unsigned int mine = 0, part = 0, parts = 0;
    for (unsigned int i = 0, n = parent.num_threads(); i < n; i++) {
        unsigned int lane = parent.shfl(vgpu_lane_id(), i), first = parent.shfl(ranks, i);
        mine |= (ranks >> i & 1) << lane;
        if ((first & -first) == 1u << i) { /* the first of a part */
            part = ranks >> i & 1 ? parts : part;
            parts++;
        }
    }
    return coalesced_group(mine, part, parts);
}

/* Part 1 are those with `side`, unless all or none have it. */
template <class Parent>
__device__ inline coalesced_group binary_partition(const Parent &parent, bool side)
{
    const coalesced_group mine = labeled_partition(parent, (int)side);
    const bool whole = mine.meta_group_size() == 1;
    return coalesced_group(mine.lanes(), whole ? 0 : side, whole ? 1 : 2);
}

/* Any of the groups of one block, where a function shall not care which. */
class thread_group
{
    unsigned int lanes_; /* of the warp; 0: the whole block */

  public:
    __device__ thread_group(const thread_block &) : lanes_(0) {}
    __device__ thread_group(const coalesced_group &group) : lanes_(group.lanes()) {}
    template <unsigned int Size, class Parent>
    __device__ thread_group(const thread_block_tile<Size, Parent> &)
        : lanes_(thread_block_tile<Size, Parent>::lanes())
    {
    }

    __device__ unsigned int thread_rank() const
    {
        return lanes_ ? coalesced_group(lanes_).thread_rank() : thread_block::thread_rank();
    }
    __device__ unsigned int num_threads() const
    {
        return lanes_ ? coalesced_group(lanes_).num_threads() : thread_block::num_threads();
    }
    __device__ unsigned long long size() const
    {
        return num_threads();
    }
    __device__ void sync() const
    {
        if (lanes_)
            __syncwarp(lanes_);
        else
            __syncthreads();
    }

    /* As coalesced_group's; neighbours in a block are threads of one warp. */
    __device__ thread_group tile(unsigned int threads) const
    {
        if (lanes_)
            return coalesced_group(lanes_).tile(threads);
        unsigned int first = thread_rank() / threads * threads;
        unsigned int left = thread_block::num_threads() - first;
        unsigned int count = left < threads ? left : threads;
        return coalesced_group((count >= 32 ? 0xffffffffu : (1u << count) - 1) << first % 32);
    }
};

/* 1, 2, 4, 8, 16 or 32 threads, a number that need not be known when compiled. */
__device__ inline thread_group tiled_partition(const thread_group &parent, unsigned int threads)
{
    return parent.tile(threads);
}

__device__ inline coalesced_group tiled_partition(const coalesced_group &parent,
                                                  unsigned int threads)
{
    return parent.tile(threads);
}

/* All blocks of a kernel that cudaLaunchCooperativeKernel launched. */
class grid_group
{
  public:
    /* As thread_block's: all meet in barrier_wait(). */
    struct arrival_token {
    };
    static __device__ arrival_token barrier_arrive()
    {
        return arrival_token();
    }
    static __device__ void barrier_wait(arrival_token &&)
    {
        sync();
    }
    static __device__ bool is_valid()
    {
        return vgpu_cooperative != 0;
    }
    /* Each block meets inside; then one thread of each counts, and waits for the others'. */
    static __device__ void sync()
    {
        vgpu_grid_sync(thread_block::thread_rank() == 0, num_blocks());
    }
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
    static __device__ dim3 dim_threads()
    {
        return dim3(gridDim.x * blockDim.x, gridDim.y * blockDim.y, gridDim.z * blockDim.z);
    }
    static __device__ dim3 thread_index()
    {
        return dim3(blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y * blockDim.y + threadIdx.y,
                    blockIdx.z * blockDim.z + threadIdx.z);
    }
    static __device__ dim3 dim_clusters()
    {
        const dim3 blocks = __clusterDim();
        return dim3(gridDim.x / blocks.x, gridDim.y / blocks.y, gridDim.z / blocks.z);
    }
    static __device__ unsigned long long num_clusters()
    {
        return num_blocks() / __clusterSizeInBlocks();
    }
    static __device__ dim3 cluster_index()
    {
        const dim3 blocks = __clusterDim();
        return dim3(blockIdx.x / blocks.x, blockIdx.y / blocks.y, blockIdx.z / blocks.z);
    }
    static __device__ unsigned long long cluster_rank()
    {
        const dim3 at = cluster_index(), all = dim_clusters();
        return ((unsigned long long)at.z * all.y + at.y) * all.x + at.x;
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

template <class Group> __device__ inline auto thread_rank(const Group &group)
{
    return group.thread_rank();
}

template <class Group> __device__ inline auto group_size(const Group &group)
{
    return group.num_threads();
}

} // namespace cooperative_groups

#include "cooperative_groups/vgpu_block_tile.h"
#include "cooperative_groups/vgpu_cluster.h"
#include "cooperative_groups/vgpu_invoke.h"

#undef VGPU_GROUP_SHUFFLE

#endif

#endif
