/* SPDX-License-Identifier: MIT
 * core.h: the connection to the node, and what every CUDA call does with it.
 *
 *   process.c node_start.c visible.c   the process's connection, and the devices visible to it
 *   thread.c cpu_affinity.c            one further connection for each host thread; its clock
 *   state.c                            the state that every call reads
 *   exchange.c watching.c call.c       one message and its reply; one call
 *   error.c messages.c                 the thread's last error; messages on stderr
 *   caller.c symbolizer.c              a call's return address; its file and line
 *   context.c                          the driver's contexts, as far as every call needs them
 *   fault.c allocated.c                host code that accesses device memory
 *   observers.c                        calls back the rooms that observe calls: see observer.h
 *
 * A call that needs the node reads
 *     struct vgpu_request *r = vgpu__begin("cudaX", VGPU_OP_X);
 *     if (!r)
 *         return vgpu__failed();
 *     r->stream = ...;
 *     return vgpu__end(NULL);
 *
 * A call that does not need the node begins with vgpu__enter and ends with vgpu__record. No call
 * holds a lock while it waits for the node.
 */
#ifndef VGPU_CORE_H
#define VGPU_CORE_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda_runtime_api.h"
#include "door.h"
#include "feature_list.h"
#include "protocol.h"

/* A virtual clock (ps) that several threads read and advance. */
typedef _Atomic uint64_t vgpu__clock;

/* ---- the process ---- */

struct vgpu__process {
    /* set once by vgpu__start, then only read */
    const struct vgpu_node_info *info; /* NULL: not connected */
    int host_fd;                       /* memory file of the process's pinned memory */
    bool traced;                       /* the node writes a timeline of this program */
    int node_cpu;                      /* -1: threads are never pinned */
    uint32_t checks;                   /* VGPU_CHECK: enum vgpu_check */
    int device_count;                  /* number of visible devices */
    int physical[VGPU_MAX_DEVICES];    /* physical number of logical device i */

    atomic_bool forked;       /* this process was forked from a connected one */
    atomic_bool driver_ready; /* cuInit was called, or a runtime call, which has the same effect */
    atomic_bool lost;         /* the connection to the node has failed */
    atomic_bool clock_read;   /* the program called vgpu_time */
    _Atomic uint64_t latest_ps; /* the latest clock of all threads */

    /* Indexed by physical device: what calls must know without a request to the node. */
    atomic_bool has_context[VGPU_MAX_DEVICES];
    atomic_bool peer_enabled[VGPU_MAX_DEVICES][VGPU_MAX_DEVICES];
};
extern struct vgpu__process vgpu__process;

/* report.c: marks a feature as used; what a request to the node, or device code, uses. */
void vgpu__used(enum vgpu_feature feature);
void vgpu__used_request(uint32_t op);
void vgpu__used_image(const void *begin, const void *end);
uint64_t vgpu__used_features(void);
void vgpu__report(void); /* if VGPU_REPORT=1 */

/* Connects the process (once) and determines its visible devices. Returns cudaSuccess, also in a
 * forked child, whose calls about devices still work; or the error that every call returns from
 * then on: 35 no node, 100 no devices, 101 a device is named twice. */
cudaError_t vgpu__start(void);

/* Opens a connection for the calling thread; `request` and `reply` are buffers of VGPU_MSG_MAX
 * bytes. Returns a descriptor, or -1 after a message on stderr; reply->value is the address of the
 * door for its replies. */
int vgpu__new_connection(struct vgpu_request *request, struct vgpu_reply *reply);

const struct vgpu_device_info *vgpu__device_info(int logical);
int vgpu__logical(int physical); /* -1: not visible to this process */

static inline bool vgpu__device_exists(int device) /* `device`: a logical number */
{
    return device >= 0 && device < vgpu__process.device_count;
}

/* visible.c: stores the physical devices that `list` selects (NULL: all), in bus order if `by_bus`,
 * and their number in *count. Returns the error that every call must return if the list is wrong.
 */
cudaError_t vgpu__visible(const struct vgpu_node_info *info, const char *list, bool by_bus,
                          int *physical, int *count);

/* node_start.c: returns a connected socket, or -1 with the reason in `why`. */
int vgpu__reach_node(char *why, size_t room);

/* ---- the thread ---- */

/* watching.c: whether a thread looks for its replies instead of sleeping. */
struct vgpu__watching {
    uint64_t last_ns; /* when its last call ended */
    /* Calls without a pause so far, how many of them it takes, and replies in time since then. */
    uint32_t row, wanted, good;
};

/* Whether a thread that sleeps on the node's CPU has to be held there (watching.c). */
struct vgpu__staying {
    bool is_free; /* in the call in progress */
    /* Calls in which it is held from now on, how many they were, and calls in which it has stayed
     * by itself since then. */
    uint32_t held, wanted, good;
};

/* Where replies to a thread and its requests can lie (door.h). */
struct vgpu__doors {
    struct vgpu_door *replies; /* NULL: all goes by the socket */
    struct vgpu_door *requests;
    struct vgpu__watching watching;
    struct vgpu__staying staying;
};

/* A thread's connection to the node with its message buffers. Made at the thread's first call that
 * needs it, freed when the thread ends. */
struct vgpu__wire {
    int fd;
    struct vgpu__doors doors;
    struct vgpu__wire *next; /* guarded by threads_lock (thread.c) */
    _Alignas(16) unsigned char request[VGPU_MSG_MAX], reply[VGPU_MSG_MAX], text[VGPU_MSG_MAX];
    _Alignas(16) unsigned char signal_stack[32 << 10];
};

#define VGPU__CONTEXTS 64 /* depth of a thread's stack of driver contexts */

/* unchecked_errors.c: the failed call that set the last error; `error` is 0 if there is none. */
struct vgpu__unchecked {
    cudaError_t error;
    uint64_t caller;
    char call[48];
    bool launch;                 /* made by <<<>>>, which returns no error to the program */
    const char *kernel;          /* name of the kernel being launched; NULL: unknown */
    uint64_t launched, launches; /* kernels launched before the failure; kernels launched in all */
    bool telling; /* a report is being made, or calls are not the program's: they are not noted */
    char current[48]; /* the call in progress */
};

struct vgpu__thread { /* accessed by its own thread only */
    int device;       /* logical number */
    int chosen;       /* device of the last cudaSetDevice, used while no context is current */
    bool has_chosen;
    cudaError_t last_error;
    uint64_t clock_ps; /* written by vgpu__clock_set only */
    bool heard;        /* vgpu_time_hear was called since the last wait for an event */
    /* The copy of clock_ps that other threads read. NULL: the first thread, or a thread that was
     * not created by pthread_create. */
    vgpu__clock *shown_clock;
    bool registered;         /* it has a connection to the node */
    struct vgpu__team *team; /* clock_sync.h: the OpenMP team that the thread belongs to */
    struct vgpu__wire *wire;
    /* state of the driver API, see driver_context.c */
    bool bound;              /* a runtime call has used `device` */
    bool in_driver;          /* inside a driver call */
    uint32_t graph;          /* enum vgpu_graph: set while requests come from a graph launch */
    bool own_default_stream; /* per_thread.c: stream 0 means cudaStreamPerThread */
    bool in_host_function;   /* runs a function that a stream called; CUDA calls are refused */
    struct vgpu__unchecked unchecked;
    uint64_t stack_first, stack_end; /* address range of the thread's stack; 0: unknown */
    /* launch.c: return address of the <<<>>> statement while its kernel is launched; else 0. */
    uint64_t launched_at;
    struct vgpu_collective collective; /* of which the next kernel is a part */
    int context_count;
    struct CUctx_st *contexts[VGPU__CONTEXTS];
};
extern _Thread_local struct vgpu__thread vgpu__self;

static inline int vgpu__current_physical(void)
{
    return vgpu__process.physical[vgpu__self.device];
}

/* The calling thread's connection, made if necessary. NULL: it cannot be made (reported on stderr).
 */
struct vgpu__wire *vgpu__wire(void);
void vgpu__wires_lock(void);
void vgpu__wires_unlock(void);
void vgpu__wires_drop(void); /* in a forked child, with the lock held: closes all connections */

/* Sets the calling thread's clock, and the copy that other threads read. */
void vgpu__clock_set(uint64_t clock_ps);

/* The number of threads of this program that are alive and have no connection to the node, in the
 * encoding of struct vgpu_request (see thread.c). */
uint64_t vgpu__unregistered_threads(void);
/* The calling thread is connected, or ends without a connection. */
void vgpu__thread_registered(void);
/* true: a thread is about to be created; false: its creation failed. */
void vgpu__thread_made(bool made);

/* The number of stream captures under way and of events recorded in one. While it is not 0,
 * vgpu__admit calls the gate, which returns (and records) an error if such a call would invalidate
 * a capture. */
extern atomic_int vgpu__capturing;
typedef cudaError_t vgpu__gate(const char *call, uint32_t op);
void vgpu__gate_set(vgpu__gate *gate);

/* ---- one call ---- */

/* Begins a call that needs no context: connects if necessary and advances the thread's clock by the
 * cost of a call. vgpu__enter: in the function that the program calls. */
cudaError_t vgpu__enter_call(const char *call);
#define vgpu__enter() vgpu__enter_call(__func__)

/* What a call that needs a context does before its checks: connects, asks the gate, and names the
 * call for messages. False: the call must return vgpu__failed(). */
bool vgpu__admit(const char *call, uint32_t op);
/* The calling thread's request, zeroed, with op, call, device, peer (-1) and clock filled in; of a
 * call that vgpu__admit has let pass. */
struct vgpu_request *vgpu__new_request(const char *call, uint32_t op);
/* Both; NULL: the call must return vgpu__failed(). */
struct vgpu_request *vgpu__begin(const char *call, uint32_t op);
cudaError_t vgpu__failed(void);

/* Send the thread's request and wait for the reply. Both return the reply's error; *reply (may be
 * NULL) is valid until the thread's next request. vgpu__ask sends descriptor `fd` along (-1: none),
 * does not record the error, and leaves the thread's clock unchanged if `free_of_charge`. vgpu__end
 * records the error as the thread's last one. */
cudaError_t vgpu__ask(int fd, bool free_of_charge, const struct vgpu_reply **reply);
cudaError_t vgpu__end(const struct vgpu_reply **reply);

/* The same as vgpu__end for a reply with descriptors: *count is the capacity of `fds` before and
 * the number of descriptors received after the call. The caller owns them. */
cudaError_t vgpu__ask_fds(int *fds, int *count);

/* Sends one message on `fd` and receives its reply; without descriptors both perhaps by `doors`
 * (NULL: none). False: the connection has failed (reported on stderr). */
bool vgpu__exchange(int fd, struct vgpu__doors *doors, const struct vgpu_request *request,
                    int send_fd, struct vgpu_reply *reply, int *fds, int *fd_count);

/* watching.c: true: the thread watches its door during this call, on another processor than the
 * node's. Then _failed or _succeeded says whether the reply came in time. _ends: at the end of
 * every call. */
bool vgpu__watching_begins(struct vgpu__watching *w);
void vgpu__watching_failed(struct vgpu__watching *w);
void vgpu__watching_succeeded(struct vgpu__watching *w);
void vgpu__watching_ends(struct vgpu__watching *w);
/* true: a thread on the node's CPU can sleep there without being held. _ends: at the end of every
 * call. */
bool vgpu__staying_begins(struct vgpu__staying *s);
void vgpu__staying_ends(struct vgpu__staying *s);

/* Sends a request of the runtime's own while a call is in progress: it costs no virtual time and
 * its error is not recorded. The reply is valid until the thread's next request of this kind. NULL:
 * the connection has failed. */
struct vgpu_reply *vgpu__aside(struct vgpu_request *request);

/* exchange.c: if a reply on `fd` takes longer than a minute, a message says so. */
void vgpu__limit_silence(int fd);
void vgpu__allow_silence(int fd); /* no such message: a reply comes only when there is work */

/* Incremented whenever a function called by a stream (cudaLaunchHostFunc) has returned, and read
 * with acquire order after every reply, so that a call that waited for it sees what it wrote. */
extern atomic_uint vgpu__functions_returned;

/* cpu_affinity.c: pin the calling thread to the node's CPU, and restore its own mask. */
struct vgpu__affinity {
    bool pinned;
    unsigned long mask[1024 / (8 * sizeof(unsigned long))];
};
void vgpu__affinity_to_node(struct vgpu__affinity *own);
void vgpu__affinity_restore(const struct vgpu__affinity *own);
/* Moves the calling thread to another CPU than the node's. False: it may use no other. */
bool vgpu__affinity_leave_node(void);
bool vgpu__is_near_node(void); /* true: the thread runs on the node's CPU at the moment */

/* ---- errors and messages ---- */

/* Sets the name of the call in progress. */
void vgpu__call_named(const char *call);

/* If `error` is not cudaSuccess, makes it the thread's last error. Returns `error`. */
cudaError_t vgpu__record(cudaError_t error);

/* For libraries of this project (NCCL) whose CUDA calls are not the program's. Between begin and
 * end the thread has a last error of its own; the end restores what the program's own calls left,
 * and errors of calls in between are not reported as unchecked. Pairs may be nested. */
struct vgpu__own_calls {
    cudaError_t last_error;
    struct vgpu__unchecked unchecked;
};
/* The next kernel that this thread launches is a rank's part of a collective. */
void vgpu__next_is_collective(const struct vgpu_collective *collective);
struct vgpu__own_calls vgpu__own_calls_begin(void);
void vgpu__own_calls_end(const struct vgpu__own_calls *own);

/* Prints "vgpu: <call>: <text>" on stderr, once for each distinct text; nothing with VGPU_QUIET=1.
 */
void vgpu__message(const char *call, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool vgpu__quiet(void);

/* Prints a text that the node sent, after vgpu__unmark. */
void vgpu__explain(const char *call, cudaError_t error, const char *explain);

/* The path of another program of the toolkit, which lies beside vgpu-node; false: it is not there,
 * or `room` does not suffice. */
bool vgpu__find_program(const char *name, char *path, size_t room);

/* Prints a message, records `error` and returns it: `return vgpu__refuse(error, call, ...)`. */
cudaError_t vgpu__refuse(cudaError_t error, const char *call, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same when host memory has run out in this process. `call` NULL: the call in progress. */
cudaError_t vgpu__no_memory(const char *call);

/* caller.c: the return address of the CUDA call that the program made and that is in progress; 0:
 * unknown. It is read from the stack, so it need not be passed from function to function: the
 * runtime's code is in a section of its own, and the first return address outside it is the
 * program's. */
uint64_t vgpu__caller(void);

/* traced.c: stores what vgpu__symbolize does, but "" unless the program is traced. */
void vgpu__call_site(uint64_t caller, char *site, size_t room);

/* symbolizer.c. vgpu__symbolize: stores "file:line" of the call that returns to `address`, "" if
 * the program has no debug information. vgpu__symbolize_path: stores the path of that source file
 * and returns the line, or 0. vgpu__unmark: copies a text of the node and replaces marked addresses
 * by "file:line". */
void vgpu__symbolize(uint64_t address, char *where, size_t room);
uint64_t vgpu__symbolize_path(uint64_t address, char *path, size_t room);
void vgpu__unmark(const char *text, char *out, size_t room);

/* The number by which the node knows a stream. */
uint64_t vgpu__stream_id(cudaStream_t stream);

/* ---- host code that accesses device memory ---- */

/* allocated.c: what the process allocated on GPUs. Lock-free, so that the SIGSEGV handler can read
 * it. */
struct vgpu__allocation {
    uint64_t base, bytes, caller;
    bool freed;
};
void vgpu__allocated(uint64_t address, uint64_t bytes);
void vgpu__freed(uint64_t address);
/* The newest that holds `address`. */
bool vgpu__allocation_at(uint64_t address, struct vgpu__allocation *out);

void vgpu__fault_handler_install(void); /* once per process */
bool vgpu__fault_handler_is_ours(void);
/* Says, if it is set, whether the refusal of a call is printed (a lab's runner sets it). */
extern bool (*vgpu__refusal_hook)(uint64_t caller);
/* Asks, if it is set, whether a call fails with cudaErrorUnknown and does nothing; asked once by
 * vgpu__admit, vgpu__begin and vgpu__enter (a lab's runner sets it). */
extern bool (*vgpu__failure_hook)(const char *call);
/* Called, if it is set, for a fault that ends the process (a lab's runner sets it). */
extern void (*vgpu__crash_hook)(int signal_number, siginfo_t *info, void *context);
/* From now on a fault at an address for which `ours` returns true is handled by the runtime even if
 * the program installs a handler of its own, which still gets all other faults. Not thread-safe. */
void vgpu__fault_handler_need(bool (*ours)(uint64_t address));
void vgpu__fault_stack_install(struct vgpu__wire *wire); /* once per thread */
void vgpu__fault_stack_remove(struct vgpu__wire *wire);

#endif
