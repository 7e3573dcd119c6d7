/* SPDX-License-Identifier: MIT
 * vgpu_invoke.h: a function that one thread of a group calls, for cooperative_groups.h: the one of
 * rank 0, which CUDA leaves open.
 */
#ifndef VGPU_COOPERATIVE_GROUPS_INVOKE_H
#define VGPU_COOPERATIVE_GROUPS_INVOKE_H

#include "../cooperative_groups.h"

/* As there: host code that no CUDA compiler reads gets nothing. */
#ifdef __CUDA__

namespace cooperative_groups
{

template <class Group, class Function, class... Arguments>
__device__ inline void invoke_one(const Group &group, Function &&function, Arguments &&...arguments)
{
    if (group.thread_rank() == 0)
        static_cast<Function &&>(function)(static_cast<Arguments &&>(arguments)...);
}

/* All get what it returned. Groups with shuffles only: tiles and coalesced groups. */
template <class Group, class Function, class... Arguments>
__device__ inline auto invoke_one_broadcast(const Group &group, Function &&function,
                                            Arguments &&...arguments)
{
    decltype(static_cast<Function &&>(function)(static_cast<Arguments &&>(arguments)...)) result{};
    if (group.thread_rank() == 0)
        result = static_cast<Function &&>(function)(static_cast<Arguments &&>(arguments)...);
    return group.shfl(result, 0);
}

} // namespace cooperative_groups

#endif

#endif
