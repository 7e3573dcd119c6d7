/* SPDX-License-Identifier: MIT
 * op.c: the graph of operations; see op.h.
 */
#include "op.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codes.h"
#include "device_memory.h"
#include "machine.h"
#include "observer.h"
#include "order.h"
#include "process.h"
#include "reserve.h"

static uint64_t next_seq = 1;

struct op *op_new(struct process *process, int device, enum op_kind kind)
{
    struct op *op = reserve_take(sizeof *op);
    op->kind = kind;
    op->process = process_keep(process);
    usage_at_least(&process->usage->operations, (uint64_t)process->refs - 1);
    op->device = device;
    op->from = op->to = -1;
    op->refs = 1;
    return op;
}

struct op *op_keep(struct op *op)
{
    if (op)
        op->refs++;
    return op;
}

void op_drop(struct op *op)
{
    if (!op || --op->refs > 0)
        return;
    op_list_free(&op->dep);
    op_list_free(&op->user);
    process_drop(op->process);
    if (op->kind == OP_KERNEL) {
        free(op->u.kernel.args);
        free(op->u.kernel.stall_text);
    }
    if (op->counts)
        reserve_give(op->counts);
    tell_freed(op);
    reserve_give(op);
}

/* ---- when an operation knows of the end of another one ---- */

static enum engine_kind copy_engine_kind(const struct op *op)
{
    const struct path_model *pinned = &machine->path[PATH_H2D_PINNED];
    if (op->from < 0) {
        bool carried = (double)(op->u.copy.bytes * op->u.copy.rows) <= pinned->carried_bytes;
        return carried && !op->u.copy.src_pageable ? ENGINE_PROCESSORS : ENGINE_FROM_HOST;
    }
    return op->to < 0 ? ENGINE_TO_HOST : op->to == op->from ? ENGINE_PROCESSORS : ENGINE_PEER;
}

static enum engine_kind engine_kind(const struct op *op)
{
    if (op->kind == OP_COPY)
        return copy_engine_kind(op);
    return op->kind == OP_KERNEL || op->kind == OP_MEMSET ? ENGINE_PROCESSORS : ENGINE_NONE;
}

static const struct edge_costs *edge_costs(const struct op *op)
{
    const struct costs *cost = &machine->cost;
    return op->graph == VGPU_GRAPH_NONE ? &cost->stream_edge : &cost->graph_edge;
}

/* The time when `op` knows of an end at `at_ps`: `later_ps` later if it was waiting by then; at
 * once if it was issued afterwards. */
static uint64_t known_end_ps(const struct op *op, uint64_t at_ps, uint64_t later_ps)
{
    return at_ps > op->issue_ps ? at_ps + later_ps : at_ps;
}

static void raise_after_ps(struct op *op, enum engine_kind kind, uint64_t at_ps)
{
    if (at_ps > op->after_ps[kind])
        op->after_ps[kind] = at_ps;
}

static bool is_copy_engine(enum engine_kind kind)
{
    return kind != ENGINE_NONE && kind != ENGINE_PROCESSORS;
}

/* An engine of `kind` has ended its work at `at_ps`; `far`: it is another GPU's. */
static void note_engine(struct op *op, enum engine_kind kind, bool far, uint64_t at_ps)
{
    uint64_t later_ps = far ? edge_costs(op)->other_gpu_ps : 0;
    if (far && is_copy_engine(kind))
        kind = ENGINE_FAR_COPY;
    raise_after_ps(op, kind, known_end_ps(op, at_ps, later_ps));
}

/* A stream is busy with events that have timing, but not at work. Who waits for such an event, or
 * for one behind it, in another stream or on another GPU, waits for this, too
 * (tests/recorded/hgx-h200-2/timed_edges.txt). */
static void raise_event_ps(struct op *op, const struct op *dep, bool far)
{
    uint64_t at_ps = dep->timed ? dep->end_ps + machine->cost.timed_event_ps : dep->event_ps;
    at_ps = known_end_ps(op, at_ps, far ? edge_costs(op)->other_gpu_ps : 0);
    if (at_ps > op->event_ps)
        op->event_ps = at_ps;
}

/* `dep`, which `op` depends on, is over. A mark stands for what it depends on itself. */
static void note_end(struct op *op, const struct op *dep)
{
    bool far = !op->for_host && dep->device != op->device;
    if (dep->kind != OP_MARK) {
        note_engine(op, engine_kind(dep), far, dep->end_ps);
        return;
    }
    raise_after_ps(op, ENGINE_NONE, dep->issue_ps);
    raise_event_ps(op, dep, far);
    for (int k = 0; k < ENGINE_KINDS; k++)
        if (dep->after_ps[k])
            note_engine(op, (enum engine_kind)k, far, dep->after_ps[k]);
}

/* Does `op` learn later of an end of engine `kind`, because it uses another one? A copy engine
 * learns of any other GPU's copy engines alike (tests/recorded/hgx-h200-2/hops.txt). */
static bool is_other_engine(const struct op *op, enum engine_kind kind)
{
    enum engine_kind own = engine_kind(op);
    bool alike = kind == own || (kind == ENGINE_FAR_COPY && is_copy_engine(own));
    return op->kind != OP_MARK && kind != ENGINE_NONE && own != ENGINE_NONE && !alike;
}

/* The time when everything that `op` depends on is over and its GPU knows it. */
static uint64_t ready_time(const struct op *op)
{
    uint64_t ready_ps = 0;
    for (int k = 0; k < ENGINE_KINDS; k++) {
        bool other = is_other_engine(op, (enum engine_kind)k);
        uint64_t later_ps = other ? edge_costs(op)->other_kind_ps : 0;
        uint64_t at_ps = known_end_ps(op, op->after_ps[k], later_ps);
        ready_ps = at_ps > ready_ps ? at_ps : ready_ps;
    }
    return ready_ps;
}

/* Everything that `op` depends on is finished. */
static void make_ready(struct op *op)
{
    op->work_ps = ready_time(op);
    op->ready_ps = op->event_ps > op->work_ps ? op->event_ps : op->work_ps;
    tell_ready(op);
}

void op_after(struct op *op, struct op *dep)
{
    if (!dep)
        return;
    tell_follows(op, dep);
    if (dep->finished)
        note_end(op, dep);
    if (dep->carried && dep->finished)
        return;
    op_list_add(&op->dep, dep);
    op_list_add(&dep->user, op);
    op->waits_carry += !dep->carried;
    op->waits_finish += !dep->finished;
}

bool op_touches_home(struct op *op, uint64_t home)
{
    for (int i = 0; i < OP_TOUCHES && op->touch[i] != home; i++)
        if (op->touch[i] == 0) {
            op->touch[i] = home;
            return true;
        }
    return false;
}

void op_touches(struct op *op, uint64_t address)
{
    struct pointee p;
    if (memory_find(address, &p))
        (void)op_touches_home(op, p.home);
}

void op_submit(struct op *op)
{
    op->seq = next_seq++;
    op->submitted = true;
    op_keep(op); /* until carried out */
    op_keep(op); /* until finished */
    order_add(op);
    if (op->waits_finish == 0)
        make_ready(op);
    if (op->waits_carry == 0)
        order_ready(op);
}

static void clear_edges(struct op *op)
{
    if (!op->carried || !op->finished)
        return;
    op_list_clear(&op->user);
    op_list_clear(&op->dep);
}

/* Work of a process that has ended never took place: makes other processes with operations that
 * depend on it fail, instead of continuing with data that was not written. */
static void fail_users(const struct op *op)
{
    char text[256];
    snprintf(text, sizeof text,
             "a stream of this process waits for work of process %d, which ended before the work "
             "was done; let processes wait for each other before one of them exits",
             (int)op->process->pid);
    for (int i = 0; i < op->user.count; i++)
        if (op->user.item[i]->process != op->process && !op->user.item[i]->process->dead)
            process_fail(op->user.item[i]->process, VGPU_LAUNCH_FAILURE, text);
}

void op_carried(struct op *op)
{
    op->carried = true;
    op->too_late = op->process->dead || op->process->sticky;
    if (op->process->dead)
        fail_users(op);
    for (int i = 0; i < op->user.count; i++)
        if (--op->user.item[i]->waits_carry == 0 && op->user.item[i]->submitted)
            order_ready(op->user.item[i]);
    clear_edges(op);
    op_drop(op);
}

bool op_is_lost(const struct op *op)
{
    bool over = op->process->dead || op->process->sticky;
    return over && (!op->carried || op->too_late);
}

void op_finished(struct op *op, uint64_t now_ps)
{
    op->finished = true;
    op->end_ps = now_ps;
    if (op->kind != OP_MARK)
        tell_finished(op);
    for (int i = 0; i < op->user.count; i++) {
        struct op *user = op->user.item[i];
        note_end(user, op);
        if (--user->waits_finish == 0 && user->submitted)
            make_ready(user);
    }
    clear_edges(op);
    op_drop(op);
}

static bool is_host_address(uint64_t address)
{
    return address >= VGPU_HOST_VA && address < VGPU_HOST_END;
}

bool op_writes_host(const struct op *op)
{
    return (op->kind == OP_COPY && is_host_address(op->u.copy.dst)) ||
           (op->kind == OP_MEMSET && is_host_address(op->u.memset.dst));
}
