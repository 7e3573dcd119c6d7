/* SPDX-License-Identifier: MIT
 * protocol_exec.h: the messages between the node and its contexts (vgpu-exec). protocol.h includes
 * it.
 */
#ifndef VGPU_PROTOCOL_EXEC_H
#define VGPU_PROTOCOL_EXEC_H

#include "protocol.h"
#include "weak_table.h"

/* ---- node to context (vgpu-exec, socket on descriptor 3) and back ----
 * The first message is VGPU_EXEC_ATTACH; each request has one reply. */

enum vgpu_exec_op {
    /* device = the context's, device_count, limits; fds: memfd of each device, host memfd, control
     * memfd */
    VGPU_EXEC_ATTACH = 1,
    VGPU_EXEC_MAP,   /* va, bytes, memory (device index; -1: host), offset, writable, fixed */
    VGPU_EXEC_UNMAP, /* va, bytes: one whole mapping, or all mappings in the range */
    /* module id; fd: image -> kernel_count, var_base, var_bytes, var_count; data = the first struct
     * vgpu_exec_var[]. Without fd -> those from index `va` on. */
    VGPU_EXEC_MODULE,
    VGPU_EXEC_RUN,    /* launch, arguments -> VGPU_RAN, VGPU_FAULTED or VGPU_STALLED */
    VGPU_EXEC_RESUME, /* continues the stalled kernel `run` */
    VGPU_EXEC_ABORT,  /* drops the stalled kernel `run` */
};

/* A signal to a context whose kernel makes no progress: it ends the kernel with VGPU_FAULT_HANG and
 * the place of its loop. The node sends SIGKILL if no reply comes. */
#define VGPU_EXEC_HANG_SIGNAL 10 /* SIGUSR1 */

/* Resources of the GPU, which determine how many blocks are resident at once; 0: an H200's value.
 */
struct vgpu_exec_limits {
    uint32_t sm_count, threads_per_sm, blocks_per_sm, cc_major;
    uint64_t shared_per_sm, shared_per_block; /* shared_per_block: the opt-in maximum */
    uint64_t cpus;         /* CPUs (of the first 64) that blocks may run on, as bits; 0: any one */
    uint64_t memory_bytes; /* limit of host memory that all devices' memory together may use */
};

/* A __device__ variable, at `offset` in the mapping that replaces the image's variables by device
 * memory (VGPU_EXEC_MAP with va = var_base, bytes = var_bytes, fixed = 1). That request also writes
 * their initial values into the device's memory. */
struct vgpu_exec_var {
    uint64_t offset, bytes;
    char key[112];
};

/* The node commits a chunk in so many parts: what it touches of a small allocation is little. */
#define VGPU_PARTS 32u
#define VGPU_PART_BYTES (VGPU_CHUNK_BYTES / VGPU_PARTS)
#define VGPU_GRANULE_BYTES 512 /* alignment of allocations (recorded) */
#define VGPU_WINDOWS                                                                               \
    (VGPU_MAX_DEVICES + 4) /* strides from VGPU_ARENA_VA on that a context indexes by */

/* The control memfd, shared by the node and all its contexts; only the running context (with its
 * worker processes) uses it. Sparse: most of it is never touched. chunk[d][c]: 1 committed and
 * poisoned; 0: only those parts of it that have a bit in parts[d][c]. Bounds, indexed by address
 * from VGPU_ARENA_VA on: partial[c] is 1 if a chunk is mapped and only partly allocated; tail[g] is
 * the number of allocated bytes from the start of each granule of such a chunk. Device code can
 * overwrite this file, so nothing in it may be used as protection. */
struct vgpu_control {
    uint64_t progress;    /* contexts increment it at every yield */
    uint64_t blocks_done; /* of the run in progress */
    char careful[128];    /* why it has no fast form; empty: it has one */
    uint8_t chunk[VGPU_MAX_DEVICES][VGPU_DEVICE_STRIDE / VGPU_CHUNK_BYTES];
    uint32_t parts[VGPU_MAX_DEVICES][VGPU_DEVICE_STRIDE / VGPU_CHUNK_BYTES];
    uint8_t partial[VGPU_WINDOWS * (VGPU_DEVICE_STRIDE / VGPU_CHUNK_BYTES)]
        __attribute__((aligned(4096)));
    uint16_t tail[VGPU_MAX_GPUS * (VGPU_DEVICE_STRIDE / VGPU_GRANULE_BYTES)];
    struct vgpu_weak_table weak; /* VGPU_SCHEDULE=weak */
};

/* Values of `writable` in MAP for injected faults (inject.h): no stores reach the other GPU, only
 * VGPU_TORN_BYTES of each granule, or all but the first VGPU_CLIPPED_BYTES. */
#define VGPU_MAP_LOSES_STORES 2
#define VGPU_MAP_TEARS_STORES 3
#define VGPU_MAP_CLIPS_STORES 4
#define VGPU_TORN_BYTES 64
#define VGPU_CLIPPED_BYTES 4

/* An allocation to which an argument of a kernel points. */
struct vgpu_pointed {
    uint64_t first, end; /* addresses */
};
enum { VGPU_POINTED = 8 };

struct vgpu_exec_request {
    uint32_t op;
    int32_t device, device_count;
    int32_t memory, writable;
    int32_t fixed; /* MAP: replaces the pages of an image's variables */
    uint32_t module;
    int32_t strict;  /* RUN: an access outside allocations is a fault */
    uint32_t checks; /* RUN: checks to make: enum vgpu_check */
    uint64_t run;    /* id of the run, chosen by the node; several may be stalled at a time */
    /* RUN, with VGPU_SCHEDULE=weak: its place in vgpu_weak_table.run, -1: it has none; the places
     * of the kernels that it is ordered after. */
    int32_t weak_slot;
    uint64_t weak_after;
    /* RUN: where arguments point to, without what may have another address, too; the rest is 0. */
    struct vgpu_pointed pointed[VGPU_POINTED];
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
    VGPU_FAULT_INSTRUCTION,
    VGPU_FAULT_MEMORY /* host memory limit, or too much shared memory */,
    VGPU_FAULT_INTERNAL,
    VGPU_FAULT_HANG /* VGPU_EXEC_HANG_SIGNAL */
};

#define VGPU_BUSIEST_UNKNOWN UINT32_MAX

/* What the grid's first block did (vgpu/exec/counts/door/work.h). */
struct vgpu_work {
    uint64_t slots, integers, doubles, special; /* instructions of its warps, by units */
    uint64_t chain;    /* cycles of the longest chain of results in one thread, without loads */
    uint64_t loads;    /* loads of global memory in such a chain, in parts of VGPU_WORK_ROUNDS */
    uint64_t accesses; /* of all its threads */
};

struct vgpu_run_counts {
    uint64_t read_bytes[VGPU_MAX_DEVICES + 1], write_bytes[VGPU_MAX_DEVICES + 1]; /* last = host */
    /* bytes of the 32-byte sectors that these accesses need (vgpu/exec/counts/door/sample.h) */
    uint64_t read_moved[VGPU_MAX_DEVICES + 1], write_moved[VGPU_MAX_DEVICES + 1];
    /* of its own GPU: bytes of pairs of sectors, which its memory moves together */
    uint64_t read_pairs, write_pairs;
    uint64_t lines; /* of 128 bytes, summed over the accesses of warps */
    uint64_t atomics, barriers, threads, accesses;
    uint64_t shared_accesses; /* to __shared__ memory */
    uint64_t shuffles;        /* counted once for each participating lane */
    /* The most accesses, shared memory included, made by one thread of the grid's first block;
     * VGPU_BUSIEST_UNKNOWN: not all accesses were sampled (vgpu/exec/counts/door/sample.h). */
    uint64_t busiest;
    /* Bank conflicts (vgpu/exec/counts/door/bank.h): additional wavefronts in all; wavefronts per
     * access at the worst place, and that place ("file:line" if known). */
    uint64_t conflicts, conflict_ways;
    char conflict_where[96];
    uint64_t fast_blocks; /* blocks that ran in the fast form (lanes.h) */
    struct vgpu_work work;
    uint64_t blocks_fit; /* blocks that one processor holds at once */
    /* Atomics on global memory: requests to L2, and to how many lines of 128 bytes. */
    uint64_t atomic_requests, atomic_lines, atomic_floats;
    /* The highest clock64 read by any thread: a lower bound of the kernel's duration. */
    uint64_t cycles;
};

struct vgpu_dim3_ {
    uint32_t x, y, z;
};

/* An access outside all allocations that the MMU permits because its page is mapped. Reported once
 * for each instruction. */
struct vgpu_stray {
    uint64_t address, pc;
    uint32_t bytes;
    int32_t write;
    struct vgpu_dim3_ thread, block;
    char where[96]; /* "file:line" where known */
};
#define VGPU_STRAYS 4 /* per run; further ones are reported by a later run */

/* A finding inside a kernel: two accesses that nothing orders, or one access that is wrong by
 * itself. */
enum vgpu_access_mode { VGPU_PLAIN, VGPU_VOLATILE, VGPU_ATOMICALLY, VGPU_ATOMICALLY_IN_BLOCK };
struct vgpu_hazard_side {
    struct vgpu_dim3_ thread, block;
    char where[96]; /* "file:line" where known */
    int32_t known;  /* 0: there is no such access */
    int32_t others; /* 1: made by a thread other than this one */
    int32_t write;
    int32_t mode; /* enum vgpu_access_mode */
};
struct vgpu_hazard {
    int32_t diagnosis; /* enum vgpu_diagnosis */
    uint32_t bytes;
    uint64_t address;
    uint32_t object_bytes, object_offset; /* the __shared__ declaration; 0: other memory */
    struct vgpu_hazard_side first, second;
};
#define VGPU_HAZARDS 4 /* per run; further ones are reported by a later run */

/* Addresses in device and pinned memory that a run has written with volatile stores and atomics,
 * and addresses that it polled, with the value read last. Entries that do not fit are dropped. Bit
 * i of `fenced`: a thread of the run executed a system-wide fence before a store to stored[i]. */
#define VGPU_SIGNALS 32
struct vgpu_signals {
    uint32_t stored_count, polled_count, fenced;
    uint64_t stored[VGPU_SIGNALS], polled[VGPU_SIGNALS];
    uint64_t value[VGPU_SIGNALS]; /* value at polled[i]; `bytes` of it, 8 at most */
    uint8_t bytes[VGPU_SIGNALS];
};

/* Device and pinned memory that a run used: `count` pieces of `bytes` each, `stride` apart. Atomics
 * have the scope of a GPU (or block), or of the system. */
enum vgpu_use { VGPU_USE_READ, VGPU_USE_WRITE, VGPU_USE_ATOMIC, VGPU_USE_ATOMIC_SYSTEM, VGPU_USES };
struct vgpu_span {
    uint64_t address, bytes, stride, count;
    uint64_t use; /* enum vgpu_use */
};
/* Per run; if one kind of use needs more, none of that kind are reported. */
#define VGPU_SPANS 1364

#define VGPU_FINDINGS_TEXT 768

struct vgpu_exec_reply {
    int32_t status; /* enum vgpu_exec_status */
    uint64_t run;
    struct vgpu_run_counts counts; /* RAN, FAULTED, STALLED: of the whole run so far */
    struct vgpu_signals signals;   /* RAN, FAULTED, STALLED: since RUN or RESUME */
    struct {
        int32_t kind; /* enum vgpu_fault_kind */
        int32_t write;
        int32_t idle; /* VGPU_FAULT_HANG: the loop accesses no memory */
        uint64_t address;
        struct vgpu_dim3_ thread, block;
        char where[96]; /* "file:line" of the access if known */
    } fault;
    uint32_t stray_count; /* RAN, FAULTED */
    struct vgpu_stray stray[VGPU_STRAYS];
    uint32_t hazard_count; /* RAN, FAULTED, STALLED: since RUN or RESUME */
    struct vgpu_hazard hazards[VGPU_HAZARDS];
    /* STALLED: blocks not started, because blocks that wait stay resident; blocks that fit on the
     * GPU at once. */
    uint64_t blocks_left, blocks_fit;
    /* STALLED: 1 if the run made progress since RUN or RESUME. If every stalled kernel of a node
     * was resumed in turn and none made progress, they are deadlocked. */
    int32_t moved;
    /* REFUSED: why. STALLED: which threads wait for what. FAULTED: what happened. RAN: findings, ""
     * if there are none. */
    char text[VGPU_FINDINGS_TEXT];
    /* RAN, FAULTED, STALLED: why no block could run in the fast form; "": some could. */
    char careful[72];
    uint32_t kernel_count;        /* reply to MODULE: number of kernels */
    uint64_t var_base, var_bytes; /* reply to MODULE: the image's variables; 0, 0: none */
    uint32_t var_count; /* reply to MODULE: number of variables, whether in data[] or not */
    /* Output of printf in data[]. What does not fit is sent before, in replies of its own with
     * status VGPU_OK. */
    uint32_t printf_bytes;
    /* struct vgpu_span in data[], in replies with status VGPU_OK before the last one, like printf
     * output. */
    uint32_t span_count;
    uint32_t data_bytes;
    uint8_t data[];
};

#endif
