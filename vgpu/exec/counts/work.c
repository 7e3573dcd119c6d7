/* SPDX-License-Identifier: MIT
 * work.c: see work.h.
 */
#include "work.h"

#include <string.h>

#include "counters.h"
#include "image.h"

enum { WORDS = VGPU_WORK_KINDS / 2, BITS = 32 };

OFFERED uint64_t vgpu_work[WORDS];
struct block *work_block;

static struct thread *counted_thread; /* whose instructions vgpu_work has; NULL: no thread */
static uint64_t accesses_before;
static uint64_t of_thread[MAX_BLOCK_THREADS][VGPU_WORK_KINDS];

static uint64_t device_accesses(void)
{
    uint64_t sum = 0;
    for (int write = 0; write < 2; write++)
        for (uint32_t kind = 0; kind <= ACCESS_RANGE; kind++)
            for (uint32_t window = 0; window <= WINDOW_SHARED; window++)
                sum += access_count[write][kind][window];
    return sum;
}

static void add_to_thread(void)
{
    for (uint32_t word = 0; word < WORDS && counted_thread; word++) {
        uint64_t *to = &of_thread[counted_thread->number][(size_t)word * 2];
        to[0] += vgpu_work[word] & UINT32_MAX;
        to[1] += vgpu_work[word] >> BITS;
    }
    memset(vgpu_work, 0, sizeof vgpu_work);
}

void work_block_starts(struct block *block)
{
    work_block = block;
    counted_thread = NULL;
    memset(of_thread, 0, block->thread_count * sizeof *of_thread);
}

void work_switch(struct thread *next)
{
    add_to_thread();
    if (!counted_thread)
        accesses_before = device_accesses();
    counted_thread = next;
}

void work_pause(void)
{
    add_to_thread();
    if (counted_thread)
        now.run->counts.work.accesses += device_accesses() - accesses_before;
    counted_thread = NULL;
}

/* The lanes of a warp carry out an instruction together. */
static void add_warp(struct vgpu_work *work, uint32_t first, uint32_t end)
{
    uint64_t most[VGPU_WORK_KINDS] = {0};
    for (uint32_t i = first; i < end; i++)
        for (uint32_t kind = 0; kind < VGPU_WORK_KINDS; kind++)
            most[kind] = of_thread[i][kind] > most[kind] ? of_thread[i][kind] : most[kind];
    work->slots += most[VGPU_WORK_SLOTS];
    work->integers += most[VGPU_WORK_INTEGERS];
    work->doubles += most[VGPU_WORK_DOUBLES];
    work->special += most[VGPU_WORK_SPECIAL];
    if (most[VGPU_WORK_CHAIN] > work->chain)
        work->chain = most[VGPU_WORK_CHAIN];
    if (most[VGPU_WORK_LOADS] > work->loads)
        work->loads = most[VGPU_WORK_LOADS];
}

void work_block_ends(const struct block *block)
{
    if (block != work_block)
        return;
    work_block = NULL;
    for (uint32_t i = 0; i < block->thread_count; i += WARP_LANES)
        add_warp(&block->run->counts.work, i,
                 i + WARP_LANES < block->thread_count ? i + WARP_LANES : block->thread_count);
}

uint32_t lanes_joined(struct lane_turn *turn, const struct thread *thread, uint64_t address,
                      uint32_t unit, bool apart)
{
    uint32_t warp = thread->number / WARP_LANES + 1, lane = thread->number % WARP_LANES;
    uint32_t joined = 0;
    if (turn->warp != warp) {
        turn->warp = warp;
        turn->present = 0;
    }
    for (uint32_t other = lane ? lane - 1 : 1; other <= lane + 1 && other < WARP_LANES; other += 2)
        if (turn->present >> other & 1)
            joined += (turn->address[other] ^ address) < unit &&
                      !(apart && turn->address[other] == address);
    turn->present |= 1u << lane;
    turn->address[lane] = address;
    return joined;
}
