/* SPDX-License-Identifier: MIT
 * observer.h: who learns of operations. The graph does not know the clock, the checks or the trace:
 * they look on through this interface, each registered once when the node starts (node.c).
 *
 * Calls come in the order of registration. An observer that keeps an operation beyond a call holds
 * a reference (op.h). None may submit, carry out or finish an operation, but in `ready`.
 */
#ifndef VGPU_OBSERVER_H
#define VGPU_OBSERVER_H

#include "op.h"

struct stream;
struct vgpu_exec_reply;
struct vgpu_span;

/* How far a kernel has come: up to a stop, or to its end. */
struct kernel_report {
    const struct vgpu_exec_reply *reply; /* what its context says */
    const struct vgpu_span *span;        /* what it used of memory, once it is over */
    uint32_t spans;
    bool resumed; /* it had stopped before */
};

/* A mistake that hardware accepts, or advice. */
struct finding {
    const struct process *process;
    const struct op *op;     /* NULL: of no operation */
    const char *name, *site; /* site: "file:line" or "" */
    int memory;              /* the GPU and bytes of the memory that it is about */
    uint64_t bytes;
    bool advice;
};

struct op_observer {
    void *self; /* the first argument of each call; a call that is NULL is left out */

    /* An operation's life. */
    void (*issued)(void *self, struct op *op); /* into a stream; what it comes after is not known */
    void (*follows)(void *self, struct op *op, const struct op *dep);
    void (*ordered)(void *self, struct op *op, struct stream *stream); /* all `dep` are known. NULL:
                                                                          in no stream */
    void (*ready)(void *self, struct op *op);   /* all that it comes after is over, in time */
    void (*begins)(void *self, struct op *op);  /* its effect is about to take place */
    void (*resumes)(void *self, struct op *op); /* it has stopped, and looks again */
    void (*ran)(void *self, struct op *op, const struct kernel_report *report);
    void (*done)(void *self, struct op *op);       /* the effect of what is no kernel took place */
    void (*finished)(void *self, struct op *op);   /* virtual time has passed its end */
    void (*seen)(void *self, const struct op *op); /* the host knows that it is over */
    void (*freed)(void *self, struct op *op);

    void (*found)(void *self, const struct finding *finding); /* by an observer; for the others */

    void (*stream_ends)(void *self, struct stream *stream);
    void (*process_ends)(void *self, struct process *process);  /* nothing is given back yet */
    void (*process_ended)(void *self, struct process *process); /* only its memory is still there */
};

/* The observer stays the caller's, and where it is, until op_unobserve. */
void op_observe(const struct op_observer *observer);

/* It learns of nothing any more; one that is not registered is left alone. */
void op_unobserve(const struct op_observer *observer);

/* The host has waited for `op`, or seen that it is over. */
void op_seen(const struct op *op);

/* ---- the graph's own ---- */

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
