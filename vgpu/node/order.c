/* SPDX-License-Identifier: MIT
 * order.c: see order.h.
 *
 * `ready` is a heap of operations whose dependencies are carried out, the last issued on top.
 * `stalled` holds kernels that began and now poll: they go on after others have run.
 */
#include "order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "effect.h"
#include "memory.h"
#include "process.h"

struct list {
    struct op **item;
    int count, room;
};

static struct list ready, stalled, marks, held, search;
static bool draining;
static uint64_t search_number;

static void list_add(struct list *list, struct op *op)
{
    if (list->count == list->room) {
        list->room = list->room ? 2 * list->room : 64;
        list->item = realloc(list->item, (size_t)list->room * sizeof *list->item);
        if (!list->item)
            abort();
    }
    list->item[list->count++] = op;
}

/* ---- the heap: greatest seq first ---- */

static void swap(struct op **a, struct op **b)
{
    struct op *t = *a;
    *a = *b;
    *b = t;
}

static void heap_push(struct op *op)
{
    list_add(&ready, op);
    for (int i = ready.count - 1; i > 0;) {
        int parent = (i - 1) / 2;
        if (ready.item[parent]->seq >= ready.item[i]->seq)
            break;
        swap(&ready.item[parent], &ready.item[i]);
        i = parent;
    }
}

static struct op *heap_pop(void)
{
    struct op *top = ready.item[0];
    ready.item[0] = ready.item[--ready.count];
    for (int i = 0;;) {
        int best = i;
        for (int child = 2 * i + 1; child <= 2 * i + 2; child++)
            if (child < ready.count && ready.item[child]->seq > ready.item[best]->seq)
                best = child;
        if (best == i)
            return top;
        swap(&ready.item[i], &ready.item[best]);
        i = best;
    }
}

void order_ready(struct op *op)
{
    if (op->kind != OP_MARK) {
        heap_push(op);
        return;
    }
    /* Marks have no effect. A list instead of recursion: chains of them can be long. */
    list_add(&marks, op);
    if (draining)
        return;
    draining = true;
    while (marks.count)
        op_carried(marks.item[--marks.count]);
    draining = false;
}

/* ---- choosing ---- */

/* Marks `op` and all it waits for with a fresh number. */
static void mark_ancestors(struct op *op)
{
    search_number++;
    search.count = 0;
    op->mark = search_number;
    list_add(&search, op);
    while (search.count) {
        struct op *at = search.item[--search.count];
        for (int i = 0; i < at->dep_count; i++) {
            struct op *dep = at->dep[i];
            if (dep->carried || dep->mark == search_number)
                continue;
            dep->mark = search_number;
            list_add(&search, dep);
        }
    }
}

/* The next operation to carry out, or NULL. `everything`: copies to the host too. */
static struct op *choose(bool everything)
{
    struct op *found = NULL;
    held.count = 0;
    while (!found && ready.count) {
        struct op *op = heap_pop();
        if (everything || op->mark == search_number || !op_writes_host(op) || op->process->dead)
            found = op;
        else
            list_add(&held, op);
    }
    for (int i = 0; i < held.count; i++)
        heap_push(held.item[i]);
    return found;
}

/* Looking again without seeing anything new is no progress: a hang must look like one. */
static enum effect resume(struct op *op)
{
    uint64_t before = memory_control()->progress;
    enum effect result = effect_resume(op);
    if (result == EFFECT_STALLED)
        memory_control()->progress = before;
    return result;
}

/* Lets every stalled kernel look again, the last issued first. True when one got further. */
static bool resume_stalled(void)
{
    bool moved = false;
    for (int i = stalled.count - 1; i >= 0; i--) {
        struct op *op = stalled.item[i];
        enum effect result = resume(op);
        moved |= result != EFFECT_STALLED;
        if (result != EFFECT_DONE)
            continue;
        stalled.count--;
        memmove(stalled.item + i, stalled.item + i + 1,
                (size_t)(stalled.count - i) * sizeof *stalled.item);
        op_carried(op);
    }
    return moved;
}

/* One step; false when there is nothing to do that would change anything. */
static bool step(bool everything)
{
    struct op *op = choose(everything);
    if (!op)
        return stalled.count && resume_stalled();
    if (effect_apply(op) == EFFECT_DONE)
        op_carried(op);
    else
        list_add(&stalled, op);
    return true;
}

enum progress order_carry_out(struct op *op)
{
    op_keep(op);
    enum progress result = PROGRESS_DONE;
    mark_ancestors(op);
    while (!op->carried) {
        if (!step(false)) {
            result = PROGRESS_BLOCKED;
            break;
        }
    }
    op_drop(op);
    return result;
}

enum progress order_flush(struct process *process)
{
    (void)process; /* others' operations may go along: nothing they promise is broken */
    while (ready.count)
        if (!step(true))
            break;
    while (stalled.count && resume_stalled())
        ;
    return stalled.count ? PROGRESS_BLOCKED : PROGRESS_DONE;
}

void order_describe(char *text, int room)
{
    text[0] = '\0';
    for (int i = 0, used = 0; i < stalled.count && used < room; i++) {
        struct op *op = stalled.item[i];
        used += snprintf(text + used, (size_t)(room - used), "%skernel %s on GPU %d polls: %s",
                         i ? "; " : "", op->u.kernel.name, op->device, effect_stall_text(op));
    }
}

void order_abandon(struct process *process)
{
    for (int i = stalled.count - 1; i >= 0; i--) {
        struct op *op = stalled.item[i];
        if (op->process != process)
            continue;
        effect_abandon(op);
        stalled.count--;
        memmove(stalled.item + i, stalled.item + i + 1,
                (size_t)(stalled.count - i) * sizeof *stalled.item);
        op_carried(op);
    }
}
