/* SPDX-License-Identifier: MIT
 * cooperative_groups/reduce.h: reduce(group, value, op) over a tile or a coalesced group, and with
 * the result stored or combined with an atomic. Values are combined in the order of CUDA 13's
 * headers, which decides the rounding: in a tile with the thread at distance Size/2, Size/4, ... 1;
 * in a coalesced group of fewer than 32 as in scan.h; warps' results like the threads of a tile.
 */
#ifndef _COOPERATIVE_GROUPS_REDUCE_H
#define _COOPERATIVE_GROUPS_REDUCE_H

#include "../cooperative_groups.h"

/* clang-format off */
namespace cooperative_groups
{
template <class T> struct plus {
    __host__ __device__ T operator()(T a, T b) const { return a + b; }
};
template <class T> struct less { /* the smaller one */
    __host__ __device__ T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T> struct greater {
    __host__ __device__ T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T> struct bit_and {
    __host__ __device__ T operator()(T a, T b) const { return a & b; }
};
template <class T> struct bit_or {
    __host__ __device__ T operator()(T a, T b) const { return a | b; }
};
template <class T> struct bit_xor {
    __host__ __device__ T operator()(T a, T b) const { return a ^ b; }
};

namespace vgpu_detail
{
/* The last tile of a block may have fewer threads than its size. */
template <unsigned int Size, class Parent>
__device__ inline unsigned int members(const thread_block_tile<Size, Parent> &tile)
{
    unsigned int first = thread_block::thread_rank() - tile.thread_rank();
    unsigned int left = thread_block::num_threads() - first;
    return left < Size ? left : Size;
}

__device__ inline unsigned int members(const coalesced_group &group)
{
    return group.size();
}

/* The value of each thread with those of the 1, 2, 4, ... before it, by rank. */
template <class Group, class T, class Op>
__device__ inline T scan_warp(const Group &group, T value, Op op)
{
    for (unsigned int distance = 1; distance < members(group); distance *= 2) {
        T before = group.shfl_up(value, distance);
        if (distance <= group.thread_rank())
            value = op(value, before);
    }
    return value;
}

template <unsigned int Size, class Parent, class T, class Op>
__device__ inline T reduce_warp(const thread_block_tile<Size, Parent> &tile, T value, Op op)
{
    if (members(tile) < Size) /* of which CUDA promises nothing */
        return tile.shfl(scan_warp(tile, value, op), members(tile) - 1);
    for (unsigned int distance = Size / 2; distance > 0; distance /= 2)
        value = op(value, tile.shfl_xor(value, distance));
    return value;
}

/* What the warps of a tile have, in the place of each. */
template <unsigned int Size, class Tile, class T>
__device__ inline void of_warps(const Tile &tile, T value, T (&each)[Size / 32])
{
    const unsigned int last = members(tile) - 1;
    for (unsigned int warp = 0; warp < Size / 32; warp++)
        each[warp] = tile.shfl(value, 32 * warp + 31 < last ? 32 * warp + 31 : last);
}

template <unsigned int Size, class T, class Op>
__device__ inline T reduce_warps(T (&each)[Size / 32], unsigned int warps, Op op)
{
    if (warps < Size / 32) { /* a tile at the end of the block: as above */
        for (unsigned int warp = 1; warp < warps; warp++)
            each[0] = op(each[0], each[warp]);
        return each[0];
    }
    for (unsigned int distance = Size / 64; distance > 0; distance /= 2)
        for (unsigned int warp = 0; warp < distance; warp++)
            each[warp] = op(each[warp], each[warp + distance]);
    return each[0];
}

template <class Atomic, class T, class Op> __device__ inline T update(Atomic &atomic, T value, Op op)
{
    T old = atomic.load();
    while (!atomic.compare_exchange_strong(old, op(old, value))) {
    }
    return old;
}
} // namespace vgpu_detail

template <class T, class Op>
__device__ inline T reduce(const coalesced_group &group, T value, Op op)
{
    if (group.size() == 32)
        return vgpu_detail::reduce_warp(thread_block_tile<32>(), value, op);
    return group.shfl(vgpu_detail::scan_warp(group, value, op), group.size() - 1);
}

/* Each warp, then the warps. */
template <unsigned int Size, class Parent, class T, class Op>
__device__ inline T reduce(const thread_block_tile<Size, Parent> &tile, T value, Op op)
{
    if constexpr (Size <= 32) {
        return vgpu_detail::reduce_warp(tile, value, op);
    } else {
        T each[Size / 32];
        const T own = vgpu_detail::reduce_warp(thread_block_tile<32>(), value, op);
        vgpu_detail::of_warps<Size>(tile, own, each);
        const unsigned int warps = (vgpu_detail::members(tile) + 31) / 32;
        return vgpu_detail::reduce_warps<Size>(each, warps, op);
    }
}

/* A cuda::atomic or a cuda::atomic_ref gets the result, or is combined with it. */
template <class Group, class Atomic, class T, class Op>
__device__ inline void reduce_update_async(const Group &group, Atomic &&atomic, T value, Op op)
{
    const T result = reduce(group, value, op);
    if (group.thread_rank() == 0)
        vgpu_detail::update(atomic, result, op);
}

template <class Group, class Atomic, class T, class Op>
__device__ inline void reduce_store_async(const Group &group, Atomic &&atomic, T value, Op op)
{
    const T result = reduce(group, value, op);
    if (group.thread_rank() == 0)
        atomic.store(result);
}

template <class Group, class To, class T, class Op>
__device__ inline void reduce_store_async(const Group &group, To *to, T value, Op op)
{
    const T result = reduce(group, value, op);
    if (group.thread_rank() == 0)
        *to = result;
}
} // namespace cooperative_groups
/* clang-format on */

#endif
