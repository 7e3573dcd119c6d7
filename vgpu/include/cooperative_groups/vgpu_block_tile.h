/* SPDX-License-Identifier: MIT
 * vgpu_block_tile.h: tiles of 64, 128, 256, 512 or 1,024 threads of a block, for
 * cooperative_groups.h. They meet at an mbarrier, and exchange values through shared memory, of
 * which a kernel that uses such tiles has about 8 KiB more than its own.
 */
#ifndef VGPU_BLOCK_TILE_H
#define VGPU_BLOCK_TILE_H

#include "../cooperative_groups.h"

/* As there: host code that no CUDA compiler reads gets nothing. */
#ifdef __CUDA__

namespace cooperative_groups
{

/* What GPUs before compute capability 8.0 need for such tiles; not used here. */
template <unsigned int MaxBlockSize = 1024> struct block_tile_memory {
    unsigned long long reserved[(MaxBlockSize + 31) / 32];
};

template <unsigned int MaxBlockSize>
__device__ inline thread_block this_thread_block(block_tile_memory<MaxBlockSize> &)
{
    return thread_block();
}

namespace vgpu_detail
{
struct wide_tile_room {
    unsigned long long barrier[31]; /* 1 for 1,024 threads, then 2 for 512, ..., 16 for 64 */
    unsigned long long word[1024];  /* of each thread */
};

__device__ inline wide_tile_room &wide_tile_memory()
{
    __shared__ wide_tile_room room;
    return room;
}

template <unsigned int Size, class Parent> class wide_tile
{
    using parent = tile_parent<Parent>;

    static __device__ unsigned long long *word(unsigned int rank)
    {
        unsigned int first = thread_block::thread_rank() / Size * Size;
        return wide_tile_memory().word + first + rank % Size;
    }

  public:
    static __device__ unsigned long long *barrier()
    {
        return wide_tile_memory().barrier + 1024 / Size - 1 + thread_block::thread_rank() / Size;
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
    static __device__ void sync()
    {
        const unsigned long long phase = vgpu_mbarrier(VGPU_MBARRIER_ARRIVE, barrier(), 1);
        while (!vgpu_mbarrier(VGPU_MBARRIER_TEST, barrier(), phase)) {
        }
    }
    template <class T> __device__ T shfl(T value, unsigned int rank) const
    {
        unsigned long long words[(sizeof(T) + 7) / 8] = {};
        __builtin_memcpy(words, &value, sizeof(T));
        for (unsigned long long &each : words) {
            *word(thread_rank()) = each;
            sync();
            each = *word(rank);
            sync();
        }
        __builtin_memcpy(&value, words, sizeof(T));
        return value;
    }
    __device__ int any(int predicate) const
    {
        return count_warps(thread_block_tile<32>().any(predicate)) != 0;
    }
    __device__ int all(int predicate) const
    {
        return count_warps(!thread_block_tile<32>().all(predicate)) == 0;
    }

  private:
    /* The number of the tile's warps for which `yes` is not 0. */
    __device__ unsigned int count_warps(int yes) const
    {
        unsigned int count = 0, first = thread_block::thread_rank() - thread_rank();
        *word(thread_rank()) = yes != 0;
        sync();
        for (unsigned int i = 0; i < Size && first + i < thread_block::num_threads(); i += 32)
            count += (unsigned int)*word(i);
        sync();
        return count;
    }
};

/* The barriers are made before a thread of the tile may arrive, and after all have left those of an
 * earlier tile of this size. */
template <unsigned int Size> struct tile_start<Size, true> {
    template <class Parent> static __device__ void at(const Parent &parent)
    {
        const unsigned int rank = thread_block::thread_rank();
        const unsigned int left = thread_block::num_threads() - rank;
        parent.sync();
        if (rank % Size == 0)
            vgpu_mbarrier(VGPU_MBARRIER_INIT, wide_tile<Size, Parent>::barrier(),
                          left < Size ? left : Size);
        parent.sync();
    }
};
} // namespace vgpu_detail

#define VGPU_WIDE_TILE(Size)                                                                       \
    template <class Parent>                                                                        \
    class thread_block_tile<Size, Parent> : public vgpu_detail::wide_tile<Size, Parent>            \
    {                                                                                              \
      public:                                                                                      \
        __device__ thread_block_tile() {}                                                          \
        template <class Other>                                                                     \
        __device__ thread_block_tile(const thread_block_tile<Size, Other> &)                       \
        {                                                                                          \
        }                                                                                          \
    };
VGPU_WIDE_TILE(64)
VGPU_WIDE_TILE(128)
VGPU_WIDE_TILE(256)
VGPU_WIDE_TILE(512)
VGPU_WIDE_TILE(1024)
#undef VGPU_WIDE_TILE

} // namespace cooperative_groups

#endif

#endif
