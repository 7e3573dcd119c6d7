/* SPDX-License-Identifier: MIT
 * exec.h: the data structures of a context (vgpu-exec), the map of its rooms.
 *
 * A context runs the kernels of one process on one GPU, natively, on one OS thread. A CUDA thread
 * runs as a plain function call until it has to wait (a barrier, a shuffle, a poll); only then
 * does it keep the stack it stands on, and the next thread gets another one (fiber.h).
 *
 *   run/       main.c set-up, the message loop      memory.c what is mapped; first touch
 *              run.c one launch, message to reply   image.c device images, variables
 *              schedule.c who runs next             block.c blocks and their threads
 *              barrier.c __syncthreads              warp.c shuffles, votes
 *              poll.c threads that spin             fault.c signals and traps
 *              device.c the small builtins          shared.c __shared__
 *              print.c printf and assert            divide.c division by zero
 *              fiber.c stacks                       worker_process.c other processors
 *   access/    access.c the compiler's callbacks: count and check
 *              atomic.c atomics of both kinds       bounds.c accesses past an allocation
 *   race/      race.c what nothing orders           race_shadow.c who used which memory
 *              release_acquire.c fences and flags   byte_shadow.c the same of single bytes
 *              unwritten.c what nobody wrote        hazard.c what those have found
 *   counts/    sample.c sectors of 32 bytes         bank.c banks of shared memory
 *              footprint.c which memory was used
 *
 * Nothing here is locked: there is one thread (helpers are processes), and a signal handler that
 * runs only for accesses of device code. Names without a prefix are the program's own and hidden
 * from images.
 */
#ifndef VGPU_EXEC_H
#define VGPU_EXEC_H

#include <stdbool.h>
#include <stdint.h>

#include "image.h"
#include "protocol.h"

#define OFFERED __attribute__((visibility("default"))) /* seen by images */
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* Addresses come in windows of one device stride: devices, the host arena, then our own two. A
 * window's number is an index into counters: see access.h. */
enum {
    WINDOW_HOST = VGPU_MAX_DEVICES,
    WINDOW_SHARED,
    WINDOW_STACK,
    WINDOW_IMAGE, /* from here on: not a window, but everything else */
    WINDOW_COUNT
};
#define WINDOW_VA(w) (VGPU_ARENA_VA + (uint64_t)(w)*VGPU_DEVICE_STRIDE)

enum { WARP_LANES = 32, MAX_BLOCK_THREADS = 1024, MAX_BLOCK_WARPS = 32 };

struct block;
struct warp;
struct run;

/* One CUDA thread of a resident block. Its first cache line is all that a barrier touches. */
struct thread {
    void *sp;    /* where it goes on; NULL: it has not been stopped yet */
    char *stack; /* low end of the stack it stands on; NULL: none */
    struct block *block;
    struct warp *warp;
    const char *site; /* "file:line" of what it waits at */
    struct vgpu_dim3 idx;
    uint32_t bit; /* its bit in masks of its warp */
    uint32_t number;

    /* warp.c: the operation it takes part in */
    uint32_t op_mask;
    uint32_t op_kind, op_arg, op_width;
    uint64_t op_bits, op_result;

    /* poll.c: the address it seems to spin on */
    uint64_t watch_address, watch_value, watch_pc;
    uint32_t watch_bytes, watch_unchanged;
    uint32_t watch_reads, watch_limit;
    uint64_t lap, last_lap; /* signatures of what it read between two polls */
    uint32_t laps, lap_reads;
    bool proven, timed;

    uint64_t clock; /* clock64, in cycles */
    uint32_t clock_calls;
    uint32_t sampled; /* sample.c: accesses */
} __attribute__((aligned(64)));

struct warp {
    uint32_t ready;                      /* lanes that can go on, or start */
    uint32_t live;                       /* lanes that have not left the kernel */
    uint32_t in_op, converging, polling; /* lanes that wait; those in no mask wait at a barrier */
    uint32_t bit;                        /* in block.ready_warps */
    struct thread *threads;
    uint64_t interval, since; /* race.c: the present one; the first since all lanes met */
};

enum { SHARED_OBJECTS = 64 };

struct shared_object { /* one __shared__ declaration in this block */
    uint32_t id, bytes;
    void *at;
};

struct block {
    struct run *run;
    struct block *next; /* among the resident, or the spare ones */
    uint64_t number;
    struct vgpu_dim3 idx;
    uint32_t thread_count, warp_count;
    uint32_t ready_warps; /* warps that may have a ready or converging lane */
    uint32_t live, pollers;

    /* barrier.c */
    uint32_t missing; /* live threads that are not at the barrier */
    uint32_t votes, result, result_of;
    const char *site;

    uint64_t clock, clock_met; /* the latest any thread knew at the last barrier; at the next */

    /* shared.c */
    int32_t slot; /* -1: none yet */
    uint32_t shared_used;
    uint32_t object_count;
    struct shared_object objects[SHARED_OBJECTS];

    /* race.c: the first interval; the first since the last barrier; what lanes know of each other
     */
    uint64_t first_interval, since;
    uint64_t (*seen)[WARP_LANES];
    uint32_t
        known; /* release_acquire.c: the message that all of it knows; what each thread knows */
    bool told; /* some thread knows more */
    struct knows *knows;

    struct vgpu_dim3 shape; /* blockDim that `threads` are numbered for */
    struct warp warps[MAX_BLOCK_WARPS];
    struct thread threads[];
};

struct sample { /* sample.c: reads, or writes, by window */
    uint64_t bytes[WINDOW_HOST + 1], sectors[WINDOW_HOST + 1];
};

struct bank { /* bank.c: accesses, extra wavefronts; the worst place */
    uint64_t noted, extra, pc;
    uint32_t ways;
};

/* One kernel launch. */
struct run {
    uint64_t id;
    struct run *next;
    const struct vgpu_kernel *kernel;
    struct vgpu_dim3 grid, shape;
    uint64_t block_count, next_block, done_blocks;
    uint64_t block_step, block_first; /* run_block_at: block_step 0: in order */
    uint64_t claimed; /* this process starts blocks before this one: worker_process.h */
    bool may_share;   /* others may run blocks of it too */
    uint32_t looks;   /* for helper_consider */
    double started;
    uint32_t block_threads;
    uint32_t shared_bytes; /* dynamic */
    void **args;           /* in the argument area, which device code may read */
    int arg_slot;

    struct block *resident, *last_resident; /* in the order they were started */
    uint64_t resident_count, resident_limit, resident_peak;

    uint64_t events;      /* threads that went on for good: left, passed a barrier, saw a change */
    bool stirred;         /* a spinning thread read something new in this lap: schedule.c */
    bool moved;           /* since RUN or RESUME */
    uint32_t patience;    /* times that it was resumed for nothing */
    uint32_t finding_set; /* findings that were told already */

    struct vgpu_run_counts counts;
    struct sample sample[2]; /* reads, writes */
    struct bank bank;
    struct vgpu_signals signals;
    char *printed;
    uint64_t printed_bytes, sent_bytes;
    bool dropped, cooperative, strict;
    uint32_t checks;              /* enum vgpu_check */
    volatile uint32_t grid_phase; /* barriers of the grid that are over */
    uint64_t grid_arrived;        /* blocks, in the one that is not */
    uint32_t stray_count;
    struct vgpu_stray stray[VGPU_STRAYS];
    char findings[VGPU_FINDINGS_TEXT];
    bool fenced;             /* some thread has called a fence of the system's scope */
    uint64_t first_interval; /* race.c */
    uint32_t hazard_count;
    struct vgpu_hazard hazards[VGPU_HAZARDS];
    uint32_t hazard_width[VGPU_HAZARDS];
    struct spans *spans; /* footprint.c */
};

/* What the running code is: read by every builtin. thread is NULL outside device code. Warp and
 * block are the thread's: kept here, as going through the thread for them would put three loads
 * into the chain from one switch to the next. */
struct now {
    struct thread *thread;
    char *stack_limit; /* a function must not find its stack pointer below */
    struct warp *warp;
    struct block *block;
    struct run *run;
};
extern struct now now;

/* CUDA's builtin variables, as images see them: constant for each thread, and therefore for a
 * compiler; set when a thread is entered. They lie in a section of their own, for access.c. */
extern struct vgpu_dim3 threadIdx, blockIdx, blockDim, gridDim;
extern int vgpu_cooperative; /* 1: the kernel was launched so */
bool is_builtin_variable(uint64_t address);

/* Set once, by ATTACH. */
struct context {
    bool attached;
    int32_t device, device_count;
    int memory_fd[VGPU_MAX_DEVICES];
    int host_fd;
    struct vgpu_control *control;
    struct vgpu_exec_limits limits;
};
extern struct context context;

#define NODE_SOCKET 3

/* memory.c */
bool memory_attach(const struct vgpu_exec_request *request, const int *fds, int fd_count, char *why,
                   uint64_t room);
bool memory_map(const struct vgpu_exec_request *request, char *why, uint64_t room);
bool memory_unmap(uint64_t va, uint64_t bytes, char *why, uint64_t room);
/* Closes chunks that were given back since they were opened: their next touch is a first one. */
void memory_review(void);
/* After a kernel: what of its stores arrives at peers that lose some (VGPU_MAP_TEARS_STORES). */
void memory_deliver_torn(void);
/* Closes all that is open: in a fork, which would fault for every page otherwise. */
void memory_reopen(void);
enum touch { TOUCH_OPENED, TOUCH_FAULT, TOUCH_LIMIT };
enum touch memory_touch(uint64_t address);                 /* called for a fault: open its chunk */
bool memory_commit(int32_t device, uint64_t chunk);        /* false: over the limit */
const char *memory_describe(uint64_t address, bool write); /* for a person; static text */
/* Pages of the program that cudaHostRegister made pinned: at addresses of its own choosing. */
bool memory_is_registered(uint64_t address);

/* image.c */
struct image;
struct image *image_load(uint32_t module, int fd, char *why, uint64_t room);
struct image *image_find(uint32_t module);
const struct vgpu_kernel *image_kernel(const struct image *image, uint32_t ordinal);
uint32_t image_kernel_count(const struct image *image);
void image_vars(const struct image *image, uint64_t *base, uint64_t *bytes, uint32_t *count);
void image_var(const struct image *image, uint32_t index, struct vgpu_exec_var *var);
bool image_holds_vars(uint64_t va, uint64_t bytes);
/* Its device code has no way to tell whether its blocks run one after the other. */
bool image_may_share(const struct image *image);
/* The window that an access outside of all windows counts for; -1: it is nobody's memory. */
int image_window(uint64_t address);
bool image_code(uint64_t pc);
void image_place(uint64_t pc, char *where, uint64_t room); /* "file:line", or "" */

/* run.c */
void run_start(const struct vgpu_exec_request *request, struct vgpu_exec_reply *reply);
void run_resume(uint64_t id, struct vgpu_exec_reply *reply);
void run_abort(uint64_t id, struct vgpu_exec_reply *reply);
struct vgpu_dim3 run_block_index(const struct run *run, uint64_t number);
/* The number of the block that is started as the `turn`-th: with VGPU_SCHEDULE another one. */
uint64_t run_block_at(const struct run *run, uint64_t turn);
enum finding {
    FINDING_SITES,
    FINDING_EARLY_EXIT,
    FINDING_MASK,
    FINDING_OPERATION,
    FINDING_LANE,
    FINDING_PRINT,
    FINDING_DIVISION
};
bool run_has_finding(enum finding finding);
/* Notes what hardware accepts, once a kind and run. */
void run_finding(enum finding finding, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* schedule.c: runs until the kernel is done (VGPU_RAN) or nobody can go on (VGPU_STALLED; `why`).
 */
enum vgpu_exec_status schedule(struct run *run, char *why, uint64_t room);

/* block.c */
struct block *block_start(struct run *run); /* makes the run's next block resident */
void block_retire(struct block *block);
void block_abandon(struct block *block); /* whatever its threads were doing */
void block_describe(const struct block *block, char *text, uint64_t room);
int dim3_text(char *text, uint64_t room, struct vgpu_dim3 at);

/* barrier.c, warp.c: a thread left the kernel while others wait. */
void barrier_left(struct block *block);
void warp_left(struct warp *warp);
void warp_converge(struct warp *warp);

/* poll.c */
void poll_note(uint64_t address, uint64_t value, uint32_t bytes);
/* It looks there once more: it may be waiting for a change. */
bool poll_again(uint64_t address, uint32_t bytes);
void poll_changed(void); /* an atomic has changed memory */
void poll_suspect(bool on);
void poll_lap_read(uint64_t address, uint32_t bytes, bool write);
void poll_forget(struct thread *thread);
uint64_t peek(uint64_t address, uint32_t bytes);

/* shared.c */
void shared_start(struct block *block);
void shared_end(struct block *block);
/* Of the running block's shared memory: the bytes of the declaration around `address`, and where in
 * it that is; 0: none, or other memory. */
uint32_t shared_describe(uint64_t address, uint32_t *offset);

/* print.c */
void print_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* fault.c */
struct fault {
    int32_t kind, write;
    bool idle; /* VGPU_FAULT_HANG: the loop uses no memory */
    uint64_t address, pc;
    char where[96];
    char text[400];
};
void fault_setup(void);
/* Ends the running kernel: never returns, never unwinds. pc: the place to report, or 0. */
_Noreturn void fault_raise(enum vgpu_fault_kind kind, uint64_t address, bool write, uint64_t pc,
                           const char *format, ...) __attribute__((format(printf, 5, 6)));
/* Where the next fault is ("file:line"), if no pc is given for it. */
void fault_place(const char *where);
/* Raises VGPU_FAULT_HANG if the node has asked for it (VGPU_EXEC_HANG_SIGNAL). */
void fault_if_hanging(void);
/* Runs what may fault; returns true (and fills fault_last) if it did. */
bool fault_guard(void (*body)(void *), void *argument);
extern struct fault fault_last;

static inline void progress(void)
{
    context.control->progress++;
}

#endif
