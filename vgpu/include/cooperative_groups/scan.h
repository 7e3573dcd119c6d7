/* SPDX-License-Identifier: MIT
 * cooperative_groups/scan.h: prefix sums over a tile or a coalesced group, by rank: inclusive_scan
 * (with the own value) and exclusive_scan (without; rank 0 gets T()); and after the value of an
 * atomic, which grows by all. Values are combined in the order of CUDA 13's headers: with that of
 * the thread 1, 2, 4, ... ranks before, then the warps' in the same way.
 */
#ifndef _COOPERATIVE_GROUPS_SCAN_H
#define _COOPERATIVE_GROUPS_SCAN_H

#include "reduce.h"

/* clang-format off */
namespace cooperative_groups
{
namespace vgpu_detail
{
/* Of a scan: the thread's own result in its warp, and what the warps before it have, if any. */
template <class T> struct scanned {
    T own, before, all;
    bool has_own, has_before;
};

template <unsigned int Count, class T, class Op>
__device__ inline void scan_warps(T (&each)[Count], Op op)
{
    for (unsigned int distance = 1; distance < Count; distance *= 2)
        for (unsigned int warp = Count - 1; warp >= distance; warp--)
            each[warp] = op(each[warp], each[warp - distance]);
}

template <bool Exclusive, class Group, class T, class Op>
__device__ inline scanned<T> scan_one(const Group &group, T value, Op op)
{
    const T whole = scan_warp(group, value, op);
    const T own = Exclusive ? group.shfl_up(whole, 1) : whole;
    const bool has_own = !Exclusive || group.thread_rank() != 0;
    return {own, T(), group.shfl(whole, members(group) - 1), has_own, false};
}

template <bool Exclusive, unsigned int Size, class Parent, class T, class Op>
__device__ inline scanned<T> scan(const thread_block_tile<Size, Parent> &tile, T value, Op op)
{
    if constexpr (Size <= 32) {
        return scan_one<Exclusive>(tile, value, op);
    } else {
        const thread_block_tile<32> warp;
        const unsigned int number = tile.thread_rank() / 32;
        const scanned<T> mine = scan_one<Exclusive>(warp, value, op);
        T each[Size / 32];
        of_warps<Size>(tile, mine.all, each);
        scan_warps(each, op);
        const T before = number ? each[number - 1] : T();
        return {mine.own, before, each[(members(tile) - 1) / 32], mine.has_own, number != 0};
    }
}

template <bool Exclusive, class T, class Op>
__device__ inline scanned<T> scan(const coalesced_group &group, T value, Op op)
{
    return scan_one<Exclusive>(group, value, op);
}

template <class T, class Op> __device__ inline T joined(const scanned<T> &scan, Op op)
{
    if (!scan.has_own)
        return scan.before; /* T() of the first thread */
    return scan.has_before ? op(scan.own, scan.before) : scan.own;
}

/* The last thread adds all to the atomic. CUDA's headers combine the old value with a T() where
 * nothing comes before the first thread of a warp's group. */
template <bool Exclusive, class Group, class Atomic, class T, class Op>
__device__ inline T scan_update(const Group &group, Atomic &atomic, T value, Op op)
{
    const scanned<T> scan = vgpu_detail::scan<Exclusive>(group, value, op);
    T old = T();
    if (group.thread_rank() == members(group) - 1)
        old = update(atomic, scan.all, op);
    old = group.shfl(old, members(group) - 1);
    if (members(group) > 32) {
        const T before = scan.has_before ? op(scan.before, old) : old;
        return scan.has_own ? op(scan.own, before) : before;
    }
    return op(old, scan.has_own ? scan.own : T());
}
} // namespace vgpu_detail

template <class Group, class T, class Op>
__device__ inline T inclusive_scan(const Group &group, T value, Op op)
{
    return vgpu_detail::joined(vgpu_detail::scan<false>(group, value, op), op);
}

template <class Group, class T> __device__ inline T inclusive_scan(const Group &group, T value)
{
    return inclusive_scan(group, value, plus<T>());
}

template <class Group, class T, class Op>
__device__ inline T exclusive_scan(const Group &group, T value, Op op)
{
    return vgpu_detail::joined(vgpu_detail::scan<true>(group, value, op), op);
}

template <class Group, class T> __device__ inline T exclusive_scan(const Group &group, T value)
{
    return exclusive_scan(group, value, plus<T>());
}

template <class Group, class Atomic, class T, class Op = plus<T>>
__device__ inline T inclusive_scan_update(const Group &group, Atomic &&atomic, T value, Op op = Op())
{
    return vgpu_detail::scan_update<false>(group, atomic, value, op);
}

template <class Group, class Atomic, class T, class Op = plus<T>>
__device__ inline T exclusive_scan_update(const Group &group, Atomic &&atomic, T value, Op op = Op())
{
    return vgpu_detail::scan_update<true>(group, atomic, value, op);
}
} // namespace cooperative_groups
/* clang-format on */

#endif
