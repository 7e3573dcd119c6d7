/* SPDX-License-Identifier: MIT
 * cooperative_groups/memcpy_async.h: copies by a whole group. Nothing is asynchronous here: each
 * thread copies its part at once; before wait() the others' parts are not promised, as in CUDA.
 */
#ifndef _COOPERATIVE_GROUPS_MEMCPY_ASYNC
#define _COOPERATIVE_GROUPS_MEMCPY_ASYNC

#include "../cooperative_groups.h"

/* clang-format off */
namespace cooperative_groups
{
template <class Group, class To, class From>
__device__ inline void memcpy_async(const Group &group, To *to, const From *from, size_t bytes)
{
    size_t words = ((size_t)to | (size_t)from | bytes) % 4 ? 0 : bytes / 4;
    for (size_t i = group.thread_rank(); i < words; i += group.size())
        ((unsigned int *)to)[i] = ((const unsigned int *)from)[i];
    for (size_t i = 4 * words + group.thread_rank(); i < bytes; i += group.size())
        ((unsigned char *)to)[i] = ((const unsigned char *)from)[i];
}

/* The one with room on both sides: the smaller of them is copied. */
template <class Group, class To, class From>
__device__ inline void memcpy_async(const Group &group, To *to, size_t to_count, const From *from,
                                    size_t from_count)
{
    size_t to_bytes = to_count * sizeof(To), from_bytes = from_count * sizeof(From);
    memcpy_async(group, to, from, to_bytes < from_bytes ? to_bytes : from_bytes);
}

template <class Group> __device__ inline void wait(const Group &group)
{
    group.sync();
}

template <unsigned int Stages, class Group> __device__ inline void wait_prior(const Group &group)
{
    group.sync();
}
} // namespace cooperative_groups
/* clang-format on */

#endif
