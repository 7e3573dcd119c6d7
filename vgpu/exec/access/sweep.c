/* SPDX-License-Identifier: MIT
 * sweep.c: accesses of a loop that are counted and checked together (image.h; the compiler's part
 * is vgpu/cc/lower/lower_sweeps.c).
 *
 * A sweep may be used where a callback would only count the access: nothing samples or watches it,
 * and it is aligned and inside an allocation. bounds_hold() says nothing of memory that is not
 * mapped: there the access itself traps.
 */
#include "sweep.h"

#include "bounds.h"
#include "counters.h"
#include "exec.h"
#include "mapped_memory.h"

static bool sweeps_allowed;

void sweeps_allow(bool allowed)
{
    sweeps_allowed = allowed;
}

/* A number of `bits` bits (up to 64). */
static __int128 number_of(uint64_t value, uint32_t bits, bool is_signed)
{
    uint32_t unused = 64 - bits;
    return is_signed ? (__int128)((int64_t)(value << unused) >> unused)
                     : (__int128)(value << unused >> unused);
}

/* Rounds behind the first one of a loop that counts up, as long as the value is less than `end`;
 * -1: the value would overflow. */
static __int128 rounds_up(__int128 value, __int128 step, __int128 end, __int128 most)
{
    if (value >= end)
        return 0;
    __int128 rounds = step > 0 ? (end - value + step - 1) / step : 0;
    return step > 0 && value + rounds * step <= most ? rounds : -1;
}

/* The same for a loop that ends at one value. */
static __int128 rounds_until(uint64_t value, __int128 step, uint64_t end, uint32_t bits)
{
    __int128 way = number_of(step > 0 ? end - value : value - end, bits, false);
    __int128 length = step > 0 ? step : -step;
    return length > 0 && way % length == 0 ? way / length : -1;
}

static __int128 rounds_behind_first(uint64_t first, uint64_t second, uint64_t end,
                                    enum vgpu_compare how, uint32_t bits)
{
    bool is_signed = how >= VGPU_SGT;
    __int128 step = number_of(second - first, bits, true);
    __int128 value = number_of(first, bits, is_signed), limit = number_of(end, bits, is_signed);
    __int128 most = number_of(is_signed ? ~0ull >> (65 - bits) : ~0ull, bits, is_signed),
             least = is_signed ? -most - 1 : 0;

    switch (how) {
    case VGPU_NE:
        return rounds_until(first, step, end, bits);
    case VGPU_ULT:
    case VGPU_SLT:
        return rounds_up(value, step, limit, most);
    case VGPU_ULE:
    case VGPU_SLE:
        return rounds_up(value, step, limit + 1, most);
    case VGPU_UGT:
    case VGPU_SGT:
        return rounds_up(-value, -step, -limit, -least);
    case VGPU_UGE:
    case VGPU_SGE:
        return rounds_up(-value, -step, -limit + 1, -least);
    default:
        return -1;
    }
}

OFFERED uint64_t vgpu_rounds(uint64_t first, uint64_t second, uint64_t end, uint32_t how)
{
    if (!sweeps_allowed || access_limit == 0)
        return 0;
    return (uint64_t)(rounds_behind_first(first, second, end, (enum vgpu_compare)(how & 0xff),
                                          how >> 8) +
                      1);
}

OFFERED uint32_t vgpu_sweep_holds(uint64_t first, uint64_t second, uint64_t last, uint64_t rounds,
                                  uint32_t how)
{
    uint64_t bytes = 1ull << (how & 0xff), low = first < last ? first : last,
             high = first < last ? last : first;
    int64_t step = (int64_t)(second - first), way;

    if (window_of(low) >= access_limit || window_of(high) != window_of(low) ||
        ((first | second) & (bytes - 1)) != 0 ||
        __builtin_mul_overflow(step, (int64_t)(rounds - 1), &way) || way != (int64_t)(last - first))
        return 0;
    return bounds_hold(low, high + bytes);
}

OFFERED void vgpu_sweep_count(uint64_t first, uint64_t rounds, uint32_t how)
{
    access_count[how >> 8][how & 0xff][window_of(first)] += rounds;
}
