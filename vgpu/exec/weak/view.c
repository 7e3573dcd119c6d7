/* SPDX-License-Identifier: MIT
 * view.c: see view.h. A thread has a view of its own once it has stored, or read something that was
 * stored; until then it has its block's, and the block its run's.
 */
#include "view.h"

#include <stdlib.h>
#include <string.h>

#include "fault.h"

static struct weak_thread *free_views;

/* ---- views ---- */

bool weak_is_kept(uint64_t number)
{
    uint64_t next = weak_table()->next;
    return number > 0 && number < next && next - number <= VGPU_WEAK_STORES;
}

static uint64_t *word_with(struct vgpu_weak_view *view, uint64_t number)
{
    return &view->bits[number % VGPU_WEAK_STORES / 64];
}

/* Drops the bits that stores made since have taken over. */
static void refresh_view(struct vgpu_weak_view *view)
{
    uint64_t next = weak_table()->next, at = view->up_to;
    if (at == next)
        return;
    view->up_to = next;
    if (next - at >= VGPU_WEAK_STORES) {
        memset(view->bits, 0, sizeof view->bits);
        return;
    }
    while (at < next) {
        uint64_t end = (at | 63) + 1 < next ? (at | 63) + 1 : next;
        uint64_t some = end - at == 64 ? ~0ull : (1ull << (end - at)) - 1;
        *word_with(view, at) &= ~(some << at % 64);
        at = end;
    }
}

bool view_has(struct vgpu_weak_view *view, uint64_t number)
{
    refresh_view(view);
    return *word_with(view, number) >> number % 64 & 1;
}

void view_add(struct vgpu_weak_view *view, uint64_t number)
{
    refresh_view(view);
    *word_with(view, number) |= 1ull << number % 64;
}

void view_join(struct vgpu_weak_view *to, struct vgpu_weak_view *from)
{
    refresh_view(to);
    refresh_view(from);
    for (unsigned i = 0; i < sizeof to->bits / sizeof *to->bits; i++)
        to->bits[i] |= from->bits[i];
}

/* ---- whose they are ---- */

static void *allocate(size_t bytes)
{
    void *room = calloc(1, bytes);
    if (!room)
        fault_raise(VGPU_FAULT_INTERNAL, 0, false, 0,
                    "no memory for the views of VGPU_SCHEDULE=weak: launch fewer threads");
    return room;
}

struct weak_block *weak_block_of(struct block *block)
{
    if (!block->weak) {
        block->weak = allocate(sizeof *block->weak);
        block->weak->seen = block->run->weak->at_start;
    }
    return block->weak;
}

struct vgpu_weak_view *weak_seen(const struct thread *thread)
{
    if (thread->weak)
        return &thread->weak->seen;
    return thread->block->weak ? &thread->block->weak->seen : &thread->block->run->weak->at_start;
}

struct weak_thread *weak_own(struct thread *thread)
{
    if (thread->weak)
        return thread->weak;
    struct weak_thread *own = free_views ? free_views : allocate(sizeof *own);
    free_views = own->next;
    own->seen = *weak_seen(thread);
    own->fences = NULL;
    own->early = 0;
    thread->weak = own;
    return own;
}

struct weak_fences *weak_fences_of(struct weak_thread *own)
{
    if (!own->fences)
        own->fences = allocate(sizeof *own->fences);
    return own->fences;
}

uint64_t weak_block_key(const struct block *block)
{
    return (block->run->id << 32 ^ block->number) + 1;
}

void weak_disown(struct thread *thread)
{
    struct weak_thread *own = thread->weak;
    thread->weak = NULL;
    free(own->fences);
    own->next = free_views;
    free_views = own;
}
