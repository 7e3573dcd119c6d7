/* SPDX-License-Identifier: MIT
 * order.c: see order.h.
 *
 * `newest` is the head of the list of operations that have not begun, ordered from the last issued
 * to the first. An operation that is waited for must be carried out, with everything that it
 * depends on. Of all others, only those that access the same memory take part, since they could
 * have read or overwritten it; the rest is not carried out, because waiting for one operation
 * guarantees nothing about another one. (Exception: if kernels poll and none makes progress, any
 * ready operation may be carried out, since a kernel may wait for it.)
 *
 * The rule: take the last issued operation and follow its dependencies, always to the last issued
 * one, to an operation that is ready. But if a ready operation that was issued later accesses the
 * same memory, that one is carried out first. So everything that leads to the last operation comes
 * before everything that does not, and any operation that can overtake another one does. With
 * VGPU_SCHEDULE, a pseudo-random ready operation is chosen instead. `stalled` contains kernels that
 * have begun and poll; they are resumed after others have run.
 */
#include "order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "effect.h"
#include "explain.h"
#include "device_memory.h"
#include "process.h"
#include "reserve.h"
#include "schedule.h"
#include "quiescence.h"

/* Time limit for kernels that make progress while polling; long enough for slow machines. */
#define POLLING_S 20.0
enum { LOOKS = 16 };

struct order {
    struct op_list stalled, marks, path, search;
    struct {
        uint64_t *item;
        int count, room;
        /* Allocations that the wanted operations access, sorted. */
    } touched;
    /* The last issued operation that has not begun; the others are linked by `older`. */
    struct op *newest;
    /* The last issued operation that is ready to be carried out. */
    struct op *newest_ready;
    bool draining; /* order_ready is carrying out marks */
    /* Kernels wait for each other: any ready operation may be chosen. */
    bool any_ready;
    uint64_t search_number;
    /* State of the random sequence of VGPU_SCHEDULE; 0: the worst-case order. */
    uint64_t random_state;
    uint64_t steps, choices;
    /* All stalled kernels have polled without progress, and nothing has happened since. */
    bool all_polled;
    /* Kernels that keep communicating, or pretend to, occupy the node for a limited time only; then
     * other requests are served before it continues with them. */
    double polling_since; /* 0: no kernel has been resumed since this began */
    unsigned looks;
};

/* ---- operations that have not begun ---- */

struct order *order_new(void)
{
    struct order *o = calloc(1, sizeof *o);
    if (o)
        o->random_state = vgpu_schedule();
    return o;
}

void order_end(struct order *o)
{
    if (!o)
        return;
    op_list_free(&o->stalled);
    op_list_free(&o->marks);
    op_list_free(&o->path);
    op_list_free(&o->search);
    reserve_give(o->touched.item);
    free(o);
}

void order_add(struct op *op)
{
    struct order *o = op->process->order;
    if (op->kind == OP_MARK)
        return;
    op->order.older = o->newest;
    if (o->newest)
        o->newest->order.newer = op;
    o->newest = op;
}

static void add_ready(struct order *o, struct op *op)
{
    struct op *newer = NULL, *older = o->newest_ready;
    for (; older && older->seq > op->seq; older = older->order.ready_older)
        newer = older;
    op->order.ready_newer = newer;
    op->order.ready_older = older;
    if (older)
        older->order.ready_newer = op;
    if (newer)
        newer->order.ready_older = op;
    else
        o->newest_ready = op;
}

static void begin_op(struct order *o, struct op *op)
{
    op->order.begun = true;
    if (op->order.ready_newer)
        op->order.ready_newer->order.ready_older = op->order.ready_older;
    else
        o->newest_ready = op->order.ready_older;
    if (op->order.ready_older)
        op->order.ready_older->order.ready_newer = op->order.ready_newer;
    if (op->order.newer)
        op->order.newer->order.older = op->order.older;
    else
        o->newest = op->order.older;
    if (op->order.older)
        op->order.older->order.newer = op->order.newer;
}

void order_ready(struct op *op)
{
    struct order *o = op->process->order;
    if (op->kind != OP_MARK) {
        add_ready(o, op);
        return;
    }
    /* Marks have no effect. A list instead of recursion, since chains of marks can be long. */
    op_list_add(&o->marks, op);
    if (o->draining)
        return;
    o->draining = true;
    while (o->marks.count) {
        struct op *mark = op_list_pop(&o->marks);
        op_carried(mark);
        op_drop(mark);
    }
    o->draining = false;
}

/* ---- wanted operations ---- */

static void add_touched(struct order *o, const struct op *op)
{
    for (int i = 0; i < OP_TOUCHES && op->touch[i]; i++) {
        if (o->touched.count == o->touched.room) {
            size_t had = (size_t)o->touched.room * sizeof *o->touched.item;
            o->touched.room = o->touched.room ? 2 * o->touched.room : 64;
            o->touched.item = reserve_grow(o->touched.item, had,
                                           (size_t)o->touched.room * sizeof *o->touched.item);
        }
        o->touched.item[o->touched.count++] = op->touch[i];
    }
}

static int compare_touches(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static bool touches_wanted(struct order *o, const struct op *op)
{
    if (o->touched.count == 0) /* bsearch must not be passed a null pointer */
        return false;
    for (int i = 0; i < OP_TOUCHES && op->touch[i]; i++)
        if (bsearch(&op->touch[i], o->touched.item, (size_t)o->touched.count,
                    sizeof *o->touched.item, compare_touches))
            return true;
    return false;
}

/* Marks `op` and everything that it depends on with a new search number, and collects the memory
 * that they access. */
static void mark_ancestors(struct order *o, struct op *op)
{
    o->search_number++;
    o->touched.count = 0;
    op->order.mark = o->search_number;
    op_list_add(&o->search, op);
    while (o->search.count) {
        struct op *at = op_list_pop(&o->search);
        add_touched(o, at);
        for (int i = 0; i < at->dep.count; i++) {
            struct op *dep = at->dep.item[i];
            if (dep->carried || dep->order.mark == o->search_number)
                continue;
            dep->order.mark = o->search_number;
            op_list_add(&o->search, dep);
        }
        op_drop(at);
    }
    if (o->touched.count)
        qsort(o->touched.item, (size_t)o->touched.count, sizeof *o->touched.item, compare_touches);
}

/* True for a copy into host memory that the host has not waited for. */
static bool is_unasked(struct order *o, const struct op *op)
{
    return op->order.mark != o->search_number && op_writes_host(op) && !op->process->dead;
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

/* Continues along `path`, from an operation to one that it depends on, to one that is ready. NULL:
 * the path is finished, or something on it must not be carried out. The path is kept between steps,
 * so that a long chain is traversed once; it holds references, since its operations may be freed in
 * between. */
static struct op *follow_path(struct order *o, bool everything)
{
    while (o->path.count) {
        struct op *op = o->path.item[o->path.count - 1];
        if (op->carried) {
            op_drop(op_list_pop(&o->path));
            continue;
        }
        if (op->order.begun || (!everything && is_unasked(o, op)))
            return NULL;
        struct op *dep = latest_dep(op);
        if (!dep)
            return op;
        op_list_add(&o->path, dep);
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

/* The last issued operation that is ready, was issued after `op` and accesses the same memory, and
 * so may overtake it. NULL: there is none. */
static struct op *find_rival(struct order *o, const struct op *op, bool everything)
{
    for (struct op *r = o->newest_ready; r && r->seq > op->seq; r = r->order.ready_older)
        if (share_memory(op, r) && (everything || !is_unasked(o, r)))
            return r;
    return NULL;
}

/* With VGPU_SCHEDULE: a pseudo-random ready operation (the same in every run). */
static struct op *choose_any_ready(struct order *o, bool everything)
{
    struct op *found = NULL;
    uint64_t count = 0;
    op_list_clear(&o->path);
    for (struct op *op = o->newest_ready; op; op = op->order.ready_older)
        if ((everything || !is_unasked(o, op)) &&
            vgpu_schedule_next(&o->random_state) % ++count == 0)
            found = op;
    return found;
}

/* True if choose_any_ready could have chosen an operation other than `op`. */
static bool is_choice(struct order *o, const struct op *op, bool everything)
{
    for (const struct op *r = o->newest_ready; r; r = r->order.ready_older)
        if (r != op && (everything || !is_unasked(o, r)))
            return true;
    return false;
}

/* The next operation to carry out, or NULL. `everything`: also copies to the host that nothing
 * waits for. */
static struct op *choose_op(struct order *o, bool everything)
{
    if (o->random_state)
        return choose_any_ready(o, everything);
    struct op *found = follow_path(o, everything);
    for (struct op *op = o->newest; op && !found; op = op->order.older) {
        if (!everything && !o->any_ready && op->order.mark != o->search_number &&
            !touches_wanted(o, op))
            continue;
        op_list_clear(&o->path);
        op_list_add(&o->path, op);
        found = follow_path(o, everything);
    }
    struct op *first = found ? find_rival(o, found, everything) : NULL;
    if (first)
        return first;
    return found;
}

/* Polling again without a result must not count as progress, so that a hang is detected. */
static enum effect resume_op(struct op *op)
{
    uint64_t before = memory_control()->progress;
    enum effect result = effect_resume(op);
    if (result == EFFECT_STALLED)
        memory_control()->progress = before;
    return result;
}

/* Resumes every stalled kernel, the last issued first. True if one made progress. */
static bool resume_stalled(struct order *o)
{
    bool moved = false;
    for (int i = o->stalled.count - 1; i >= 0; i--) {
        struct op *op = o->stalled.item[i];
        enum effect result = resume_op(op);
        moved |= result != EFFECT_STALLED;
        if (result != EFFECT_DONE)
            continue;
        op_list_take(&o->stalled, i);
        op_carried(op);
        op_drop(op);
    }
    return moved;
}

/* Stalled kernels made no progress; the value may be written by an operation that nothing waits
 * for, through a pointer unknown to the node. On a GPU it would be running by now, so any ready
 * operation may be chosen. */
static struct op *choose_for_stalled(struct order *o, bool everything)
{
    o->any_ready = true;
    struct op *op = choose_op(o, everything);
    o->any_ready = false;
    return op;
}

static bool polls_too_long(struct order *o)
{
    bool gone = false;
    if (o->polling_since == 0 || ++o->looks % LOOKS != 0)
        return false;
    for (int i = 0; i < o->stalled.count && !gone; i++)
        gone = !o->stalled.item[i]->process->dead && process_is_gone(o->stalled.item[i]->process);
    return gone || wall_seconds() - o->polling_since > POLLING_S;
}

static void count_step(struct order *o)
{
    o->steps++;
    o->all_polled = false;
}

/* One step; false if no step would change anything. */
static bool make_step(struct order *o, bool everything)
{
    struct op *op = choose_op(o, everything);
    if (!op && o->stalled.count) {
        if (!o->all_polled && polls_too_long(o))
            return false; /* `all_polled` is kept, so that the next call continues */
        o->polling_since = o->polling_since > 0 ? o->polling_since : wall_seconds();
        if (!o->all_polled && resume_stalled(o)) {
            count_step(o);
            return true;
        }
        o->all_polled = true;
        op = choose_for_stalled(o, everything);
    }
    if (!op)
        return false;
    count_step(o);
    o->choices += is_choice(o, op, everything);
    begin_op(o, op);
    if (effect_apply(op) == EFFECT_DONE)
        op_carried(op);
    else
        op_list_add(&o->stalled, op);
    return true;
}

enum progress order_carry_out(struct op *op)
{
    struct order *o = op->process->order;
    op_keep(op);
    enum progress result = PROGRESS_DONE;
    mark_ancestors(o, op);
    op_list_clear(&o->path);
    o->polling_since = 0;
    while (!op->carried) {
        if (!make_step(o, false)) {
            result = PROGRESS_BLOCKED;
            break;
        }
    }
    op_list_clear(&o->path);
    op_drop(op);
    return result;
}

enum progress order_flush(struct order *o)
{
    op_list_clear(&o->path);
    o->polling_since = 0;
    while (make_step(o, true))
        ;
    op_list_clear(&o->path);
    return o->stalled.count ? PROGRESS_BLOCKED : PROGRESS_DONE;
}

void order_look(struct order *o)
{
    o->all_polled = false;
}

uint64_t order_steps(const struct order *o)
{
    return o->steps;
}

uint64_t order_choices(const struct order *o)
{
    return o->choices;
}

const struct op *order_newest(const struct order *o)
{
    return o->newest;
}

bool order_pending(const struct order *o)
{
    return o->newest || o->stalled.count;
}

bool order_any_stalled(const struct order *o)
{
    return o->stalled.count > 0;
}

void order_describe(const struct order *o, char *text, int room)
{
    text[0] = '\0';
    for (int i = 0, used = 0; i < o->stalled.count && used < room; i++) {
        struct op *op = o->stalled.item[i];
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
    struct order *o = process->order;
    for (int i = 0; i < o->stalled.count; i++)
        if (o->stalled.item[i]->process == process)
            see(o->stalled.item[i]);
}

void order_abandon(struct process *process)
{
    struct order *o = process->order;
    for (int i = o->stalled.count - 1; i >= 0; i--) {
        struct op *op = o->stalled.item[i];
        if (op->process != process)
            continue;
        effect_abandon(op);
        op_list_take(&o->stalled, i);
        op_carried(op);
        op_drop(op);
    }
}
