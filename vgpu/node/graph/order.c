/* SPDX-License-Identifier: MIT
 * order.c: see order.h.
 *
 * `newest` heads the list of operations that have not begun, the last issued first. What somebody
 * waits for must be carried out, with all that it depends on. Of the rest only those that touch the
 * same memory take part: they could have seen, or spoiled, what is waited for; everything else
 * stays undone, because a wait for one thing promises nothing about another (but when kernels poll
 * and none gets further, anything that is ready may go: one of them may be waited for). The rule:
 * take the one issued last, and go back along what it waits for, again the last issued first, to
 * one that is ready; but if a later one is ready that touches the same memory, that goes first. So
 * whatever leads to the last one comes before everything that does not, and what could overtake
 * does. With VGPU_SCHEDULE any that is ready goes, by chance. `stalled` holds kernels that began
 * and now poll: they go on after others have run.
 */
#include "order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "effect.h"
#include "explain.h"
#include "device_memory.h"
#include "process.h"
#include "reserve.h"
#include "schedule.h"

#define POLLING_S 20.0 /* of kernels that get further: a slow machine's still get to their end */
enum { LOOKS = 16 };

static struct op_list stalled, marks, path, search;
static struct {
    uint64_t *item;
    int count, room;
} touched; /* allocations that the wanted operations touch, sorted */
static struct op *newest;
static struct op *newest_ready; /* of those: what could begin now, the last issued first */
static bool draining;
static bool anyone; /* kernels wait for each other: whatever is ready may be what helps them */
static uint64_t search_number;
static uint64_t luck; /* VGPU_SCHEDULE; 0: the worst order */
static uint64_t steps, choices;
static bool looked; /* all stalled kernels, in vain, and since then nothing has happened */

/* ---- what has not begun ---- */

void order_start(void)
{
    luck = vgpu_schedule();
}

void order_add(struct op *op)
{
    if (op->kind == OP_MARK)
        return;
    op->order.older = newest;
    if (newest)
        newest->order.newer = op;
    newest = op;
}

static void add_ready(struct op *op)
{
    struct op *newer = NULL, *older = newest_ready;
    for (; older && older->seq > op->seq; older = older->order.ready_older)
        newer = older;
    op->order.ready_newer = newer;
    op->order.ready_older = older;
    if (older)
        older->order.ready_newer = op;
    if (newer)
        newer->order.ready_older = op;
    else
        newest_ready = op;
}

static void begin(struct op *op)
{
    op->order.begun = true;
    if (op->order.ready_newer)
        op->order.ready_newer->order.ready_older = op->order.ready_older;
    else
        newest_ready = op->order.ready_older;
    if (op->order.ready_older)
        op->order.ready_older->order.ready_newer = op->order.ready_newer;
    if (op->order.newer)
        op->order.newer->order.older = op->order.older;
    else
        newest = op->order.older;
    if (op->order.older)
        op->order.older->order.newer = op->order.newer;
}

void order_ready(struct op *op)
{
    if (op->kind != OP_MARK) {
        add_ready(op);
        return;
    }
    /* Marks have no effect. A list instead of recursion: chains of them can be long. */
    op_list_add(&marks, op);
    if (draining)
        return;
    draining = true;
    while (marks.count) {
        struct op *mark = op_list_pop(&marks);
        op_carried(mark);
        op_drop(mark);
    }
    draining = false;
}

/* ---- choosing ---- */

/* ---- what is wanted ---- */

static void add_touched(const struct op *op)
{
    for (int i = 0; i < OP_TOUCHES && op->touch[i]; i++) {
        if (touched.count == touched.room) {
            size_t had = (size_t)touched.room * sizeof *touched.item;
            touched.room = touched.room ? 2 * touched.room : 64;
            touched.item =
                reserve_grow(touched.item, had, (size_t)touched.room * sizeof *touched.item);
        }
        touched.item[touched.count++] = op->touch[i];
    }
}

static int by_address(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static bool touches_wanted(const struct op *op)
{
    if (touched.count == 0) /* bsearch must not be given a null pointer */
        return false;
    for (int i = 0; i < OP_TOUCHES && op->touch[i]; i++)
        if (bsearch(&op->touch[i], touched.item, (size_t)touched.count, sizeof *touched.item,
                    by_address))
            return true;
    return false;
}

/* Marks `op` and all it waits for with a fresh number, and notes what they touch. */
static void mark_ancestors(struct op *op)
{
    search_number++;
    touched.count = 0;
    op->order.mark = search_number;
    op_list_add(&search, op);
    while (search.count) {
        struct op *at = op_list_pop(&search);
        add_touched(at);
        for (int i = 0; i < at->dep.count; i++) {
            struct op *dep = at->dep.item[i];
            if (dep->carried || dep->order.mark == search_number)
                continue;
            dep->order.mark = search_number;
            op_list_add(&search, dep);
        }
        op_drop(at);
    }
    if (touched.count)
        qsort(touched.item, (size_t)touched.count, sizeof *touched.item, by_address);
}

/* A copy into host memory that the host has not asked for. */
static bool unasked(const struct op *op)
{
    return op->order.mark != search_number && op_writes_host(op) && !op->process->dead;
}

static struct op *latest_dep(const struct op *op)
{
    struct op *latest = NULL;
    for (int i = 0; i < op->dep.count; i++) {
        struct op *dep = op->dep.item[i];
        if (!dep->carried && (!latest || dep->seq > latest->seq))
            latest = dep;
    }
    return latest;
}

/* Goes on along `path`, from an operation to one that it waits for, to one that is ready. NULL: the
 * path is done, or something on it is held back. Kept between steps, so that a long chain is
 * walked once; the path holds references, as what is on it may be over and dropped meanwhile. */
static struct op *follow(bool everything)
{
    while (path.count) {
        struct op *op = path.item[path.count - 1];
        if (op->carried) {
            op_drop(op_list_pop(&path));
            continue;
        }
        if (op->order.begun || (!everything && unasked(op)))
            return NULL;
        struct op *dep = latest_dep(op);
        if (!dep)
            return op;
        op_list_add(&path, dep);
    }
    return NULL;
}

static bool share_memory(const struct op *a, const struct op *b)
{
    for (int i = 0; i < OP_TOUCHES && a->touch[i]; i++)
        for (int k = 0; k < OP_TOUCHES && b->touch[k]; k++)
            if (a->touch[i] == b->touch[k])
                return true;
    return false;
}

/* The last issued one that is ready too, came after `op`, and touches the same memory: nothing
 * keeps it from going first. NULL: there is none. */
static struct op *rival(const struct op *op, bool everything)
{
    for (struct op *r = newest_ready; r && r->seq > op->seq; r = r->order.ready_older)
        if (share_memory(op, r) && (everything || !unasked(r)))
            return r;
    return NULL;
}

/* VGPU_SCHEDULE: any operation that is ready, by chance (the same in every run). */
static struct op *any_ready(bool everything)
{
    struct op *found = NULL;
    uint64_t count = 0;
    op_list_clear(&path);
    for (struct op *op = newest_ready; op; op = op->order.ready_older)
        if ((everything || !unasked(op)) && vgpu_schedule_next(&luck) % ++count == 0)
            found = op;
    return found;
}

/* Whether any_ready could have taken another one than `op`. */
static bool is_choice(const struct op *op, bool everything)
{
    for (const struct op *r = newest_ready; r; r = r->order.ready_older)
        if (r != op && (everything || !unasked(r)))
            return true;
    return false;
}

/* The next operation to carry out, or NULL. `everything`: unasked copies to the host too. */
static struct op *choose(bool everything)
{
    if (luck)
        return any_ready(everything);
    struct op *found = follow(everything);
    for (struct op *op = newest; op && !found; op = op->order.older) {
        if (!everything && !anyone && op->order.mark != search_number && !touches_wanted(op))
            continue;
        op_list_clear(&path);
        op_list_add(&path, op);
        found = follow(everything);
    }
    struct op *first = found ? rival(found, everything) : NULL;
    if (first)
        return first;
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
        op_list_take(&stalled, i);
        op_carried(op);
        op_drop(op);
    }
    return moved;
}

/* Stalled kernels got no further, and what they wait for may be written by one that nobody has
 * asked for, through a pointer that we do not know of: on a GPU it would be running by now. */
static struct op *choose_for_stalled(bool everything)
{
    anyone = true;
    struct op *op = choose(everything);
    anyone = false;
    return op;
}

/* Kernels that tell each other something without an end, or say so, keep the node for so long only;
 * then others are heard, and it goes on with them. */
static double polling_since; /* 0: no kernel has been looked at again since this began */

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool polls_too_long(void)
{
    static unsigned looks;
    bool gone = false;
    if (polling_since == 0 || ++looks % LOOKS != 0)
        return false;
    for (int i = 0; i < stalled.count && !gone; i++)
        gone = !stalled.item[i]->process->dead && process_is_gone(stalled.item[i]->process);
    return gone || seconds() - polling_since > POLLING_S;
}

static void stepped(void)
{
    steps++;
    looked = false;
}

/* One step; false when there is nothing to do that would change anything. */
static bool step(bool everything)
{
    struct op *op = choose(everything);
    if (!op && stalled.count) {
        if (!looked && polls_too_long())
            return false; /* `looked` stays: the next one goes on */
        polling_since = polling_since > 0 ? polling_since : seconds();
        if (!looked && resume_stalled()) {
            stepped();
            return true;
        }
        looked = true;
        op = choose_for_stalled(everything);
    }
    if (!op)
        return false;
    stepped();
    choices += is_choice(op, everything);
    begin(op);
    if (effect_apply(op) == EFFECT_DONE)
        op_carried(op);
    else
        op_list_add(&stalled, op);
    return true;
}

enum progress order_carry_out(struct op *op)
{
    op_keep(op);
    enum progress result = PROGRESS_DONE;
    mark_ancestors(op);
    op_list_clear(&path);
    polling_since = 0;
    while (!op->carried) {
        if (!step(false)) {
            result = PROGRESS_BLOCKED;
            break;
        }
    }
    op_list_clear(&path);
    op_drop(op);
    return result;
}

enum progress order_flush(struct process *process)
{
    (void)process; /* others' operations may go along: nothing they promise is broken */
    op_list_clear(&path);
    polling_since = 0;
    while (step(true))
        ;
    op_list_clear(&path);
    return stalled.count ? PROGRESS_BLOCKED : PROGRESS_DONE;
}

void order_look(void)
{
    looked = false;
}

uint64_t order_steps(void)
{
    return steps;
}

uint64_t order_choices(void)
{
    return choices;
}

const struct op *order_newest(void)
{
    return newest;
}

bool order_pending(void)
{
    return newest || stalled.count;
}

bool order_any_stalled(void)
{
    return stalled.count > 0;
}

void order_describe(char *text, int room)
{
    text[0] = '\0';
    for (int i = 0, used = 0; i < stalled.count && used < room; i++) {
        struct op *op = stalled.item[i];
        const char *next = i ? "; " : "";
        if (op->kind == OP_HOST)
            used += snprintf(text + used, (size_t)(room - used),
                             "%sa host function in a stream of GPU %d has not returned", next,
                             op->device);
        else
            used +=
                snprintf(text + used, (size_t)(room - used), "%skernel %s on GPU %d polls: %s%s",
                         next, op->u.kernel.name, op->device, effect_stall_text(op),
                         explain_wait(effect_stall_text(op)));
    }
}

void order_stalled(const struct process *process, void (*see)(const struct op *op))
{
    for (int i = 0; i < stalled.count; i++)
        if (stalled.item[i]->process == process)
            see(stalled.item[i]);
}

void order_abandon(struct process *process)
{
    for (int i = stalled.count - 1; i >= 0; i--) {
        struct op *op = stalled.item[i];
        if (op->process != process)
            continue;
        effect_abandon(op);
        op_list_take(&stalled, i);
        op_carried(op);
        op_drop(op);
    }
}
