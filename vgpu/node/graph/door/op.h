/* SPDX-License-Identifier: MIT
 * op.h: an operation of the device side: a node of the graph that streams, events and the host
 * weave.
 *
 * Two things happen to every operation, each after the same things happened to all it depends on:
 *   it is *carried out*: its effect on memory takes place (order.c), and
 *   it is *finished*: virtual time has passed its end (sim.c).
 * They are apart on purpose. What nothing orders may happen in any order on hardware; order.c
 * chooses the one that shows a missing dependency, and the clock is not disturbed by that.
 *
 * An operation is freed with its last reference. Code that stores a pointer to an operation holds a
 * reference, from the call named on the left:
 *
 * - op_submit, first: until the operation is carried out. It belongs to order.c, whose linked lists
 *   need no other.
 * - op_submit, second: until the operation is finished. It belongs to the clock, which has it in
 *   the event queue, in an engine's queue, on its flows, held, set aside or waiting.
 * - op_list_add: one for each item, until the item is taken or the list is freed.
 * - op_keep, one each:
 *   - streams and events: until their next operation, or their end;
 *   - connections: until the answer;
 *   - slices: until what they come after is over;
 *   - accesses (race.c): until a newer access replaces them;
 *   - operations with a clock of memory: until the host knows that they are over.
 *
 * host_store.c's table of polling kernels holds no reference: it is told of every operation that is
 * freed (observer.h). op_carried and op_finished may free the operation: a caller that uses it
 * afterwards keeps it first.
 */
#ifndef VGPU_OP_H
#define VGPU_OP_H

#include <stdbool.h>
#include <stdint.h>

#include "op_list.h"
#include "protocol.h"

struct copy_engine;
struct process;
struct slices;
struct topology;
struct host_polls;
struct vclock;

#define OP_TOUCHES 16
#define OP_SOURCES 8

/* What an operation keeps busy: what comes after another kind's learns of it late (op.c). */
enum engine_kind { ENGINE_NONE, ENGINE_COPY, ENGINE_KERNEL, ENGINE_KINDS };

/* OP_TOUCH is in no stream and never carried out: host code has used memory (request_host.c). */
enum op_kind { OP_MARK, OP_COPY, OP_MEMSET, OP_KERNEL, OP_FREE, OP_HOST, OP_TOUCH };

struct host_call { /* hostcall.h */
    uint64_t function;
    enum { HOST_WAITS, HOST_WANTED, HOST_RUNS, HOST_DONE } state;
};

struct kernel_run {
    struct vgpu_launch launch;
    uint64_t run; /* id towards the context, 0: not started */
    bool stalled;
    char name[64];
    char *stall_text;                 /* who waits for what, when stalled */
    uint64_t blocks_left, blocks_fit; /* when stalled: not begun; as many as the GPU holds */
    uint8_t *args;
    uint64_t reach_bytes; /* of its GPU's allocations that its arguments point to; 0: not known */
};

/* ---- what each room keeps of an operation; only that room writes there ---- */

struct op_order {                         /* order.c */
    uint64_t mark;                        /* last search that reached it */
    bool begun;                           /* its effect has started */
    struct op *older, *newer;             /* others that have not begun; no references */
    struct op *ready_older, *ready_newer; /* of those, who waits for nothing any more */
};

struct op_clock {
    int flows;                  /* sim.c: activities still going */
    uint64_t later_bytes;       /* op_flows.c: of a copy, what follows its ramp */
    struct copy_engine *engine; /* engine.c: which one it has asked for */
    struct op *next_copy;       /* engine.c: waits for the same engine; no reference */
    struct slices *slices;      /* slices.c: kernels that wait for each other; NULL: it is whole */
};

struct op_trace {
    uint64_t record; /* trace.c: number of its record plus 1; 0: none */
    uint32_t
        source[OP_SOURCES]; /* timeline.c: of a mark, the records it stands after; 0: no more */
};

struct op_check {                        /* vector_clock.c */
    struct vclock *clock, *memory_clock; /* what is over before it; by memory as well */
    struct vclock *unfenced;             /* what it learned without a fence between GPUs */
    uint32_t component, number;          /* its place */
    bool has_memory_clock;
    bool meets_host; /* it has polled or stored something in pinned memory */
};

struct op_stores {            /* host_store.c: kernels that poll pinned memory */
    struct host_polls *polls; /* NULL: it has not */
    bool watched;             /* nothing has been stored there yet */
    uint64_t stored_ps;       /* the kernel goes on no earlier; 0: nothing has been stored */
};

struct op {
    enum op_kind kind;
    uint64_t seq; /* order of issue */
    struct process *process;
    int device; /* whose stream, and where a kernel runs */
    uint64_t stream;
    uint64_t issue_ps, start_ps, end_ps;
    uint64_t seen_ps;                /* the node's clock when its thread was last answered */
    uint64_t after_ps[ENGINE_KINDS]; /* latest end of what it comes after, when its GPU hears it */
    char call[48], site[64];
    uint64_t caller;    /* return address of the call in the program; 0: not known */
    uint32_t on_stream; /* the stream's number in its process; 0: a default stream */
    uint32_t graph;     /* enum vgpu_graph */
    bool for_host;      /* a mark that the host waits for, in no stream */
    int from,
        to;      /* GPUs whose memory it copies from, copies to or fills; -1: the host's, or none */
    bool direct; /* copies between GPUs: peer access was enabled at the issue */
    bool awaited; /* a host thread waits for its end */
    union {
        struct vgpu_copy copy;
        struct vgpu_memset memset;
        struct kernel_run kernel;
        struct host_call host;
        uint64_t free; /* address of what cudaFreeAsync gives back */
    } u;
    struct vgpu_run_counts *counts; /* kernels, once carried out */

    /* the graph (op.c) */
    struct op_list dep, user; /* whom it comes after; who comes after it. Empty once it is over */
    int waits_carry, waits_finish; /* dependencies not yet carried out / finished */
    bool submitted, carried, finished;
    bool too_late; /* carried when its process had ended or failed: without effect */
    int refs;
    uint64_t touch[OP_TOUCHES]; /* allocations it is known to touch, by address; 0: no more */

    struct op_order order;
    struct op_clock clock;
    struct op_trace trace;
    struct op_check check;
    struct op_stores stores;
};

void op_start(const struct topology *topology);

struct op *op_new(struct process *process, int device, enum op_kind kind);
struct op *op_keep(struct op *op); /* NULL is passed through, here and below */
void op_drop(struct op *op);

/* `op` (not yet submitted) comes after `dep`. */
void op_after(struct op *op, struct op *dep);

/* `op` touches the allocation whose `home` (struct pointee) that is; or the one that holds
 * `address`, if any does. */
void op_touches_home(struct op *op, uint64_t home);
void op_touches(struct op *op, uint64_t address);

/* When all that `op` comes after is over, and its GPU knows. */
uint64_t op_ready_ps(const struct op *op);

/* Hands a complete operation to order.c and sim.c. The caller's reference stays the caller's. */
void op_submit(struct op *op);

/* Called by order.c and sim.c exactly once each. */
void op_carried(struct op *op);
void op_finished(struct op *op, uint64_t now_ps);
/* Has its process ended or failed before it was carried out? */
bool op_is_lost(const struct op *op);

/* Does the effect end in host memory that the program can see? Such effects wait until the host
 * has asked for them. */
bool op_writes_host(const struct op *op);

#endif
