/* SPDX-License-Identifier: MIT
 * observer.h: callbacks for observers of operations. The graph does not depend on the clock, the
 * checks or the trace: each registers its callbacks once when the node starts (node.c).
 *
 * Observers are called in the order of registration. An observer that keeps an operation beyond a
 * call must hold a reference (op.h). Observers must not submit, carry out or finish operations,
 * except in `ready`.
 */
#ifndef VGPU_OBSERVER_H
#define VGPU_OBSERVER_H

#include "op.h"

struct stream;
struct vgpu_exec_reply;
struct vgpu_span;

/* A kernel has run until it stalled or ended. */
struct kernel_report {
    const struct vgpu_exec_reply *reply; /* the context's reply */
    const struct vgpu_span *span;        /* memory that it used, once it has ended */
    uint32_t spans;
    bool resumed; /* it had stalled before */
};

/* A mistake that hardware accepts, or a piece of advice. */
struct finding {
    const struct process *process;
    const struct op *op;     /* NULL: not about an operation */
    const char *name, *site; /* site: "file:line" or "" */
    /* The GPU and the number of bytes of the memory concerned. */
    int memory;
    uint64_t bytes;
    bool advice;
};

struct op_observer {
    /* The first argument of each callback; callbacks that are NULL are skipped. */
    void *self;

    /* callbacks in the life of an operation */
    /* Made for a stream; its dependencies are not known yet. */
    void (*issued)(void *self, struct op *op);
    void (*follows)(void *self, struct op *op, const struct op *dep);
    /* All its dependencies are known; `stream` NULL: it is in no stream. */
    void (*ordered)(void *self, struct op *op, struct stream *stream);
    /* Everything that it depends on has finished in virtual time. */
    void (*ready)(void *self, struct op *op);
    void (*begins)(void *self, struct op *op);  /* its effect is about to take place */
    void (*resumes)(void *self, struct op *op); /* a stalled kernel is about to poll again */
    void (*ran)(void *self, struct op *op, const struct kernel_report *report);
    /* The effect of an operation that is not a kernel took place. */
    void (*done)(void *self, struct op *op);
    /* Virtual time has passed its end. Marks, which take no time, are not told of. */
    void (*finished)(void *self, struct op *op);
    void (*seen)(void *self, const struct op *op); /* the host has learned that it is over */
    void (*freed)(void *self, struct op *op);

    /* An observer reports a finding to the others. */
    void (*found)(void *self, const struct finding *finding);

    void (*stream_ends)(void *self, struct stream *stream);
    void (*process_ends)(void *self, struct process *process); /* before anything is freed */
    /* After everything but the structure itself was freed. */
    void (*process_ended)(void *self, struct process *process);
};

/* Registers an observer, which must remain valid until op_unobserve. */
void op_observe(const struct op_observer *observer);

/* Removes an observer; does nothing if it is not registered. */
void op_unobserve(const struct op_observer *observer);

/* The host has waited for `op`, or has found that it is over. */
void op_seen(const struct op *op);

/* ---- called by the graph ---- */

void tell_issued(struct op *op);
void tell_follows(struct op *op, const struct op *dep);
void tell_ordered(struct op *op, struct stream *stream);
void tell_ready(struct op *op);
void tell_begins(struct op *op);
void tell_resumes(struct op *op);
void tell_ran(struct op *op, const struct kernel_report *report);
void tell_done(struct op *op);
void tell_finished(struct op *op);
void tell_freed(struct op *op);
void tell_found(const struct finding *finding);
void tell_stream_ends(struct stream *stream);
void tell_process_ends(struct process *process);
void tell_process_ended(struct process *process);

#endif
