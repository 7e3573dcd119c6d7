/* SPDX-License-Identifier: MIT
 * protocol_exec.h: what the node and its contexts (vgpu-exec) say to each other. The second half of
 * protocol.h, which includes it.
 */
#ifndef VGPU_PROTOCOL_EXEC_H
#define VGPU_PROTOCOL_EXEC_H

#include "protocol.h"

/* ---- node to context (vgpu-exec, socket on descriptor 3) and back ----
 * The first message is VGPU_EXEC_ATTACH; each request has one reply. */

enum vgpu_exec_op {
    VGPU_EXEC_ATTACH = 1, /* device = own, device_count, limits; fds: memfd of each device, host
                             memfd, control memfd */
    VGPU_EXEC_MAP,    /* va, bytes, memory (device index, or -1 host), offset, writable, fixed */
    VGPU_EXEC_UNMAP,  /* va, bytes: one whole mapping, or all that lie inside */
    VGPU_EXEC_MODULE, /* module id; fd: image -> kernel_count, var_base, var_bytes, var_count; data
                         = the first struct vgpu_exec_var[]. Without fd: those from number va on */
    VGPU_EXEC_RUN,    /* launch + args: -> VGPU_RAN, VGPU_FAULTED or VGPU_STALLED */
    VGPU_EXEC_RESUME, /* go on with the stalled kernel `run` */
    VGPU_EXEC_ABORT,  /* drop the stalled kernel `run` */
};

/* A signal for a context whose kernel makes no progress: it ends the kernel with VGPU_FAULT_HANG,
 * which says where it loops. SIGKILL if no reply comes. */
#define VGPU_EXEC_HANG_SIGNAL 10 /* SIGUSR1 */

/* How much of a kernel is resident at once; a zero means an H200's value. */
struct vgpu_exec_limits {
    uint32_t sm_count, threads_per_sm, blocks_per_sm, cc_major;
    uint64_t shared_per_sm, shared_per_block; /* the latter: what a kernel can opt in to */
    uint64_t cpus; /* processors (of the first 64) that blocks may run on; 0: one, whichever */
    uint64_t memory_bytes; /* of this computer's, that all devices' memory together may take */
};

/* A __device__ variable: it lies at `offset` of the VGPU_EXEC_MAP that puts device memory over the
 * image's variables (va = var_base, bytes = var_bytes, fixed = 1). That MAP also writes their
 * initial values into the device's memory. */
struct vgpu_exec_var {
    uint64_t offset, bytes;
    char key[112];
};

#define VGPU_GRANULE_BYTES 512 /* allocations start at multiples of it, as recorded */
#define VGPU_WINDOWS 20        /* strides from VGPU_ARENA_VA on that a context may index by */

/* The control memfd, shared by the node and all contexts of the node; only the one that runs
 * (and its helpers) touches it. chunk[d][c]: 0 untouched, 1 committed and poisoned. Sparse: most of
 * it is never touched. Bounds, by address from VGPU_ARENA_VA on: partial[c] is 1 where a chunk is
 * mapped and not all of it is allocated; tail[g] says for each granule of such a chunk how many
 * bytes are, from its start on. Device code can write here: nothing in it limits anybody. */
struct vgpu_control {
    uint64_t progress; /* contexts add to it at every yield */
    uint8_t chunk[VGPU_MAX_DEVICES][VGPU_DEVICE_STRIDE / VGPU_CHUNK_BYTES];
    uint8_t partial[VGPU_WINDOWS * (VGPU_DEVICE_STRIDE / VGPU_CHUNK_BYTES)]
        __attribute__((aligned(4096)));
    uint16_t tail[VGPU_MAX_GPUS * (VGPU_DEVICE_STRIDE / VGPU_GRANULE_BYTES)];
};

/* MAP, writable (inject.h): stores stay in this context, or all but VGPU_TORN_BYTES of a granule */
#define VGPU_MAP_LOSES_STORES 2
#define VGPU_MAP_TEARS_STORES 3
#define VGPU_TORN_BYTES 64

struct vgpu_exec_request {
    uint32_t op;
    int32_t device, device_count;
    int32_t memory, writable;
    int32_t fixed; /* MAP: replaces the variables' pages of an image */
    uint32_t module;
    int32_t strict;  /* RUN: a stray access is a fault */
    uint32_t checks; /* RUN: what to look for: enum vgpu_check */
    uint64_t run;    /* id of the run, chosen by the node; several may be stalled at a time */
    uint64_t va, bytes, offset;
    struct vgpu_exec_limits limits;
    struct vgpu_launch launch;
    uint32_t data_bytes;
    uint8_t data[]; /* arguments */
};

enum vgpu_exec_status { VGPU_OK = 0, VGPU_RAN, VGPU_FAULTED, VGPU_STALLED, VGPU_REFUSED };

enum vgpu_fault_kind {
    VGPU_FAULT_NONE,
    VGPU_FAULT_ADDRESS,
    VGPU_FAULT_MISALIGNED,
    VGPU_FAULT_TRAP,
    VGPU_FAULT_ASSERT,
    VGPU_FAULT_STACK,
    VGPU_FAULT_BARRIER,
    VGPU_FAULT_MEMORY /* commit limit, or too much shared memory */,
    VGPU_FAULT_INTERNAL,
    VGPU_FAULT_HANG /* VGPU_EXEC_HANG_SIGNAL */
};

#define VGPU_BUSIEST_UNKNOWN UINT32_MAX
struct vgpu_run_counts {
    uint64_t read_bytes[VGPU_MAX_DEVICES + 1], write_bytes[VGPU_MAX_DEVICES + 1]; /* last = host */
    /* the bytes of the 32-byte sectors that those need (vgpu/exec/counts/door/sample.h) */
    uint64_t read_moved[VGPU_MAX_DEVICES + 1], write_moved[VGPU_MAX_DEVICES + 1];
    uint64_t atomics, barriers, threads, accesses;
    uint64_t shared_accesses; /* to __shared__ memory */
    uint64_t shuffles;        /* of each lane that takes part */
    /* accesses, shared memory's too, of the thread of the grid's first block that made the most;
     * VGPU_BUSIEST_UNKNOWN: not all were looked at (vgpu/exec/counts/door/sample.h) */
    uint64_t busiest;
    /* bank conflicts (vgpu/exec/counts/door/bank.h): wavefronts that they add; at the worst place,
     * "file:line" where known, so many in place of one */
    uint64_t conflicts, conflict_ways;
    char conflict_where[96];
    uint64_t fast_blocks; /* blocks that ran in the fast form (lanes.h) */
    uint64_t cycles; /* the furthest clock64 any thread read: the kernel lasts at least that long */
};

struct vgpu_dim3_ {
    uint32_t x, y, z;
};

/* An access outside of every allocation that the MMU lets pass, because the memory around it is
 * mapped; told once for each place in the code. */
struct vgpu_stray {
    uint64_t address, pc;
    uint32_t bytes;
    int32_t write;
    struct vgpu_dim3_ thread, block;
    char where[96]; /* "file:line" where known */
};
#define VGPU_STRAYS 4 /* of one run; what comes after is told by a later one */

/* What the detectors of a kernel have found: two accesses that nothing orders, or one that is wrong
 * by itself. */
enum vgpu_access_mode { VGPU_PLAIN, VGPU_VOLATILE, VGPU_ATOMICALLY, VGPU_ATOMICALLY_IN_BLOCK };
struct vgpu_hazard_side {
    struct vgpu_dim3_ thread, block;
    char where[96]; /* "file:line" where known */
    int32_t known;  /* 0: there is no such access */
    int32_t others; /* it was another thread than this one */
    int32_t write;
    int32_t mode; /* enum vgpu_access_mode */
};
struct vgpu_hazard {
    int32_t diagnosis; /* enum vgpu_diagnosis */
    uint32_t bytes;
    uint64_t address;
    uint32_t object_bytes, object_offset; /* of the __shared__ declaration; 0: other memory */
    struct vgpu_hazard_side first, second;
};
#define VGPU_HAZARDS 4 /* of one run; what comes after is told by a later one */

/* Addresses (of device and pinned memory) that a run stored to by volatile stores and atomics, and
 * that it polled, with what it read there last. What does not fit is left out. Bit i of `fenced`:
 * some store to stored[i] came after a fence of the system's scope, by whatever thread of the run.
 */
#define VGPU_SIGNALS 32
struct vgpu_signals {
    uint32_t stored_count, polled_count, fenced;
    uint64_t stored[VGPU_SIGNALS], polled[VGPU_SIGNALS];
    uint64_t value[VGPU_SIGNALS]; /* of polled[i], `bytes` of it, 8 at most */
    uint8_t bytes[VGPU_SIGNALS];
};

/* What a run used of device and pinned memory: `count` pieces of `bytes`, `stride` apart. Atomics
 * are of a GPU's scope, or a block's, or of the system's. */
enum vgpu_use { VGPU_USE_READ, VGPU_USE_WRITE, VGPU_USE_ATOMIC, VGPU_USE_ATOMIC_SYSTEM, VGPU_USES };
struct vgpu_span {
    uint64_t address, bytes, stride, count;
    uint64_t use; /* enum vgpu_use */
};
#define VGPU_SPANS 1364 /* of one run; where there are more of a use, none of it are told */

#define VGPU_FINDINGS_TEXT 768

struct vgpu_exec_reply {
    int32_t status; /* enum vgpu_exec_status */
    uint64_t run;
    struct vgpu_run_counts counts; /* RAN, FAULTED, STALLED: of the whole run so far */
    struct vgpu_signals signals;   /* the same: since RUN or RESUME */
    struct {
        int32_t kind; /* enum vgpu_fault_kind */
        int32_t write;
        int32_t idle; /* VGPU_FAULT_HANG: the loop uses no memory */
        uint64_t address;
        struct vgpu_dim3_ thread, block;
        char where[96]; /* "file:line" of the access where known */
    } fault;
    uint32_t stray_count; /* RAN, FAULTED */
    struct vgpu_stray stray[VGPU_STRAYS];
    uint32_t hazard_count; /* RAN, FAULTED, STALLED: since RUN or RESUME */
    struct vgpu_hazard hazards[VGPU_HAZARDS];
    uint64_t blocks_left, blocks_fit; /* STALLED: those that have not begun, as those that wait keep
                                         their places; as many as the GPU holds at once */
    int32_t moved; /* STALLED: something happened since RUN or RESUME. When every stalled kernel of
                      a node was resumed in turn and none moved, they wait for ever. */
    char text[VGPU_FINDINGS_TEXT]; /* REFUSED, STALLED: why; who waits for what. FAULTED: what
                       happened. RAN: findings (what hardware accepts and should not be done), "" if
                       none */
    char careful[72]; /* RAN, FAULTED, STALLED: why no block could run in the fast form; "": some
                       * could
                       */
    uint32_t kernel_count;        /* reply to MODULE: entries in the table */
    uint64_t var_base, var_bytes; /* reply to MODULE: the image's variables; 0, 0: it has none */
    uint32_t var_count;           /* reply to MODULE: how many there are, in data[] or not */
    uint32_t printf_bytes;        /* device printf output in data[]. What does not fit comes in
                                     replies of its own with status VGPU_OK before the last one */
    uint32_t span_count;          /* struct vgpu_span in data[]: in replies with status VGPU_OK
                                     before the last one, as what was printed */
    uint32_t data_bytes;
    uint8_t data[];
};

#endif
