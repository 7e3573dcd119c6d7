/* SPDX-License-Identifier: MIT
 * fuzz.h: random programs over CUDA's API, made from a seed, carried out, and every answer said.
 *
 *   generate.c   seed -> operations; needs no GPU and knows none
 *   clocks.c     which operations are ordered: memory is touched only where the answer is defined
 *   objects.c    what a program has: memory, streams, events, graphs, and where its answers go
 *   run_*.c      the operations
 *   pair.c       the second process of a program that has two
 *   main.c       many programs a process; a fresh process after an error that stays
 *
 * The same sources are compiled with nvcc and with vgpu-cc. What depends on time (queries) is not
 * said; what is undefined (a race, an address) is not asked.
 */
#ifndef PEERLAB_FUZZ_H
#define PEERLAB_FUZZ_H

#include "../cuda12.h"

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum {
    FUZZ_GPUS = 8,     /* at most */
    FUZZ_BUFFERS = 10, /* the slots that operations name */
    FUZZ_STREAMS = 7,  /* 0 the default stream, 1 cudaStreamPerThread */
    FUZZ_EVENTS = 6,
    FUZZ_HANDLES = 6, /* of IPC, shared by the two processes */
    FUZZ_CHUNKS = 4,  /* cuMemCreate */
    FUZZ_GRAPHS = 3,
    FUZZ_OPS = 56,
    FUZZ_ARGS = 10,
    FUZZ_LANES = 48, /* what runs in order: streams, each GPU's default ones, the host */
    FUZZ_PLACES = 2 * FUZZ_BUFFERS + 2 * FUZZ_CHUNKS + 1,
    FUZZ_TEXT = 1 << 16,
};

enum fuzz_what {
    OP_DEVICE,
    OP_ALLOC,
    OP_FREE,
    OP_PEER,
    OP_COPY,
    OP_SET,
    OP_KERNEL,
    OP_STREAM,
    OP_EVENT,
    OP_SYNC,
    OP_ERROR,
    OP_ASK,
    OP_HOST,
    OP_REGISTER,
    OP_IPC,
    OP_VMM,
    OP_SYMBOL,
    OP_POOL,
    OP_GRAPH,
    OP_FAULT, /* the last one of a program */
    OP_KINDS
};

enum fuzz_memory {
    MEM_NONE,
    MEM_DEVICE,
    MEM_PINNED,
    MEM_MAPPED, /* cudaHostAlloc, portable and mapped */
    MEM_MANAGED,
    MEM_PAGEABLE,
    MEM_POOL,
    MEM_VMM,
    MEM_IPC,
    MEM_KINDS
};

struct fuzz_op {
    enum fuzz_what what;
    int process; /* 0 or 1 */
    int a[FUZZ_ARGS];
};

struct fuzz_program {
    uint64_t seed;
    int gpus;
    int count;
    bool two;   /* processes */
    bool fatal; /* may end in an error that stays */
    struct fuzz_op op[FUZZ_OPS];
};

/* Programs with earlier seeds were recorded before something was known to be undefined: they stay
 * as they are. */
enum { FUZZ_HANDOFFS = 100000, FUZZ_LENT_STAYS = 4000000 };

extern const char *const fuzz_names[OP_KINDS];

/* The program of a seed, the same everywhere. */
void fuzz_generate(struct fuzz_program *p, uint64_t seed, int gpus);

/* ---- clocks.c ---- */

struct fuzz_clock {
    int at[FUZZ_LANES];
};

enum { LANE_HOST = 0, LANE_LEGACY = 1, LANE_THREAD = LANE_LEGACY + FUZZ_GPUS };

void clocks_reset(void);
/* A lane for a new stream of the GPU; -1: none is left. blocking: ordered with the default stream.
 */
int clocks_lane(int device, bool blocking);
/* What an operation issued into the lane now comes after; clocks_told: without what default streams
 * order of themselves. */
struct fuzz_clock clocks_told(int lane);
struct fuzz_clock clocks_ready(int lane);
/* May it touch the place, coming after `ready`? */
bool clocks_ordered(const struct fuzz_clock *ready, int place, bool write);
/* It was issued. */
void clocks_issued(int lane, const struct fuzz_clock *ready);
void clocks_touched(int lane, int place, bool write);
/* The host has waited for the lane; for everything. */
void clocks_waited(int lane);
void clocks_waited_all(void);
struct fuzz_clock clocks_of(int lane);
void clocks_join(struct fuzz_clock *into, const struct fuzz_clock *other);
/* The host has waited for what the clock knows. */
void clocks_host_joins(const struct fuzz_clock *other);

/* ---- objects.c ---- */

struct fuzz_buffer {
    enum fuzz_memory kind;
    char *ptr;
    size_t size;
    int device;
    int place;
    unsigned access; /* bit d: kernels on GPU d may touch it, besides what peer access gives */
    int registered;
    int chunk;         /* MEM_VMM: what is mapped, or -1 */
    unsigned writable; /* MEM_VMM: of those, the ones that may write */
};

struct fuzz_stream {
    cudaStream_t handle;
    int lane;
    int device; /* -1: the current one's */
    bool live;
    int capture; /* the graph's slot + 1 while it is captured */
};

struct fuzz_event {
    cudaEvent_t handle;
    int device;
    bool live, recorded;
    bool foreign; /* another process's */
    bool shared;  /* made for other processes, or by one */
    struct fuzz_clock clock;
};

struct fuzz_chunk {
    CUmemGenericAllocationHandle handle;
    bool live;
    int device, place;
    size_t size;
};

struct fuzz_state {
    struct fuzz_program *program;
    int process;
    int gpus;
    int device; /* the current one, as cudaGetDevice would say */
    bool peer[FUZZ_GPUS][FUZZ_GPUS];
    unsigned used; /* GPUs that may have work */
    struct fuzz_buffer buffer[FUZZ_BUFFERS];
    struct fuzz_stream stream[FUZZ_STREAMS];
    struct fuzz_event event[FUZZ_EVENTS];
    struct fuzz_chunk chunk[FUZZ_CHUNKS];
    bool dead; /* an error that stays has come */
    int length;
    char text[FUZZ_TEXT];
};

extern struct fuzz_state state;

/* What two processes share; set up before they part. */
struct fuzz_shared {
    struct {
        cudaIpcMemHandle_t memory;
        cudaIpcEventHandle_t event;
        bool has_memory, has_event;
        int place, device, owner;
        size_t size;
    } handle[FUZZ_HANDLES];
    struct {
        bool sent;
        int place, device;
        size_t size;
    } chunk[FUZZ_CHUNKS];
    int lent[FUZZ_PLACES];        /* how often the other process has it open */
    volatile uint64_t seed, next; /* the program in work, the one after it */
};

extern struct fuzz_shared *shared;

__attribute__((format(printf, 1, 2))) void say(const char *format, ...);
/* " -> CODE", and remembers an error that stays. Returns whether it is a success. */
bool said(int code);
void state_begin(struct fuzz_program *program, int process);
/* Ends what the program left, says all memory, leaves the process as it found it. */
void state_end(void);
/* Waits for all GPUs that may have work: everything is ordered from here on. */
void sync_all(void);
/* The slot's stream; an empty slot is the default stream. */
struct fuzz_stream *stream_at(int slot);
int lane_of(const struct fuzz_stream *s);
int device_of(const struct fuzz_stream *s);
/* Fills what was just allocated and says its contents' hash later on. */
void buffer_fill(int slot);
uint32_t buffer_hash(const struct fuzz_buffer *b, bool *ok);
/* Does [off, off + bytes) lie in it? */
bool fits(const struct fuzz_buffer *b, long off, long bytes);
bool on_host(const struct fuzz_buffer *b);
/* Which memory it is, and whether two are (perhaps) the same. */
int place_of(const struct fuzz_buffer *b);
bool alias(const struct fuzz_buffer *a, const struct fuzz_buffer *b);
/* May a kernel on that GPU touch it? */
bool reachable(const struct fuzz_buffer *b, int device, bool write);
/* The operation that is about to be issued touches the buffer: waits for everything first where
 * nothing orders it. */
struct fuzz_touch {
    int lane;
    struct fuzz_clock ready;
    int count;
    int place[4];
    bool write[4];
};
struct fuzz_touch touch_begin(int lane);
void touch_add(struct fuzz_touch *t, const struct fuzz_buffer *b, bool write);
void touch_check(struct fuzz_touch *t);
void touch_done(struct fuzz_touch *t, bool issued);
void buffer_release(int slot);
/* Memory that is gone cannot be opened by a handle any more. */
void handles_forget(int place);

/* ---- run_*.c ---- */

void run_op(int index);
void run_alloc(const int *a);
void run_free(const int *a);
void run_peer(const int *a);
void run_register(const int *a);
void run_ask(const int *a);
void run_copy(const int *a);
void run_set(const int *a);
void run_host(const int *a);
void run_symbol(const int *a);
void run_kernel(const int *a);
void run_stream(const int *a);
void run_event(const int *a);
void run_graph(const int *a);
void graphs_end(void);
void run_ipc(const int *a);
void run_vmm(const int *a);
void vmm_end(void);
void run_pool(const int *a);
void run_fault(const int *a);

/* ---- kernels.cu ---- */

enum { KERNEL_FILL, KERNEL_ADD, KERNEL_GATHER, KERNEL_SLOW, KERNELS };

#ifdef __cplusplus
extern "C" {
#endif
/* <<<grid, block, shared>>>; SLOW takes its time before it fills. */
cudaError_t fuzz_launch(int kernel, int grid, int block, int shared, int *dst, const int *src,
                        int n, int value, cudaStream_t stream);
cudaError_t fuzz_trap(void);
cudaError_t fuzz_to_symbol(const void *from, size_t bytes, size_t off, int kind);
cudaError_t fuzz_from_symbol(void *to, size_t bytes, size_t off, int kind);
#ifdef __cplusplus
}
#endif

/* ---- pair.c ---- */

/* Before any CUDA call: parts from a second process, which answers until this one is gone. */
void pair_start(void);
/* What an earlier program's other process sent is not this one's. */
void pair_forget(void);
/* Has the other process carry out the operation (-1: begin the program, -2: end it), and adds what
 * it said. */
void pair_run(int index);
/* In the second process: what was said before a crash goes to the first. */
bool pair_crashed(void);
/* Descriptors travel beside the messages, with the chunk's slot. */
void pair_send_descriptor(int descriptor, int slot);
int pair_take_descriptor(int slot);

#endif
