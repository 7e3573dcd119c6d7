/* SPDX-License-Identifier: MIT
 * cooperative_groups/reduce.h: reduce(group, value, op) over a tile or a coalesced group. Values
 * are combined in the order of ranks, warp by warp, the same in every run.
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

template <class Group, class T, class Op>
__device__ inline T reduce_warp(const Group &group, T value, Op op)
{
    T result = group.shfl(value, 0);
    for (unsigned int rank = 1, n = members(group); rank < n; rank++)
        result = op(result, group.shfl(value, rank));
    return result;
}
} // namespace vgpu_detail

template <class T, class Op>
__device__ inline T reduce(const coalesced_group &group, T value, Op op)
{
    return vgpu_detail::reduce_warp(group, value, op);
}

/* Each warp, then the warps. */
template <unsigned int Size, class Parent, class T, class Op>
__device__ inline T reduce(const thread_block_tile<Size, Parent> &tile, T value, Op op)
{
    const thread_block_tile<Size < 32 ? Size : 32> warp;
    const T own = vgpu_detail::reduce_warp(warp, value, op);
    T result = Size > 32 ? tile.shfl(own, 0) : own;
    for (unsigned int rank = 32; rank < vgpu_detail::members(tile); rank += 32)
        result = op(result, tile.shfl(own, rank));
    return result;
}
} // namespace cooperative_groups
/* clang-format on */

#endif
