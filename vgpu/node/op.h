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
 * An operation is freed when it is carried out and finished and nobody holds a reference.
 */
#ifndef VGPU_OP_H
#define VGPU_OP_H

#include <stdbool.h>
#include <stdint.h>

#include "protocol.h"

struct copy_engine;
struct process;
struct slices;
struct topology;
struct host_polls;
struct span;
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
    bool direct;        /* copies between GPUs: peer access was enabled at the issue */
    union {
        struct vgpu_copy copy;
        struct vgpu_memset memset;
        struct kernel_run kernel;
        struct host_call host;
        uint64_t free; /* address of what cudaFreeAsync gives back */
    } u;
    struct vgpu_run_counts *counts; /* kernels, once carried out */
    struct host_polls *polls;       /* kernels that poll pinned memory: host_store.c */
    struct slices *slices;          /* kernels that wait for each other: slices.c */

    /* the graph (op.c) */
    struct op **dep, **user;
    int dep_count, dep_room, user_count, user_room;
    int waits_carry, waits_finish; /* dependencies not yet carried out / finished */
    bool submitted, carried, finished;
    int refs;
    uint64_t mark;                        /* order.c: last search that reached it */
    bool begun;                           /* order.c: its effect has started */
    struct op *older, *newer;             /* order.c: others that have not begun */
    struct op *ready_older, *ready_newer; /* order.c: of those, who waits for nothing any more */
    uint64_t touch[OP_TOUCHES];   /* allocations it is known to touch, by address; 0: no more */
    struct vclock *knows, *heard; /* happens.c: what is over before it; by memory as well */
    struct vclock *unfenced;      /* happens.c: what it heard without a fence between GPUs */
    uint32_t line, number;        /* happens.c: its place */
    bool hears;                   /* happens.c: it has heard */
    bool meets_host;              /* happens.c: it has polled or told something in pinned memory */
    int flows;                    /* sim.c: activities still going */
    struct copy_engine *engine;   /* engine.c: which one it has asked for */
    struct op *next_copy;         /* engine.c: waits for the same engine */
    uint64_t later_bytes;         /* sim.c: of a copy, what follows its ramp */
    bool awaited;                 /* a host thread waits for its end */
    uint64_t trace;               /* trace.c: number of its record plus 1 */
    uint32_t
        source[OP_SOURCES]; /* timeline.c: of a mark, the records it stands after; 0: no more */
};

void op_start(const struct topology *topology);

struct op *op_new(struct process *process, int device, enum op_kind kind);
struct op *op_keep(struct op *op); /* NULL is passed through, here and below */
void op_drop(struct op *op);

/* `op` (not yet submitted) comes after `dep`. */
void op_after(struct op *op, struct op *dep);

/* `op` touches the allocation that holds `address`, if any does. */
void op_touches(struct op *op, uint64_t address);

/* When all that `op` comes after is over, and its GPU knows. */
uint64_t op_ready_ps(const struct op *op);

/* Hands a complete operation to order.c and sim.c. The caller's reference stays the caller's. */
void op_submit(struct op *op);

/* Called by order.c and sim.c exactly once each. */
void op_carried(struct op *op);
void op_finished(struct op *op, uint64_t now_ps);

/* Does the effect end in host memory that the program can see? Such effects wait until the host
 * has asked for them. */
bool op_writes_host(const struct op *op);

#endif
