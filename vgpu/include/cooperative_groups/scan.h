/* SPDX-License-Identifier: MIT
 * cooperative_groups/scan.h: prefix sums over a tile or a coalesced group, by rank: inclusive_scan
 * (with the own value) and exclusive_scan (without; rank 0 gets T()). Values are combined in the
 * order of ranks, the same in every run.
 */
#ifndef _COOPERATIVE_GROUPS_SCAN_H
#define _COOPERATIVE_GROUPS_SCAN_H

#include "reduce.h"

/* clang-format off */
namespace cooperative_groups
{
template <class Group, class T, class Op>
__device__ inline T inclusive_scan(const Group &group, T value, Op op)
{
    T result = value;
    const T own = value;
    for (unsigned int rank = 0, n = vgpu_detail::members(group); rank < n; rank++) {
        T other = group.shfl(own, rank);
        if (rank < group.thread_rank())
            result = rank == 0 ? other : op(result, other);
        else if (rank == group.thread_rank() && rank != 0)
            result = op(result, own);
    }
    return result;
}

template <class Group, class T> __device__ inline T inclusive_scan(const Group &group, T value)
{
    return inclusive_scan(group, value, plus<T>());
}

template <class Group, class T, class Op>
__device__ inline T exclusive_scan(const Group &group, T value, Op op)
{
    T before = group.shfl_up(inclusive_scan(group, value, op), 1);
    return group.thread_rank() == 0 ? T() : before;
}

template <class Group, class T> __device__ inline T exclusive_scan(const Group &group, T value)
{
    return exclusive_scan(group, value, plus<T>());
}
} // namespace cooperative_groups
/* clang-format on */

#endif
