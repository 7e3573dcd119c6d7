/* SPDX-License-Identifier: MIT
 * op.h: operations of the device side, the nodes of the dependency graph that streams, events and
 * the host's waits create.
 *
 * Two things happen to every operation, each after the same has happened to everything it depends
 * on:
 *   it is *carried out*: its effect on memory takes place (order.c), and
 *   it is *finished*: virtual time has passed its end (sim.c).
 * The two are separate on purpose. Unordered operations may take place in any order on hardware;
 * order.c chooses an order that reveals missing dependencies, and virtual time is not affected by
 * that choice.
 *
 * An operation is freed with its last reference. Code that stores a pointer to an operation holds a
 * reference, obtained by the call named on the left:
 *
 * - op_submit, first: until the operation is carried out. It belongs to order.c, whose linked lists
 * need no other.
 *
 * - op_submit, second: until the operation is finished. It belongs to the clock, which has it in
 * the event queue, in an engine's queue, on its flows, held, set aside or waiting.
 *
 * - op_list_add: one for each item, until the item is taken or the list is freed.
 *
 * - op_keep, one each:
 *   - streams and events: until their next operation, or their end;
 *   - connections: until the reply;
 *   - slices: until the slices that they depend on are over;
 *   - accesses (race.c): until a newer access replaces them;
 *   - operations with a memory clock: until the host knows that they are over;
 *   - the last kernels (weak_runs.c): until others have taken their places.
 *
 * host_store.c's table of polling kernels holds no reference: it observes the freeing of operations
 * (observer.h). op_carried and op_finished may free the operation: a caller that uses it afterwards
 * takes a reference first.
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
struct host_polls;
struct vclock;

#define OP_TOUCHES 16
#define OP_SOURCES 8

/* The engine that an operation uses: the processors (kernels, fills and copies inside a GPU), or
 * the copy engine from the host, to the host, or to and from peers. An operation that depends on
 * one of another engine starts after a delay (op.c). */
enum engine_kind {
    ENGINE_NONE,
    ENGINE_FROM_HOST,
    ENGINE_TO_HOST,
    ENGINE_PEER,
    ENGINE_FAR_COPY, /* a copy engine of another GPU, for what waits for it */
    ENGINE_PROCESSORS,
    ENGINE_KINDS
};

/* OP_TOUCH represents an access of host code to memory (request_host.c): it is in no stream and
 * never carried out. */
enum op_kind { OP_MARK, OP_COPY, OP_MEMSET, OP_KERNEL, OP_FREE, OP_HOST, OP_TOUCH };

struct host_call { /* hostcall.h */
    uint64_t function;
    enum { HOST_WAITS, HOST_WANTED, HOST_RUNS, HOST_DONE } state;
};

struct kernel_run {
    struct vgpu_launch launch;
    uint64_t run; /* id at the context; 0: not started */
    bool stalled;
    char name[64];
    char *stall_text; /* when stalled: which threads wait for what */
    /* When stalled: blocks not started, and blocks that fit on the GPU at once. */
    uint64_t blocks_left, blocks_fit;
    uint8_t *args;
    /* Total size of its GPU's allocations that its arguments point to; 0: unknown. */
    uint64_t reach_bytes;
};

/* ---- state of each room; only that room writes to it ---- */

struct op_order {             /* order.c */
    uint64_t mark;            /* last search that reached it */
    bool begun;               /* its effect has begun */
    struct op *older, *newer; /* neighbours in the list of operations not begun; no references */
    /* Neighbours in the list of those ready to be carried out. */
    struct op *ready_older, *ready_newer;
};

struct op_clock {
    int flows;                  /* sim.c: activities not finished */
    uint64_t later_bytes;       /* op_flows.c: bytes of a copy after its slower first part */
    struct copy_engine *engine; /* engine.c: its engine */
    struct op *next_copy;       /* engine.c: next in the engine's queue; no reference */
    struct slices *slices;      /* slices.c: for kernels that communicate; NULL: not cut */
    struct op_meeting {         /* meeting.c: for kernels of collectives */
        bool come, begun;
        uint32_t missing; /* ranks that have not come */
        uint32_t to;      /* GPUs to which it sends, as a set */
    } meeting;
};

struct op_trace {
    uint64_t record; /* trace.c: index of its record plus 1; 0: none */
    /* timeline.c: for a mark, the records that it depends on; 0: no more. */
    uint32_t source[OP_SOURCES];
};

struct op_check { /* vector_clock.c */
    /* clock: operations before it, by the graph and the host; memory_clock: also by memory. */
    struct vclock *clock, *memory_clock;
    /* Operations that it would be ordered after if there were a fence between GPUs. */
    struct vclock *unfenced;
    uint32_t component, number; /* its place: component of the vector clock, and number in it */
    bool has_memory_clock;
    bool meets_host; /* it has polled or stored in pinned memory */
    /* weak_runs.c: a kernel's place, and those of kernels before it */
    int32_t weak_slot;
    uint64_t weak_after;
};

struct op_stores {            /* host_store.c: for kernels that poll pinned memory */
    struct host_polls *polls; /* NULL: it does not */
    bool watched;             /* no store has been detected yet */
    uint64_t stored_ps;       /* earliest time at which the kernel continues; 0: no store */
};

struct op {
    enum op_kind kind;
    uint64_t seq; /* order of issue */
    struct process *process;
    int device; /* device of its stream, on which a kernel runs */
    uint64_t stream;
    uint64_t issue_ps, start_ps, end_ps;
    /* The node's time when the issuing thread got its last reply. */
    uint64_t seen_ps;
    /* Latest end of the operations that it depends on, by kind, as known to its GPU. */
    uint64_t after_ps[ENGINE_KINDS];
    /* The time when everything that it depends on is over and its GPU knows it; set before the
     * observers learn that it is ready. */
    uint64_t ready_ps;
    /* The same without events that have timing, and the time until which they keep its stream. */
    uint64_t work_ps, event_ps;
    char call[48], site[64];
    uint64_t caller;    /* return address of the call in the program; 0: unknown */
    uint32_t on_stream; /* the stream's number in its process; 0: a default stream */
    uint32_t graph;     /* enum vgpu_graph */
    bool for_host;      /* a mark that the host waits for; in no stream */
    bool timed;         /* the mark of an event with timing, with which its stream is busy */
    /* from: GPU whose memory is copied; to: GPU whose memory is written. -1: host memory, or none.
     */
    int from, to;
    bool direct;     /* copies between GPUs: peer access was enabled when it was issued */
    bool by_default; /* copies between GPUs: ordered by both GPUs' default streams */
    bool awaited;    /* a host thread waits for its end */
    union {
        struct vgpu_copy copy;
        struct vgpu_memset memset;
        struct kernel_run kernel;
        struct host_call host;
        uint64_t free; /* address that cudaFreeAsync frees */
    } u;
    struct vgpu_run_counts *counts; /* of a kernel, once carried out */

    /* dependencies (op.c) */
    /* Operations that it depends on, and that depend on it; empty once it is over. */
    struct op_list dep, user;
    int waits_carry, waits_finish; /* dependencies not yet carried out / finished */
    bool submitted, carried, finished;
    bool too_late; /* carried when its process had ended or failed: without effect */
    int refs;
    /* Allocations that it is known to access, by their home; 0: no more. */
    uint64_t touch[OP_TOUCHES];

    struct op_order order;
    struct op_clock clock;
    struct op_trace trace;
    struct op_check check;
    struct op_stores stores;
};

struct op *op_new(struct process *process, int device, enum op_kind kind);
struct op *op_keep(struct op *op); /* NULL is allowed and returned, here and in op_drop */
void op_drop(struct op *op);

/* Makes `op`, which is not submitted yet, depend on `dep`. */
void op_after(struct op *op, struct op *dep);

/* Records that `op` accesses the allocation with this `home` (struct pointee), or the one that
 * contains `address`, if there is one. False: it was recorded before, or there are too many. */
bool op_touches_home(struct op *op, uint64_t home);
void op_touches(struct op *op, uint64_t address);

/* Passes an operation, whose dependencies are complete, to order.c and sim.c. The caller keeps its
 * reference. */
void op_submit(struct op *op);

/* Called by order.c and sim.c, once each. */
void op_carried(struct op *op);
void op_finished(struct op *op, uint64_t now_ps);
/* Has its process ended or failed before it was carried out? */
bool op_is_lost(const struct op *op);

/* True if the effect writes host memory that the program can read. Such effects are delayed until
 * the host waits for them. */
bool op_writes_host(const struct op *op);

#endif
