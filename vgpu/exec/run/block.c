/* SPDX-License-Identifier: MIT
 * block.c: blocks: made resident, retired, abandoned, described.
 *
 * A block's memory is reused for the next one: a thread that leaves its kernel resets its own
 * fields (fiber.c), so that starting a block only touches its warps.
 */
#include "barrier.h"
#include "block.h"
#include "cluster.h"
#include "device_image.h"
#include "fault.h"
#include "fiber.h"
#include "grid.h"
#include "named_barrier.h"
#include "race.h"
#include "run.h"
#include "sample.h"
#include "work.h"
#include "shared_memory.h"
#include "weak.h"
#include "worker_process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SPARE = 64 };

static struct block *spare; /* free blocks, all of the same shape */
static uint32_t spare_count;

static void number_threads(struct block *block, struct vgpu_dim3 shape)
{
    uint32_t n = 0;
    for (uint32_t z = 0; z < shape.z; z++)
        for (uint32_t y = 0; y < shape.y; y++)
            for (uint32_t x = 0; x < shape.x; x++, n++) {
                struct thread *t = &block->threads[n];
                memset(t, 0, sizeof *t);
                t->block = block;
                t->warp = &block->warps[n / WARP_LANES];
                t->idx = (struct vgpu_dim3){x, y, z};
                t->bit = 1u << n % WARP_LANES;
                t->number = n;
            }
    block->shape = shape;
    block->thread_count = n;
    block->warp_count = (n + WARP_LANES - 1) / WARP_LANES;
}

/* Zeroes the head only. */
static struct block *allocate_block(uint64_t threads)
{
    struct block *block;
    uint64_t bytes = sizeof *block + threads * sizeof *block->threads;
    block = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!block)
        fault_raise(VGPU_FAULT_INTERNAL, 0, false, 0,
                    "no memory for a block of %llu threads: raise the memory limit",
                    (unsigned long long)threads);
    memset(block, 0, sizeof *block);
    return block;
}

static void free_block(struct block *block)
{
    free(block->intervals.met);
    free(block->visibility.of);
    named_free(block);
    free(block);
}

static struct block *block_make(struct vgpu_dim3 shape)
{
    while (spare && memcmp(&spare->shape, &shape, sizeof shape) != 0) {
        struct block *old = spare;
        spare = old->next;
        spare_count--;
        free_block(old);
    }
    struct block *block = spare;
    if (block) {
        spare = block->next;
        spare_count--;
        return block;
    }
    block = allocate_block((uint64_t)shape.x * shape.y * shape.z);
    number_threads(block, shape);
    return block;
}

struct block *block_stand_in(void)
{
    static struct block *one;
    if (!one) {
        one = allocate_block(1);
        memset(one->threads, 0, sizeof *one->threads);
        one->threads->block = one;
        one->threads->warp = one->warps;
    }
    return one;
}

static void start_warps(struct block *block)
{
    uint32_t left = block->thread_count;
    for (uint32_t i = 0; i < block->warp_count; i++, left -= WARP_LANES) {
        uint32_t lanes = left >= WARP_LANES ? ~0u : (1u << left) - 1;
        block->warps[i] = (struct warp){.ready = lanes,
                                        .live = lanes,
                                        .bit = 1u << i,
                                        .threads = block->threads + i * WARP_LANES};
    }
    block->ready_warps = block->warp_count == 32 ? ~0u : (1u << block->warp_count) - 1;
}

static struct block *start_next(struct run *run, struct cluster *cluster)
{
    struct block *block = block_make(run->shape);
    block->run = run;
    block->next = NULL;
    block->number = run_block_at(run, run->next_block++);
    block->idx = run_block_index(run, block->number);
    block->live = block->thread_count;
    block->pollers = 0;
    block->cluster = NULL;
    if (cluster)
        cluster_join(cluster, block);
    barrier_start(block);
    start_warps(block);
    if (run->resident)
        run->last_resident->next = block;
    else
        run->resident = block;
    run->last_resident = block;
    run->resident_count++;
    if (run->resident_count > run->resident_peak)
        run->resident_peak = run->resident_count;
    shared_start(block, false);
    race_block_starts(block);
    sample_block_starts(block);
    return block;
}

/* All blocks of a cluster start together, the one of rank 0 first. */
struct block *block_start(struct run *run)
{
    if (run->resident_count + run->cluster_blocks > run->resident_limit ||
        (run->next_block == run->claimed && !worker_claim(run)) ||
        !worker_starts_block(run->next_block))
        return NULL;
    struct cluster *cluster = run->cluster_blocks > 1 ? cluster_make() : NULL;
    struct block *first = start_next(run, cluster);
    for (uint32_t i = 1; i < run->cluster_blocks; i++)
        start_next(run, cluster);
    return first;
}

static void unlink_block(struct block *block)
{
    struct run *run = block->run;
    struct block *before = NULL, *at = run->resident;
    for (; at != block; at = at->next)
        before = at;
    if (before)
        before->next = block->next;
    else
        run->resident = block->next;
    if (run->last_resident == block)
        run->last_resident = before;
    run->resident_count--;
    run_count_done(1);
    shared_end(block);
    weak_block_ends(block);
    if (block->cluster)
        cluster_block_ends(block);
    sample_block_ends(block);
    work_block_ends(block);
    if (spare_count == MAX_SPARE) {
        free_block(block);
        return;
    }
    spare_count++;
    block->next = spare;
    spare = block;
}

void block_retire(struct block *block)
{
    struct run *run = block->run;
    run->done_blocks++;
    run->counts.threads += block->thread_count;
    run->events++;
    progress();
    unlink_block(block);
}

void block_abandon(struct block *block)
{
    for (uint32_t i = 0; i < block->thread_count; i++)
        if (block->threads[i].stack)
            stack_give(block->threads[i].stack);
    weak_block_ends(block);
    number_threads(block, block->shape);
    unlink_block(block);
}

/* ---- what threads wait for ---- */

enum wait_kind { WAIT_BARRIER, WAIT_NAMED, WAIT_WARP, WAIT_CONVERGE, WAIT_CLUSTER, WAIT_POLL };

static enum wait_kind thread_wait(const struct thread *t)
{
    if (t->warp->in_op & t->bit)
        return WAIT_WARP;
    if (t->warp->polling & t->bit)
        return cluster_awaited(t) ? WAIT_CLUSTER : WAIT_POLL;
    if (t->warp->converging & t->bit)
        return WAIT_CONVERGE;
    return t->named.barrier ? WAIT_NAMED : WAIT_BARRIER;
}

static bool same_wait(const struct thread *a, const struct thread *b)
{
    enum wait_kind kind = thread_wait(a);
    if (kind != thread_wait(b))
        return false;
    if (kind == WAIT_POLL)
        return a->poll.address == b->poll.address;
    if (a->named.barrier != b->named.barrier)
        return false;
    if (kind == WAIT_WARP && a->warp_op.mask != b->warp_op.mask)
        return false;
    return a->site == b->site || (a->site && b->site && strcmp(a->site, b->site) == 0);
}

static int wait_text(char *text, uint64_t room, const struct thread *t)
{
    const char *site = t->site && t->site[0] ? t->site : "?";
    char where[96];
    switch (thread_wait(t)) {
    case WAIT_BARRIER:
        return snprintf(text, room, "at __syncthreads in %s", site);
    case WAIT_NAMED:
        return named_text(t, text, room);
    case WAIT_WARP:
        return snprintf(text, room, "at a warp operation (mask 0x%08x) in %s", t->warp_op.mask,
                        site);
    case WAIT_CLUSTER:
        return snprintf(text, room, "at its cluster's barrier in %s", site);
    case WAIT_POLL:
        image_place(t->poll.pc, where, sizeof where);
        return snprintf(text, room, "for a change of 0x%llx (now 0x%llx)%s%s",
                        (unsigned long long)t->poll.address, (unsigned long long)t->poll.value,
                        where[0] ? " in " : "", where);
    default:
        return snprintf(text, room, "at __activemask");
    }
}

static bool is_live(const struct thread *t)
{
    return t->warp->live & t->bit;
}

/* The number of live threads of the block that wait at the same place as `first`; 0 if one before
 * it does, too. */
static uint32_t count_alike(const struct block *block, const struct thread *first)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < block->thread_count; i++) {
        const struct thread *t = &block->threads[i];
        if (!is_live(t) || !same_wait(t, first))
            continue;
        if (t < first)
            return 0;
        count++;
    }
    return count;
}

void block_describe(const struct block *block, char *text, uint64_t room)
{
    uint64_t at = 0;
    const char *glue = "";
    for (uint32_t i = 0; i < block->thread_count && at + 1 < room; i++) {
        const struct thread *t = &block->threads[i];
        uint32_t alike = is_live(t) ? count_alike(block, t) : 0;
        if (!alike)
            continue;
        char first[40], wait[160];
        dim3_text(first, sizeof first, t->idx);
        wait_text(wait, sizeof wait, t);
        int n = alike == 1
                    ? snprintf(text + at, room - at, "%sthread %s waits %s", glue, first, wait)
                    : snprintf(text + at, room - at, "%s%u threads (first: %s) wait %s", glue,
                               alike, first, wait);
        at += (uint64_t)n;
        glue = "; ";
    }
    if (block->live < block->thread_count && at < room)
        snprintf(text + at, room - at, "; %u of %u have left the kernel",
                 block->thread_count - block->live, block->thread_count);
}
