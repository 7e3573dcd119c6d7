/* SPDX-License-Identifier: MIT
 * exec.h: the data structures of a context (vgpu-exec), and the map of its rooms.
 *
 * A context runs the kernels of one process on one GPU, natively, on one OS thread. A CUDA thread
 * runs as a plain function call until it has to wait (at a barrier, a shuffle, a poll); only then
 * does it keep its stack, and the next thread gets another one (fiber.h).
 *
 *     run/      the node's requests, kernels from launch to reply, blocks, traps, worker processes
 *     access/   the compiler's callbacks, which count and check accesses
 *     threads/  stacks, barriers, warp operations, polling threads, builtins
 *     race/     data races, reads of unwritten memory
 *     weak/     VGPU_SCHEDULE=weak: loads that return older values
 *     counts/   bytes by window, sectors, banks, footprints
 *     context/  this header: memory, images, shared memory, faults, messages to the node
 *
 * A room uses itself and those below it, through the headers in their door/.
 *
 * Nothing here is locked: there is one thread (workers are processes), and a signal handler that
 * runs only during accesses of device code. Names without a prefix are internal to the program and
 * hidden from images.
 */
#ifndef VGPU_EXEC_H
#define VGPU_EXEC_H

#include <stdbool.h>
#include <stdint.h>

#include "image.h"
#include "lanes.h"
#include "launch_limits.h"
#include "protocol.h"

#define OFFERED __attribute__((visibility("default"))) /* visible to images */
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* Addresses come in windows of one device stride: devices, the host arena, then vgpu-exec's own
 * two. A window's number is an index into counters: see counters.h. */
enum {
    WINDOW_HOST = VGPU_MAX_DEVICES,
    WINDOW_SHARED,
    WINDOW_STACK,
    WINDOW_IMAGE, /* from here on: indices for addresses outside of the windows */
    WINDOW_COUNT
};
#define WINDOW_VA(w) (VGPU_ARENA_VA + (uint64_t)(w)*VGPU_DEVICE_STRIDE)
/* Kernels' arguments, and the stacks of calls where all images have a second one for variables
 * (device_image.h): no window of device code's, which may store nothing there. */
#define OWN_VA WINDOW_VA(WINDOW_IMAGE)

enum {
    WARP_LANES = 32,
    MAX_BLOCK_THREADS = VGPU_BLOCK_THREADS_MAX,
    MAX_BLOCK_WARPS = MAX_BLOCK_THREADS / WARP_LANES
};

struct block;
struct warp;
struct run;

/* ---- state of single files in threads, blocks and runs ---- */

struct warp_op { /* threads/warp.c: the operation that a thread takes part in */
    uint32_t mask, kind, arg, width;
    uint64_t bits, result;
};

struct poll { /* threads/polling.c: the address that a thread may be polling */
    uint64_t address, value, pc;
    uint32_t bytes, unchanged;
    uint32_t reads, limit;
    uint64_t lap, last_lap; /* hashes of what it read between two polls */
    uint32_t laps, lap_reads;
    bool proven, timed, late;
};

struct thread_clock { /* threads/builtins.c: clock64 */
    uint64_t cycles;
    uint32_t calls;
};

struct block_clock {    /* threads/barrier.c */
    uint64_t now, next; /* latest clock of any thread at the last barrier; at the next */
};

struct sampled {       /* counts/sample.c */
    uint32_t accesses; /* number of its sampled accesses */
    uint32_t all;
};

struct barrier {      /* threads/barrier.c: of a block */
    uint32_t missing; /* live threads that have not arrived */
    uint32_t votes, result, result_of;
    const char *site;
};

struct named_wait {         /* threads/named_barrier.c: of a thread */
    uint32_t barrier;       /* where it waits, plus one; 0: at none */
    uint32_t votes, voters; /* at the last one: predicates that were true, and all */
};

enum { SHARED_OBJECTS = 64 };

struct shared_object { /* one __shared__ declaration in a block */
    uint32_t id, bytes, align;
    void *at;
};

struct shared_memory { /* context/shared_memory.c: of a block */
    int32_t slot;      /* -1: none yet */
    bool is_fast;      /* of the fast form, which has one slot for all blocks */
    uint32_t used;
    uint32_t object_count;
    struct shared_object objects[SHARED_OBJECTS];
};

struct intervals {               /* race/race.c: of a block */
    uint64_t first;              /* the block's first */
    uint64_t since;              /* the first since the last barrier */
    uint64_t (*met)[WARP_LANES]; /* [lane][other]: the interval up to which `lane` is ordered after
                                    `other` */
};

struct visibility {            /* race/release_acquire.c: of a block */
    uint32_t all;              /* the message that all of its threads have acquired */
    bool differs;              /* some thread has acquired more */
    struct known_messages *of; /* clock of each thread */
};

struct sample { /* counts/sample.c: reads, or writes, by window */
    uint64_t bytes[WINDOW_HOST + 1], sectors[WINDOW_HOST + 1], pairs[WINDOW_HOST + 1];
    uint64_t accesses, lines; /* of all windows: accesses, and lines that warps used together */
};

struct contention { /* counts/contention.c: by block, the first and the second */
    uint64_t all, atomics[2], requests[2], lines[2]; /* all: of the run, on global memory */
    bool floats;
};

struct bank { /* counts/bank.c: accesses, extra wavefronts; the worst place */
    uint64_t noted, extra, pc;
    uint32_t ways;
};

struct printed { /* threads/print.c */
    char *text;
    uint64_t bytes, sent_bytes;
    bool dropped;
};

struct hazards { /* race/hazard.c */
    uint32_t count;
    struct vgpu_hazard list[VGPU_HAZARDS];
    uint32_t width[VGPU_HAZARDS];
};

struct strays { /* access/bounds.c */
    uint32_t count;
    struct vgpu_stray list[VGPU_STRAYS];
};

struct grid_barrier {        /* threads/barrier.c: of a cooperative run */
    volatile uint32_t phase; /* completed barriers of the grid */
    uint64_t arrived;        /* blocks that have arrived at the current one */
};

/* threads/cluster.c: blocks that are alive together and reach each other's shared memory */
struct cluster {
    struct block *member[VGPU_CLUSTER_BLOCKS_MAX]; /* by rank; NULL: none, or it has ended */
    volatile uint32_t phase;                       /* completed barriers of the cluster */
    uint32_t live, missing; /* threads that have not left; that have not arrived */
    uint32_t blocks;        /* that have not ended */
    uint64_t since;         /* race/race.c: the first interval since the last barrier */
};

struct lane_form {       /* run/lane_run.c */
    const char *careful; /* why no block runs in the fast form; NULL: some may */
    const char *refused; /* why the last block that was asked about does not; NULL: it does */
    uint64_t batch;      /* blocks that are checked at once */
    vgpu_lanes_run *go;  /* runs those just checked */
};

struct findings { /* context/finding.c */
    uint32_t set; /* reported kinds */
    char text[VGPU_FINDINGS_TEXT];
};

/* ---- threads, blocks, runs ---- */

/* One CUDA thread of a resident block. A barrier touches only its first cache line. */
struct thread {
    void *sp;     /* saved stack pointer; NULL: not suspended yet */
    char *stack;  /* low end of its stack; NULL: none */
    char *locals; /* pointer of its second stack; NULL: not used yet */
    struct block *block;
    struct warp *warp;
    const char *site; /* "file:line" where it waits */
    struct vgpu_dim3 idx;
    uint32_t bit; /* its bit in masks of its warp */
    uint32_t number;
    uint32_t arrived; /* threads/cluster.c: phase at which it arrived, plus one; 0: it has not */
    struct named_wait named;

    struct warp_op warp_op;
    struct poll poll;
    struct thread_clock clock;
    struct sampled sampled;
    struct weak_thread *weak; /* weak/view.c; NULL: what its block has; in blocks and runs alike */
} __attribute__((aligned(64)));

struct warp {
    uint32_t ready;                      /* lanes that can run */
    uint32_t live;                       /* lanes that have not left the kernel */
    uint32_t in_op, converging, polling; /* waiting lanes; others wait at a barrier */
    uint32_t bit;                        /* in block.ready_warps */
    struct thread *threads;
    uint64_t interval, since; /* race/race.c: the current one; the first since all lanes met */
};

struct block {
    struct run *run;
    struct block *next; /* in the list of resident, or of free blocks */
    uint64_t number;
    struct vgpu_dim3 idx;
    uint32_t thread_count, warp_count;
    uint32_t ready_warps; /* warps that may have a ready or converging lane */
    uint32_t live, pollers;
    struct cluster *cluster; /* NULL: of one block, which has not met in it yet */

    struct barrier barrier;
    struct named_barriers *named; /* threads/named_barrier.c; NULL: no thread has used one */
    struct block_clock clock;
    struct shared_memory shared;
    struct intervals intervals;
    struct visibility visibility;
    struct weak_block *weak;

    struct vgpu_dim3 shape; /* blockDim for which `threads` are numbered */
    struct warp warps[MAX_BLOCK_WARPS];
    struct thread threads[];
};

/* One kernel launch. */
struct run {
    uint64_t id;
    struct run *next;
    const struct vgpu_kernel *kernel;
    struct vgpu_dim3 grid, shape, cluster; /* cluster: in blocks */
    uint32_t cluster_blocks;
    uint64_t block_count, next_block, done_blocks;
    uint64_t block_step, block_first; /* run_block_at; block_step 0: ascending */
    uint64_t claimed;                 /* this process may start blocks below: worker_process.h */
    bool may_share;                   /* worker processes may run its blocks */
    uint32_t looks;                   /* for workers_consider */
    double started;                   /* 0: not timed yet */
    double due; /* from this time on workers are worth starting before its first block has ended; 0:
                   they are not */
    uint64_t first_timed; /* block at that time */
    uint32_t block_threads;
    uint32_t shared_bytes; /* dynamic */
    void **args;           /* in the argument area, which device code may read */
    int arg_slot;

    struct block *resident, *last_resident; /* in the order they were started */
    uint64_t resident_count, resident_limit, resident_peak;

    uint64_t events; /* threads that made lasting progress: left, passed a barrier, saw a change */
    bool stirred;    /* in this lap a polling thread read something new: block_schedule.c */
    bool moved;      /* since RUN or RESUME */
    uint32_t idle_resumes; /* times that it was resumed without effect */

    struct vgpu_run_counts counts;
    struct sample sample[2]; /* reads, writes */
    struct bank bank;
    struct contention contention;
    struct vgpu_signals signals;
    uint64_t stored_by[VGPU_SIGNALS]; /* counts/door/memory_signals.h */
    struct printed printed;
    bool cooperative, strict;
    bool fenced;     /* a thread has called a fence of system scope */
    uint32_t checks; /* enum vgpu_check */
    struct grid_barrier grid_barrier;
    struct lane_form lanes;
    struct strays strays;
    struct findings findings;
    uint64_t first_interval; /* race/race.c */
    struct hazards hazards;
    struct spans *spans;   /* counts/footprint.c */
    struct weak_run *weak; /* NULL: without VGPU_SCHEDULE=weak */
};

/* What the running code is: read by every builtin. thread is NULL outside device code. Warp and
 * block are copies of the thread's: loading them through the thread would add three loads to the
 * dependency chain between two switches. */
struct now {
    struct thread *thread;
    char *stack_limit; /* the stack pointer must not be below it on entry to a function */
    struct warp *warp;
    struct block *block;
    struct run *run;
};
extern struct now now;

/* Set once, by the request ATTACH. */
struct context {
    bool attached;
    int32_t device, device_count;
    int memory_fd[VGPU_MAX_DEVICES];
    int host_fd;
    struct vgpu_control *control;
    struct vgpu_exec_limits limits;
};
extern struct context context;

/* The window of an address: WINDOW_IMAGE or more if it is in none. */
static inline uint64_t window_of(uint64_t address)
{
    return (address - VGPU_ARENA_VA) >> 40;
}

/* Reports to the node that the running kernel makes progress. */
static inline void progress(void)
{
    context.control->progress++;
}

#endif
