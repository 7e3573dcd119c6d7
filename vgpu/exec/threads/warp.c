/* SPDX-License-Identifier: MIT
 * warp.c: shuffles, votes, __syncwarp and __activemask.
 *
 * Lanes do not run in lockstep. An operation is a rendezvous of the lanes in its mask, except those
 * that have left the kernel; the last lane to arrive computes all results, so that each lane can
 * proceed to its next operation at once.
 */
#include "warp.h"

#include "fiber.h"
#include "finding.h"
#include "race.h"
#include "weak.h"

#include <string.h>

enum { OP_VOTE = 8, OP_SYNC = 16, OP_PRODUCT = 32, OP_MMA = 64 };
#define NOTHING_READ 0xCBCBCBCBCBCBCBCBull

/* The lane that `lane` reads from, as PTX shfl.sync defines; segments never extend to the right. */
static inline __attribute__((always_inline)) uint32_t source_lane(uint32_t kind, uint32_t width,
                                                                  uint32_t arg, uint32_t lane)
{
    uint32_t first = lane & ~(width - 1), last = first + width - 1;
    switch (kind) {
    case VGPU_SHFL_IDX:
        return first + (arg & (width - 1));
    case VGPU_SHFL_UP:
        return arg <= lane - first ? lane - arg : lane;
    case VGPU_SHFL_DOWN:
        return arg <= last - lane ? lane + arg : lane;
    default:
        return (lane ^ arg) <= last ? lane ^ arg : lane;
    }
}

static uint64_t shuffled_value(const struct warp *warp, const struct thread *t, uint32_t met)
{
    uint32_t lane = t->number % WARP_LANES,
             from = source_lane(t->warp_op.kind, t->warp_op.width, t->warp_op.arg, lane);
    if (from < WARP_LANES && (met >> from & 1))
        return warp->threads[from].warp_op.bits;
    run_finding(FINDING_LANE,
                "a shuffle in %s reads lane %u, which does not take part in it: the value is "
                "undefined (here 0xCBCBCBCB)",
                t->site, from);
    return NOTHING_READ;
}

static uint64_t vote_result(const struct thread *t, uint32_t met, uint32_t yes)
{
    switch (t->warp_op.kind - OP_VOTE) {
    case VGPU_VOTE_ALL:
        return yes == met;
    case VGPU_VOTE_ANY:
        return yes != 0;
    default:
        return yes;
    }
}

static void complete_call(struct warp *warp, uint32_t met)
{
    uint32_t yes = 0;
    bool same = true;
    const struct thread *first = warp->threads + __builtin_ctz(met);
    for (uint32_t rest = met; rest; rest &= rest - 1) {
        const struct thread *t = warp->threads + __builtin_ctz(rest);
        if (t->warp_op.bits)
            yes |= t->bit;
        same &= t->warp_op.kind == first->warp_op.kind;
        if (UNLIKELY(t->warp_op.kind != first->warp_op.kind))
            run_finding(FINDING_OPERATION,
                        "lanes of one warp meet in different warp operations, in %s and %s: all "
                        "lanes of a mask must call the same one",
                        first->site, t->site);
    }
    for (uint32_t rest = met; rest; rest &= rest - 1) {
        struct thread *t = warp->threads + __builtin_ctz(rest);
        if (t->warp_op.kind < OP_VOTE)
            t->warp_op.result = shuffled_value(warp, t, met);
        else if (t->warp_op.kind < OP_SYNC)
            t->warp_op.result = vote_result(t, met, yes);
    }
    if (first->warp_op.kind == OP_PRODUCT && same)
        matrix_product(warp, met);
    if (first->warp_op.kind == OP_MMA && same)
        mma_product(warp, met);
    struct block *block = warp->threads->block;
    if (first->warp_op.kind < OP_VOTE)
        block->run->counts.shuffles += (uint64_t)__builtin_popcount(met);
    warp->in_op &= ~met;
    warp->ready |= met;
    /* A product needs what its lanes have read, and what they store needs the product. */
    if (first->warp_op.kind == OP_SYNC || first->warp_op.kind >= OP_PRODUCT) {
        race_warp_synced(warp, met);
        weak_lanes_meet(warp, met);
    }
    block->ready_warps |= warp->bit;
    block->run->events++;
}

/* Completes the operation of `mask` if all its lanes have arrived. */
static void try_complete(struct warp *warp, uint32_t mask)
{
    uint32_t met = mask & warp->live;
    if ((warp->in_op & met) != met || !met)
        return;
    for (uint32_t rest = met; rest; rest &= rest - 1)
        if ((warp->threads[__builtin_ctz(rest)].warp_op.mask & warp->live) != met)
            return;
    complete_call(warp, met);
}

void warp_left(struct warp *warp)
{
    for (uint32_t rest = warp->in_op; rest; rest &= rest - 1)
        if (warp->in_op & rest & -rest)
            try_complete(warp, warp->threads[__builtin_ctz(rest)].warp_op.mask);
}

static uint64_t operate_warp(uint32_t kind, uint32_t mask, uint64_t bits, const char *site)
{
    struct thread *thread = now.thread;
    struct warp *warp = now.warp;
    thread->site = site;
    if (UNLIKELY(!(mask & thread->bit))) {
        run_finding(FINDING_MASK,
                    "mask 0x%08x in %s does not name lane %u that passes it: undefined; the lanes "
                    "that are there take part",
                    mask, site, thread->number % WARP_LANES);
        mask = warp->live;
    }
    thread->warp_op.kind = kind;
    thread->warp_op.mask = mask;
    thread->warp_op.bits = bits;
    warp->in_op |= thread->bit;
    try_complete(warp, mask);
    park(thread);
    return thread->warp_op.result;
}

OFFERED void vgpu_syncwarp(uint32_t mask, const char *site)
{
    operate_warp(OP_SYNC, mask, 0, site);
}

OFFERED void vgpu_matrix_product(struct vgpu_matrices *part, const char *site)
{
    operate_warp(OP_PRODUCT, 0xffffffff, (uint64_t)part, site);
}

OFFERED void vgpu_ptx_mma(struct vgpu_mma shape, const uint32_t *abc, uint32_t *d, const char *site)
{
    struct vgpu_mma_lane part = {shape, abc, d};
    operate_warp(OP_MMA, 0xffffffff, (uint64_t)&part, site);
}

OFFERED uint64_t vgpu_shfl(enum vgpu_shfl kind, uint32_t mask, uint64_t bits, int lane_arg,
                           int width, const char *site)
{
    struct thread *thread = now.thread;
    thread->warp_op.arg = (uint32_t)lane_arg;
    thread->warp_op.width = width > 0 && width <= WARP_LANES ? (uint32_t)width : WARP_LANES;
    return operate_warp(kind, mask, bits, site);
}

OFFERED uint32_t vgpu_vote(enum vgpu_vote kind, uint32_t mask, int predicate, const char *site)
{
    return (uint32_t)operate_warp(OP_VOTE + kind, mask, predicate != 0, site);
}

/* On hardware it is undefined which lanes are active together. Here: all that can be brought
 * together, determined when no other lane of the warp can run. */
OFFERED uint32_t vgpu_activemask(void)
{
    struct thread *thread = now.thread;
    thread->warp_op.bits = (uint64_t)__builtin_return_address(0);
    now.warp->converging |= thread->bit;
    park(thread);
    return (uint32_t)thread->warp_op.result;
}

void warp_converge(struct warp *warp)
{
    uint64_t place = warp->threads[__builtin_ctz(warp->converging)].warp_op.bits;
    uint32_t group = 0;
    for (uint32_t rest = warp->converging; rest; rest &= rest - 1)
        if (warp->threads[__builtin_ctz(rest)].warp_op.bits == place)
            group |= rest & -rest;
    for (uint32_t rest = group; rest; rest &= rest - 1)
        warp->threads[__builtin_ctz(rest)].warp_op.result = group;
    warp->converging &= ~group;
    warp->ready |= group;
}

/* ---- in the fast form ---- */

static inline __attribute__((always_inline)) void shuffle_lanes(uint32_t kind, uint32_t width,
                                                                const uint64_t *bits,
                                                                const int *lane_arg,
                                                                uint64_t *result)
{
    for (uint32_t lane = 0; lane < WARP_LANES; lane++)
        result[lane] = bits[source_lane(kind, width, (uint32_t)lane_arg[lane], lane)];
}

OFFERED void vgpu_lanes_shuffle(enum vgpu_shfl kind, uint32_t width, const uint64_t *bits,
                                const int *lane_arg, uint64_t *result)
{
    switch (kind) {
    case VGPU_SHFL_IDX:
        shuffle_lanes(VGPU_SHFL_IDX, width, bits, lane_arg, result);
        break;
    case VGPU_SHFL_UP:
        shuffle_lanes(VGPU_SHFL_UP, width, bits, lane_arg, result);
        break;
    case VGPU_SHFL_DOWN:
        shuffle_lanes(VGPU_SHFL_DOWN, width, bits, lane_arg, result);
        break;
    default:
        shuffle_lanes(VGPU_SHFL_XOR, width, bits, lane_arg, result);
        break;
    }
}

OFFERED uint32_t vgpu_lanes_vote(enum vgpu_vote kind, const uint32_t *predicate)
{
    uint32_t yes = 0;
    for (uint32_t lane = 0; lane < WARP_LANES; lane++)
        yes |= (predicate[lane] & 1) << lane;
    return kind == VGPU_VOTE_ALL ? yes == UINT32_MAX : kind == VGPU_VOTE_ANY ? yes != 0 : yes;
}
