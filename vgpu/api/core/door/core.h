/* SPDX-License-Identifier: MIT
 * core.h: the connection to the node, and what every call of CUDA's does with it.
 *
 *   process.c node_start.c visible.c   the process's connection, and the devices that it sees
 *   thread.c cpu_affinity.c            one more connection for each host thread; its clock
 *   state.c                            what every call looks at
 *   exchange.c call.c                  one message and its reply; one call
 *   error.c messages.c                 the thread's last error; sentences on stderr
 *   caller.c symbolizer.c              who called, and in which line
 *   context.c                          the driver's contexts, as far as every call needs them
 *   fault.c allocated.c                host code that touches device memory
 *   observers.c                        who else wants to know of calls: see observer.h
 *
 * A call that needs the node reads
 *     struct vgpu_request *r = vgpu__begin("cudaX", VGPU_OP_X);
 *     if (!r)
 *         return vgpu__failed();
 *     r->stream = ...;
 *     return vgpu__end(NULL);
 * and one that does not starts with vgpu__enter and ends with vgpu__record. No call holds a lock
 * while it waits for the node.
 */
#ifndef VGPU_CORE_H
#define VGPU_CORE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda_runtime_api.h"
#include "protocol.h"

/* A clock that several threads read and move on. */
typedef _Atomic uint64_t vgpu__clock;

/* ---- the process ---- */

struct vgpu__process {
    /* set once by vgpu__start, then only read */
    const struct vgpu_node_info *info; /* NULL: no node */
    int host_fd;                       /* the process's pinned memory */
    int node_cpu;                      /* -1: never pin */
    uint32_t checks;                   /* VGPU_CHECK: enum vgpu_check */
    int device_count;                  /* visible ones */
    int physical[VGPU_MAX_DEVICES];    /* of logical device i */

    atomic_bool forked;         /* this is the child of a process that was connected */
    atomic_bool driver_ready;   /* cuInit, or a runtime call that does the same */
    atomic_bool lost;           /* the node went away */
    atomic_bool clock_read;     /* by vgpu_time */
    _Atomic uint64_t latest_ps; /* the latest clock of any thread */

    /* by physical device; small facts that a call must know without asking */
    atomic_bool has_context[VGPU_MAX_DEVICES];
    atomic_bool peer_enabled[VGPU_MAX_DEVICES][VGPU_MAX_DEVICES];
};
extern struct vgpu__process vgpu__process;

/* Connects the process (once) and resolves its devices. What every call answers when that failed:
 * 35 no node, 100 no devices, 101 a device named twice; cudaSuccess otherwise, also in a forked
 * child, which may still ask about devices. */
cudaError_t vgpu__start(void);

/* A connection of its own for the calling thread: a descriptor, or -1 (said on stderr). */
int vgpu__new_connection(struct vgpu_request *request, struct vgpu_reply *reply);

const struct vgpu_device_info *vgpu__device_info(int logical);
int vgpu__logical(int physical); /* -1: not visible */

static inline bool vgpu__device_exists(int device) /* a logical number */
{
    return device >= 0 && device < vgpu__process.device_count;
}

/* visible.c: the physical devices of `list` (NULL: all), in bus order where asked. The count in
 * *count, or the code that every call answers. */
cudaError_t vgpu__visible(const struct vgpu_node_info *info, const char *list, bool by_bus,
                          int *physical, int *count);

/* node_start.c: a connected socket, or -1 with a sentence in `why`. */
int vgpu__reach_node(char *why, size_t room);

/* ---- the thread ---- */

/* What a thread needs to talk to the node. Made at its first call that does, freed when it ends. */
struct vgpu__wire {
    int fd;
    struct vgpu__wire *next; /* guarded by the lock in thread.c */
    _Alignas(16) unsigned char request[VGPU_MSG_MAX], reply[VGPU_MSG_MAX], text[VGPU_MSG_MAX];
    _Alignas(16) unsigned char signal_stack[32 << 10];
};

#define VGPU__CONTEXTS 64 /* a thread's stack of the driver's contexts */

struct vgpu__unchecked { /* unchecked_errors.c: the failure that the last error is about; error 0:
                            none */
    cudaError_t error;
    uint64_t caller;
    char call[48];
    bool launch;                 /* by <<<>>>: it returns nothing */
    const char *kernel;          /* of the launch under way; NULL: not known */
    uint64_t launched, launches; /* kernels launched before it; so far */
    bool telling;
    char current[48]; /* the call that is being answered */
};

struct vgpu__thread { /* owner thread only */
    int device;       /* logical number */
    int chosen;       /* by cudaSetDevice: what counts where no context is current */
    bool has_chosen;
    cudaError_t last_error;
    uint64_t clock_ps;        /* changed by vgpu__clock_set alone */
    vgpu__clock *shown_clock; /* what others read of it; NULL: the first thread, or not
                               * pthread_create's */
    bool registered;          /* it has talked to the node */
    struct vgpu__team *team;  /* clock_sync.h: of OpenMP threads that it is one of */
    struct vgpu__wire *wire;
    /* the driver API's view, see driver_context.c */
    bool bound;              /* a runtime call has used `device` */
    bool in_driver;          /* inside a driver call */
    uint32_t graph;          /* enum vgpu_graph: its requests repeat a graph's nodes */
    bool own_default_stream; /* per_thread.c: stream 0 is cudaStreamPerThread */
    bool in_host_function;   /* that a stream called: no CUDA calls */
    struct vgpu__unchecked unchecked;
    uint64_t stack_first, stack_end; /* of the thread; 0: not known */
    uint64_t launched_at;            /* launch.c: the line with <<<>>>, for its call alone */
    int context_count;
    struct CUctx_st *contexts[VGPU__CONTEXTS];
};
extern _Thread_local struct vgpu__thread vgpu__self;

static inline int vgpu__current_physical(void)
{
    return vgpu__process.physical[vgpu__self.device];
}

/* The calling thread's wire, made if need be; NULL: not possible (said on stderr). */
struct vgpu__wire *vgpu__wire(void);
void vgpu__wires_lock(void);
void vgpu__wires_unlock(void);
void vgpu__wires_drop(void); /* in a forked child, locked */

/* The calling thread's clock; whoever joins it sees it. */
void vgpu__clock_set(uint64_t clock_ps);

/* How many threads of this program live and have not talked to the node, as the node wants it. */
uint64_t vgpu__unregistered_threads(void);
void vgpu__thread_registered(void); /* the calling thread has a wire now, or ends without one */
void vgpu__thread_made(bool made);  /* one more is about to begin; false: it could not */

/* Captures under way, or events of them: while there are any, vgpu__begin asks the gate whether a
 * call of this kind disturbs one (an error, recorded). */
extern atomic_int vgpu__capturing;
typedef cudaError_t vgpu__gate(const char *call, uint32_t op);
void vgpu__gate_set(vgpu__gate *gate);

/* ---- one call ---- */

/* For calls that need no context: devices exist; the thread's clock pays for the call. */
cudaError_t vgpu__enter(void);

/* For calls that do: a zeroed request of the calling thread with op, call, device, peer -1 and
 * clock filled in. NULL: the call fails with vgpu__failed(). */
struct vgpu_request *vgpu__begin(const char *call, uint32_t op);
cudaError_t vgpu__failed(void);

/* Sends the thread's request (with descriptor `fd` unless -1) and waits. Returns the reply's error;
 * *reply (may be NULL) is valid until the thread's next request. vgpu__ask records nothing and
 * leaves the clock alone where `free_of_charge`; vgpu__end records the error as the call's. */
cudaError_t vgpu__ask(int fd, bool free_of_charge, const struct vgpu_reply **reply);
cudaError_t vgpu__end(const struct vgpu_reply **reply);

/* The same for a reply that brings descriptors: room for *count of them, as many as came after. */
cudaError_t vgpu__ask_fds(int *fds, int *count);

/* Message level: one request, one reply on `fd`. False: the node is gone (said on stderr). */
bool vgpu__exchange(int fd, const struct vgpu_request *request, int send_fd,
                    struct vgpu_reply *reply, int *fds, int *fd_count);

/* A request beside the call that is under way: free of charge, and its error is not recorded. The
 * reply is the thread's until its next request of this kind; NULL: the node is gone. */
struct vgpu_reply *vgpu__aside(struct vgpu_request *request);

/* exchange.c: a wait on `fd` that takes longer than a minute is told about. */
void vgpu__limit_silence(int fd);
void vgpu__speak_when_asked(int fd); /* no limit: its replies come when there is something to do */

/* Changes when a function that a stream called has returned; whoever waits for anything reads it.
 */
extern atomic_uint vgpu__functions_returned;

/* cpu_affinity.c: the calling thread moves to the node's CPU, and back. */
struct vgpu__affinity {
    bool pinned;
    unsigned long mask[1024 / (8 * sizeof(unsigned long))];
};
void vgpu__affinity_to_node(struct vgpu__affinity *own);
void vgpu__affinity_restore(const struct vgpu__affinity *own);
bool vgpu__is_near_node(void); /* it runs there now, for the moment */

/* ---- errors and sentences ---- */

/* What is being answered is this call. */
void vgpu__call_named(const char *call);

/* Makes `error` the thread's last error, unless it is success, and returns it. */
cudaError_t vgpu__record(cudaError_t error);

/* For a library of ours, which makes calls that are not the program's: from begin to end its errors
 * are its own. The thread's last error stays what the program's calls left it at, and nobody is
 * told that the program has not looked at one. May be nested. */
struct vgpu__own_calls {
    cudaError_t last_error;
    struct vgpu__unchecked unchecked;
};
struct vgpu__own_calls vgpu__own_calls_begin(void);
void vgpu__own_calls_end(const struct vgpu__own_calls *own);

/* "vgpu: <call>: <text>" on stderr, once for each distinct text; silent with VGPU_QUIET=1. */
void vgpu__message(const char *call, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool vgpu__quiet(void);

/* A text of the node's, with its marks read. */
void vgpu__explain(const char *call, const char *explain);

/* Another program of the toolkit, where vgpu-node is. */
bool vgpu__find_program(const char *name, char *path, size_t room);

/* A sentence and the code to answer with: `return vgpu__refuse(error, call, ...)`. Recorded. */
cudaError_t vgpu__refuse(cudaError_t error, const char *call, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same where the program's own memory has run out. `call` NULL: the one being answered. */
cudaError_t vgpu__no_memory(const char *call);

/* caller.c: the return address of the call that the program has made and that is being answered; 0:
 * not known. From the stack, so that no call need hand it on; the library's own code lies in a
 * section of its own, by which it is told from the program's. */
uint64_t vgpu__caller(void);

/* symbolizer.c: "file:line" of the code before `address` in this program, "" where it has no debug
 * information; and a text of the node's with its marks read. */
void vgpu__symbolize(uint64_t address, char *where, size_t room);
uint64_t vgpu__symbolize_path(uint64_t address, char *path, size_t room); /* to open it: the line */
void vgpu__unmark(const char *text, char *out, size_t room);

/* The number of a stream at the node. */
uint64_t vgpu__stream_id(cudaStream_t stream);

/* ---- host code that touches device memory ---- */

/* allocated.c: what the process allocated on GPUs, for the handler of faults: no call waits. */
struct vgpu__allocation {
    uint64_t base, bytes, caller;
    bool freed;
};
void vgpu__allocated(uint64_t address, uint64_t bytes);
void vgpu__freed(uint64_t address);
bool vgpu__allocation_at(uint64_t address, struct vgpu__allocation *out); /* the newest */

void vgpu__fault_handler_install(void); /* once a process */
bool vgpu__fault_handler_is_ours(void);
/* Faults that `ours` knows are noticed from now on, also where the program has a handler of its
 * own, which gets all the rest. One caller at a time. */
void vgpu__fault_handler_need(bool (*ours)(uint64_t address));
void vgpu__fault_stack_install(struct vgpu__wire *wire); /* once a thread */
void vgpu__fault_stack_remove(struct vgpu__wire *wire);

#endif
