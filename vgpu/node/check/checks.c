/* SPDX-License-Identifier: MIT
 * checks.c: see checks.h.
 */
#include "checks.h"

#include <stdlib.h>

#include "call_advice.h"
#include "finding.h"
#include "hazard.h"
#include "kernel_advice.h"
#include "leaks.h"
#include "device_memory.h"
#include "misuse.h"
#include "observer.h"
#include "order.h"
#include "process.h"
#include "race.h"
#include "schedule.h"
#include "stream.h"
#include "vector_clock.h"
#include "weak_runs.h"

struct checks {
    struct vclocks *clocks;
    struct races *races;
    struct weak_runs *weak; /* NULL: without VGPU_SCHEDULE=weak */
    struct op_observer observer;
};

/* ---- observer callbacks: operations ---- */

static void op_issued(void *self, struct op *op)
{
    (void)self;
    advise_issued(op);
}

static void op_follows(void *self, struct op *op, const struct op *dep)
{
    struct checks *c = self;
    vclocks_after(c->clocks, op, dep);
}

static void op_ordered(void *self, struct op *op, struct stream *stream)
{
    struct checks *c = self;
    if (stream && !stream->check.component)
        stream->check.component = vclocks_component(c->clocks);
    vclocks_issue(c->clocks, op, stream ? stream->check.component : 0);
}

static void op_begins(void *self, struct op *op)
{
    struct checks *c = self;
    races_note(c->races, op);
    if (c->weak && op->kind == OP_KERNEL)
        weak_runs_begin(c->weak, c->clocks, op);
}

static void kernel_faulted(const struct op *op, const struct vgpu_exec_reply *reply)
{
    if (reply->fault.kind == VGPU_FAULT_ADDRESS)
        misuse_foreign_memory(op, reply->fault.address);
    if (reply->fault.idle)
        hazard_spin(op, reply->fault.where);
}

static void kernel_ran(void *self, struct op *op, const struct kernel_report *report)
{
    struct checks *c = self;
    const struct vgpu_exec_reply *reply = report->reply;
    finding_strays(op, reply);
    hazards_tell(op, reply);
    vclocks_signals(c->clocks, op, &reply->signals);
    if (c->weak && reply->status != VGPU_STALLED)
        weak_runs_over(c->weak, op);
    if (reply->status == VGPU_RAN)
        races_note_spans(c->races, op, report->span, report->spans);
    if (reply->status == VGPU_FAULTED)
        kernel_faulted(op, reply);
    if (reply->status == VGPU_RAN && reply->text[0])
        hazard_text(op, reply->text);
}

static void op_over(void *self, struct op *op)
{
    (void)self;
    advise_copied(op);
    advise_kernel_finished(op);
}

static void op_is_seen(void *self, const struct op *op)
{
    struct checks *c = self;
    vclocks_seen(c->clocks, op);
    if (order_pending(op->process->order))
        return;
    races_quiescent(c->races);
    vclocks_quiescent(c->clocks);
}

static void op_is_freed(void *self, struct op *op)
{
    (void)self;
    vclocks_free(op);
}

static void stream_ends(void *self, struct stream *stream)
{
    struct checks *c = self;
    vclocks_component_end(c->clocks, stream->check.component);
    stream->check.component = 0;
}

static void process_ended(void *self, struct process *process)
{
    struct checks *c = self;
    vclocks_process_ended(c->clocks, process);
    races_process_ended(c->races, process);
    if (c->weak)
        weak_runs_process_ended(c->weak, process);
    advise_calls_free(process);
    advise_kernels_free(process);
}

static void memory_released(void *self, uint64_t home)
{
    struct checks *c = self;
    races_forget(c->races, home);
}

/* ---- creation and end ---- */

struct checks *checks_new(void)
{
    struct checks *c = calloc(1, sizeof *c);
    struct vclocks *clocks = c ? vclocks_new() : NULL;
    struct races *races = clocks ? races_new(clocks) : NULL;
    bool weak = vgpu_schedule_is_weak();
    struct weak_runs *weak_runs = races && weak ? weak_runs_new() : NULL;
    if (!races || (weak && !weak_runs)) {
        races_end(races);
        vclocks_end(clocks);
        free(c);
        return NULL;
    }
    if (weak)
        vclocks_start(clocks);
    *c = (struct checks){.clocks = clocks,
                         .races = races,
                         .weak = weak_runs,
                         .observer = {.self = c,
                                      .issued = op_issued,
                                      .follows = op_follows,
                                      .ordered = op_ordered,
                                      .begins = op_begins,
                                      .ran = kernel_ran,
                                      .finished = op_over,
                                      .seen = op_is_seen,
                                      .freed = op_is_freed,
                                      .stream_ends = stream_ends,
                                      .process_ended = process_ended}};
    return c;
}

void checks_end(struct checks *c)
{
    if (!c)
        return;
    weak_runs_end(c->weak);
    races_end(c->races);
    vclocks_end(c->clocks);
    op_unobserve(&c->observer);
    memory_unwatch(c);
    free(c);
}

void checks_observe(struct checks *c)
{
    op_observe(&c->observer);
    memory_watch(memory_released, c);
}

/* ---- calls of the server ---- */

void checks_start_races(struct checks *c)
{
    vclocks_start(c->clocks);
}

void checks_host_touched(struct checks *c, struct op *op, const struct vgpu_span *byte)
{
    vclocks_touch(c->clocks, op);
    races_note_spans(c->races, op, byte, 1);
}

void checks_host_released(struct checks *c, const struct process *process, uint64_t address)
{
    races_forget_host(c->races, process, address);
}

void checks_host_knows_all(struct checks *c)
{
    vclocks_all_seen(c->clocks);
}

bool checks_known_step(const struct checks *c, struct vgpu_step step)
{
    return vclocks_known_step(c->clocks, step);
}

uint32_t checks_learned(const struct checks *c)
{
    return vclocks_learned(c->clocks);
}

void checks_stalled(const struct op *op)
{
    hazard_crowded(op);
}

void checks_program_found(struct process *process, enum vgpu_diagnosis diagnosis, uint64_t caller,
                          const char *text, int length)
{
    finding_tell(process, diagnosis, NULL, caller, "%.*s", length, text);
}

void checks_tell_end(struct process *process)
{
    misuse_process_ends(process);
    leaks_tell(process);
    advise_calls_tell(process);
    advise_kernels_tell(process);
}
