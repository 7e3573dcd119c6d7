/* SPDX-License-Identifier: MIT
 * device_warp.h: operations of a warp: shuffles, votes, __syncwarp, match and reduce.
 *
 * Every value travels as 64 raw bits. The public names are macros, so that a report names the
 * line; each takes the arguments of CUDA's function, the width being 32 when left out.
 */
#ifndef VGPU_DEVICE_WARP_H
#define VGPU_DEVICE_WARP_H

template <class T> VGPU_INLINE uint64_t vgpu_to_bits(T value)
{
    uint64_t bits = 0;
    static_assert(sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8,
                  "shuffles take values of 2, 4 or 8 bytes");
    __builtin_memcpy(&bits, &value, sizeof(T));
    return bits;
}

template <class T> VGPU_INLINE T vgpu_from_bits(uint64_t bits)
{
    T value;
    __builtin_memcpy(&value, &bits, sizeof(T));
    return value;
}

/* One function for each type that CUDA has one for: smaller types convert to int as there. */
#define VGPU_SHUFFLES(type)                                                                        \
    VGPU_INLINE type vgpu_shuffle(const char *site, enum vgpu_shfl kind, unsigned mask,            \
                                  type value, int lane, int width = 32)                            \
    {                                                                                              \
        return vgpu_from_bits<type>(                                                               \
            vgpu_shfl(kind, mask, vgpu_to_bits(value), lane, width, site));                        \
    }

VGPU_SHUFFLES(int)
VGPU_SHUFFLES(unsigned int)
VGPU_SHUFFLES(long)
VGPU_SHUFFLES(unsigned long)
VGPU_SHUFFLES(long long)
VGPU_SHUFFLES(unsigned long long)
VGPU_SHUFFLES(float)
VGPU_SHUFFLES(double)
#undef VGPU_SHUFFLES

#define __shfl_sync(mask, ...) vgpu_shuffle(VGPU_SITE, VGPU_SHFL_IDX, mask, __VA_ARGS__)
#define __shfl_up_sync(mask, ...) vgpu_shuffle(VGPU_SITE, VGPU_SHFL_UP, mask, __VA_ARGS__)
#define __shfl_down_sync(mask, ...) vgpu_shuffle(VGPU_SITE, VGPU_SHFL_DOWN, mask, __VA_ARGS__)
#define __shfl_xor_sync(mask, ...) vgpu_shuffle(VGPU_SITE, VGPU_SHFL_XOR, mask, __VA_ARGS__)

#define __all_sync(mask, predicate)                                                                \
    ((int)vgpu_vote(VGPU_VOTE_ALL, mask, (predicate) != 0, VGPU_SITE))
#define __any_sync(mask, predicate)                                                                \
    ((int)vgpu_vote(VGPU_VOTE_ANY, mask, (predicate) != 0, VGPU_SITE))
#define __ballot_sync(mask, predicate)                                                             \
    ((unsigned)vgpu_vote(VGPU_VOTE_BALLOT, mask, (predicate) != 0, VGPU_SITE))
#define __activemask() (vgpu_activemask())

/* __syncwarp() and __syncwarp(mask) */
VGPU_INLINE void vgpu_sync_warp(const char *site, unsigned mask = 0xffffffffu)
{
    vgpu_syncwarp(mask, site);
}
/* Not `, ##__VA_ARGS__`: -std=c++17 keeps its comma where there are no named parameters. */
#define __syncwarp(...) vgpu_sync_warp(VGPU_SITE __VA_OPT__(, ) __VA_ARGS__)

VGPU_INLINE unsigned vgpu_lane_bit(void)
{
    return 1u << vgpu_lane_id();
}

/* ---- made of the ones above ---- */

/* Of all lanes of the mask: who has the same value as this one? */
template <class T> VGPU_INLINE unsigned vgpu_match_any(const char *site, unsigned mask, T value)
{
    unsigned same = 0;
    for (int lane = 0; lane < 32; lane++)
        if (mask >> lane & 1)
            same |= (unsigned)(vgpu_shuffle(site, VGPU_SHFL_IDX, mask, value, lane) == value)
                    << lane;
    return same;
}

template <class T>
VGPU_INLINE unsigned vgpu_match_all(const char *site, unsigned mask, T value, int *all)
{
    unsigned same = vgpu_match_any(site, mask, value);
    *all = same == mask;
    return same == mask ? mask : 0;
}

#define __match_any_sync(mask, value) vgpu_match_any(VGPU_SITE, mask, value)
#define __match_all_sync(mask, value, all) vgpu_match_all(VGPU_SITE, mask, value, all)

enum vgpu_reduction {
    VGPU_REDUCE_ADD,
    VGPU_REDUCE_MIN,
    VGPU_REDUCE_MAX,
    VGPU_REDUCE_AND,
    VGPU_REDUCE_OR,
    VGPU_REDUCE_XOR
};

template <class T> VGPU_INLINE T vgpu_combine(enum vgpu_reduction how, T a, T b)
{
    switch (how) {
    case VGPU_REDUCE_ADD:
        return a + b;
    case VGPU_REDUCE_MIN:
        return b < a ? b : a;
    case VGPU_REDUCE_MAX:
        return a < b ? b : a;
    case VGPU_REDUCE_AND:
        return a & b;
    case VGPU_REDUCE_OR:
        return a | b;
    default:
        return a ^ b;
    }
}

template <class T>
VGPU_INLINE T vgpu_reduce(const char *site, enum vgpu_reduction how, unsigned mask, T value)
{
    T result = value;
    for (int lane = 0, first = 1; lane < 32; lane++) {
        if (!(mask >> lane & 1))
            continue;
        T other = vgpu_shuffle(site, VGPU_SHFL_IDX, mask, value, lane);
        result = first ? other : vgpu_combine(how, result, other);
        first = 0;
    }
    return result;
}

#define __reduce_add_sync(mask, value) vgpu_reduce(VGPU_SITE, VGPU_REDUCE_ADD, mask, value)
#define __reduce_min_sync(mask, value) vgpu_reduce(VGPU_SITE, VGPU_REDUCE_MIN, mask, value)
#define __reduce_max_sync(mask, value) vgpu_reduce(VGPU_SITE, VGPU_REDUCE_MAX, mask, value)
#define __reduce_and_sync(mask, value) vgpu_reduce(VGPU_SITE, VGPU_REDUCE_AND, mask, value)
#define __reduce_or_sync(mask, value) vgpu_reduce(VGPU_SITE, VGPU_REDUCE_OR, mask, value)
#define __reduce_xor_sync(mask, value) vgpu_reduce(VGPU_SITE, VGPU_REDUCE_XOR, mask, value)

#endif
