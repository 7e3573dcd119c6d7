/* SPDX-License-Identifier: MIT
 * cooperative_groups/reduce.h: reduce(group, value, op) over a tile or a coalesced group. Values
 * are combined in the order of ranks, the same in every run.
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
template <class Group> __device__ inline unsigned int members(const Group &group)
{
    unsigned int first = group.meta_group_rank() * group.size();
    unsigned int left = thread_block::num_threads() - first;
    return group.meta_group_size() > 1 && left < group.size() ? left : group.size();
}
} // namespace vgpu_detail

template <class Group, class T, class Op>
__device__ inline T reduce(const Group &group, T value, Op op)
{
    T result = group.shfl(value, 0);
    for (unsigned int rank = 1, n = vgpu_detail::members(group); rank < n; rank++)
        result = op(result, group.shfl(value, rank));
    return result;
}
} // namespace cooperative_groups
/* clang-format on */

#endif
