/* SPDX-License-Identifier: MIT
 * view.h: views of stores (weak_table.h), and the state of threads, blocks and runs that has them.
 */
#ifndef VGPU_EXEC_VIEW_H
#define VGPU_EXEC_VIEW_H

#include "exec.h"
#include "weak_table.h"

enum { WEAK_SCOPES = 3 };

struct weak_fences {
    /* What it has read of threads' releases without a fence yet, by where the releasing thread is:
     * in this block, elsewhere on this GPU, on another one. */
    struct vgpu_weak_view unfenced[WEAK_SCOPES];
    /* What had been seen at the last fence of at least this scope, and its number among those of
     * the thread; 0: there was none. */
    struct vgpu_weak_view released[WEAK_SCOPES];
    uint32_t number[WEAK_SCOPES], last;
};

struct weak_thread {
    struct vgpu_weak_view seen;
    uint64_t early;             /* address of a store that was made before its load; 0: none */
    struct weak_fences *fences; /* NULL: no fence, and nothing read that a fence would acquire */
    struct weak_thread *next;   /* in the list of free ones */
};

struct weak_block {
    struct vgpu_weak_view seen;   /* at its start, or its last barrier */
    struct vgpu_weak_view fenced; /* what fence.sc has ordered in it */
};

struct weak_run {
    struct vgpu_weak_view at_start;
    int32_t slot; /* -1: none */
};

static inline struct vgpu_weak_table *weak_table(void)
{
    return &context.control->weak;
}

/* Whether a store of this number is still in the table. */
bool weak_is_kept(uint64_t number);

bool view_has(struct vgpu_weak_view *view, uint64_t number);
void view_add(struct vgpu_weak_view *view, uint64_t number);
void view_join(struct vgpu_weak_view *to, struct vgpu_weak_view *from);

/* What the thread has seen, for reading; its own state, for changes. */
struct vgpu_weak_view *weak_seen(const struct thread *thread);
struct weak_thread *weak_own(struct thread *thread);
struct weak_fences *weak_fences_of(struct weak_thread *own);
struct weak_block *weak_block_of(struct block *block);
/* The thread, which has state of its own, has its block's again. */
void weak_disown(struct thread *thread);

/* Identifies a block among all of the node. */
uint64_t weak_block_key(const struct block *block);

#endif
