/* SPDX-License-Identifier: MIT
 * runtime.h: the map of the runtime, the library in the program's process that answers CUDA calls.
 *
 * Layers, lower ones know nothing of higher ones:
 *   say.c error.c        sentences on stderr, the thread's last error
 *   node_start.c         finds the node, or starts it
 *   visible.c            which devices CUDA_VISIBLE_DEVICES leaves
 *   process.c thread.c   the process's connection, and one more for each host thread
 *   carry*.c             threads that wait for each other pass on their clocks
 *   call.c pin.c         one request and its reply
 *   everything else      the calls, by subject; driver_*.c: the driver API over them
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
#ifndef VGPU_RUNTIME_H
#define VGPU_RUNTIME_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda_runtime_api.h"
#include "protocol.h"

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

/* Whether this process has the primary context of a physical device; the node is asked where no
 * call of this process is known to have made one. */
bool vgpu__has_context(int physical);

/* Connects the process (once) and resolves its devices. What every call answers when that failed:
 * 35 no node, 100 no devices, 101 a device named twice; cudaSuccess otherwise, also in a forked
 * child, which may still ask about devices. */
cudaError_t vgpu__start(void);

/* A connection of its own for the calling thread: a descriptor, or -1 (said on stderr). */
int vgpu__new_connection(struct vgpu_request *request, struct vgpu_reply *reply);

const struct vgpu_device_info *vgpu__device_info(int logical);
int vgpu__logical(int physical); /* -1: not visible */

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

struct vgpu__blame { /* blame.c: the failure that the last error is about; error 0: none */
    cudaError_t error;
    uint64_t caller;
    char call[48];
    bool launch;                 /* by <<<>>>: it returns nothing */
    uint64_t launched, launches; /* kernels launched before it; so far */
    bool telling;
    char current[48]; /* the call that is being answered */
};

struct vgpu__thread { /* owner thread only */
    int device;       /* logical number */
    int chosen;       /* by cudaSetDevice: what counts where no context is current */
    bool has_chosen;
    cudaError_t last_error;
    uint64_t clock_ps;       /* changed by vgpu__clock_set alone */
    struct vgpu__life *life; /* carry_threads.c: NULL: the first thread, or not pthread_create's */
    struct vgpu__team *team; /* carry.h: of OpenMP threads that it is one of */
    struct vgpu__wire *wire;
    /* the driver API's view, see driver_context.c */
    bool bound;              /* a runtime call has used `device` */
    bool in_driver;          /* inside a driver call */
    uint32_t graph;          /* enum vgpu_graph: its requests repeat a graph's nodes */
    bool own_default_stream; /* per_thread.c: stream 0 is cudaStreamPerThread */
    bool in_host_function;   /* that a stream called: no CUDA calls */
    struct vgpu__blame blame;
    uint64_t launched_at; /* launch.c: the line with <<<>>>, for its call alone */
    int context_count;
    struct CUctx_st *contexts[VGPU__CONTEXTS];
};
extern _Thread_local struct vgpu__thread vgpu__self;

/* blame.c: what is being answered is this call; a call of the thread has failed; the program has
 * asked for the last error; or nobody can ask any more. */
void vgpu__blame_call(const char *call);
/* A diagnosis of our own: the node counts it and hands it back to be said, once for each key. */
void vgpu__finding(uint32_t diagnosis, const char *call, uint64_t key, const char *text);
/* descriptors.c: one for memory is handed out; the program ends. */
void vgpu__descriptor_given(int fd);
void vgpu__descriptors_tell(void);
void vgpu__blame_failed(cudaError_t error);
void vgpu__blame_asked(const char *call);
void vgpu__blame_forget(void);

/* The calling thread's wire, made if need be; NULL: not possible (said on stderr). */
struct vgpu__wire *vgpu__wire(void);
void vgpu__wires_lock(void);
void vgpu__wires_unlock(void);
void vgpu__wires_drop(void); /* in a forked child, locked */

/* driver_context.c: the runtime has used the thread's device, or chosen another. */
void vgpu__context_used(void);
void vgpu__context_chosen(void);

/* capture.c: captures under way, or events of them; 0: vgpu__capture_gate need not be asked whether
 * a call of this kind disturbs one (an error, recorded). */
extern atomic_int vgpu__capturing;
cudaError_t vgpu__capture_gate(const char *call, uint32_t op);

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

/* A request beside the call that is under way: free of charge, its errors nobody's. The reply is
 * the thread's until its next request of this kind; NULL: the node is gone. */
struct vgpu_reply *vgpu__aside(struct vgpu_request *request);

/* A wait on `fd` that takes longer than a minute is told about. */
void vgpu__limit_silence(int fd);
void vgpu__speak_when_asked(int fd); /* no limit: its replies come when there is something to do */

/* pin.c: the calling thread moves to the node's CPU, and back. */
struct vgpu__pin {
    bool pinned;
    unsigned long mask[1024 / (8 * sizeof(unsigned long))];
};
void vgpu__pin(struct vgpu__pin *pin);
void vgpu__unpin(const struct vgpu__pin *pin);
bool vgpu__is_near_node(void); /* it runs there now, for the moment */

/* ---- errors and sentences ---- */

/* Makes `error` the thread's last error, unless it is success, and returns it. */
cudaError_t vgpu__record(cudaError_t error);

/* "vgpu: <call>: <text>" on stderr, once for each distinct text; silent with VGPU_QUIET=1. */
void vgpu__say(const char *call, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool vgpu__quiet(void);

/* call.c: a text of the node's, with its marks read. */
void vgpu__explain(const char *call, const char *explain);

/* A sentence and the code to answer with: `return vgpu__refuse(error, call, ...)`. Recorded. */
cudaError_t vgpu__refuse(cudaError_t error, const char *call, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* caller.c: the return address of the call that the program has made and that is being answered; 0:
 * not known. From the stack, so that no call need hand it on; the library's own code lies in a
 * section of its own, by which it is told from the program's. */
uint64_t vgpu__caller(void);

/* where.c: "file:line" of the code before `address` in this program, "" where it has no debug
 * information; and a text of the node's with its marks read. */
void vgpu__where(uint64_t address, char *where, size_t room);
uint64_t vgpu__where_path(uint64_t address, char *path, size_t room); /* to open it: the line */
void vgpu__unmark(const char *text, char *out, size_t room);

/* ---- memory ---- */

enum vgpu__place { VGPU__PAGEABLE, VGPU__PINNED, VGPU__DEVICE };
enum vgpu__place vgpu__place(const void *address);

/* What the node calls the address: the same, but for memory that cudaHostRegister shared. */
uint64_t vgpu__node_address(const void *pointer);

/* Maps [address, address + bytes) of the process's pinned memory. False: not possible (said). */
bool vgpu__map_host(uint64_t address, size_t bytes);

/* A range that carries pageable memory, for the time of one call; *out is the caller's until given
 * back. Sends requests: take it before the copy's own request is begun. */
struct vgpu__stage {
    uint64_t address; /* mapped */
    size_t bytes;
    struct vgpu__stage *next;
};
cudaError_t vgpu__stage_take(size_t bytes, struct vgpu__stage **out);
void vgpu__stage_give(struct vgpu__stage *stage);

void vgpu__host_forget(int physical); /* a reset destroyed the device's pinned memory */
/* A range of the process's host memfd as cudaMallocHost and cudaMallocManaged give it, and its end.
 * bytes 0: *ptr becomes NULL. */
cudaError_t vgpu__host_allocate(const char *call, void **ptr, size_t bytes, unsigned int flags,
                                bool managed);
cudaError_t vgpu__host_free(const char *call, void *ptr);
/* Does [pointer, +bytes) lie in one live allocation of managed memory? */
bool vgpu__managed(const void *pointer, size_t bytes);
/* The pinned, managed or registered memory that it lies in. */
bool vgpu__host_range(const void *pointer, uint64_t *base, uint64_t *bytes);
/* May kernels on the physical GPU `from` touch memory of `owner`? */
bool vgpu__peer_reaches(int from, int owner);
/* Is this device memory within its reach: a peer's, mapped with access, or of a pool that lets it?
 */
bool vgpu__pointer_reached(int from, const struct vgpu_pointer *p);
int vgpu__host_owner(const void *pointer); /* physical device it was allocated under, -1: none */

/* One copy as the program asked for it; rows == 1 and pitches unused for a plain one. A box has
 * plane_rows rows in each plane. */
struct vgpu__copy {
    const char *call;
    void *dst;
    const void *src;
    size_t width, rows, dst_pitch, src_pitch;
    enum cudaMemcpyKind kind;
    cudaStream_t stream;
    bool sync;
    size_t plane_rows, dst_plane, src_plane; /* plane_rows == 0: one plane */
};
cudaError_t vgpu__copy(const struct vgpu__copy *copy);

/* The same between devices by number: they must exist, the addresses decide. */
cudaError_t vgpu__copy_peer(const struct vgpu__copy *copy, int dst_device, int src_device);

/* ---- streams, kernels, variables ---- */

uint64_t vgpu__stream_id(cudaStream_t stream);
void vgpu__stream_attributes_forget(cudaStream_t stream); /* it is destroyed */

struct vgpu_host_kernel;
struct vgpu_host_module;

/* The kernel of this stub, NULL if none; *module may be NULL. */
const struct vgpu_host_kernel *vgpu__find_kernel(const void *stub,
                                                 struct vgpu_host_module **module);
/* The __managed__ variable that begins there, or null. */
const struct vgpu_managed *vgpu__find_managed(const void *address);
const struct vgpu_host_var *vgpu__find_var(const void *shadow, struct vgpu_host_module **module);

/* The number at the node of the module's image, which is sent there if need be. */
cudaError_t vgpu__load_image(const struct vgpu_host_module *module, const char *call, uint32_t *id);

/* Bytes of dynamic shared memory that the kernel may have on the current device. */
size_t vgpu__dynamic_limit(const struct vgpu_host_kernel *kernel);
void vgpu__functions_forget(int physical);

/* Blocks of this shape that one SM of the current device holds at once. */
int vgpu__blocks_per_sm(const struct vgpu_host_kernel *kernel, size_t threads,
                        size_t dynamic_bytes);

void vgpu__limits_forget(int physical);
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
void vgpu__fault_stack_install(struct vgpu__wire *wire); /* once a thread */
void vgpu__fault_stack_remove(struct vgpu__wire *wire);

#endif
