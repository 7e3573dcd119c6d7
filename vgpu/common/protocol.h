/* SPDX-License-Identifier: MIT
 * protocol.h: the messages between programs (api/), the node (node/), its contexts (exec/) and the
 * verifier's witness connection.
 *
 * Transport: AF_UNIX SOCK_SEQPACKET; a message is one structure of at most VGPU_MSG_MAX bytes. Each
 * host thread has its own connection, so that a blocked thread never blocks another one.
 * VGPU_OP_HELLO is the first message of a process on its first connection; VGPU_OP_THREAD returns a
 * further connection, and VGPU_OP_PROGRAM one for another process. Each request has exactly one
 * reply. File descriptors are sent as SCM_RIGHTS.
 *
 * Addresses are unified. The memory of device d is at VGPU_DEVICE_VA(d) + offset in its memfd;
 * pinned host memory of a process is at VGPU_HOST_VA + offset in the process's host memfd. A
 * program maps only the latter: device memory does not exist in its address space.
 *
 * Times are virtual, in integer picoseconds (_ps).
 */
#ifndef VGPU_PROTOCOL_H
#define VGPU_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "launch_limits.h"

#define VGPU_PROTOCOL 1
#define VGPU_MAX_DEVICES 20
#define VGPU_MSG_MAX 40960 /* a launch with VGPU_ARGS_MAX bytes of arguments */
#define VGPU_PARAMS_MAX 256
#define VGPU_PROGRAMS_MAX 32 /* processes of one sandbox that may use the GPUs */

#define VGPU_DEVICE_STRIDE (1ull << 40) /* address space of a device: 1 TiB */
#define VGPU_ARENA_VA 0x200000000000ull
#define VGPU_DEVICE_VA(d) (VGPU_ARENA_VA + (unsigned long long)(d)*VGPU_DEVICE_STRIDE)
/* The most GPUs of a node. The strides after them are address space for mapped memory (VMM). */
#define VGPU_MAX_GPUS 16
#define VGPU_VMM_VA VGPU_DEVICE_VA(VGPU_MAX_GPUS)
#define VGPU_ARENA_END VGPU_DEVICE_VA(VGPU_MAX_DEVICES)
/* tests/tsan defines another address, since ThreadSanitizer does not support this one. */
#ifndef VGPU_HOST_VA
#define VGPU_HOST_VA 0x340000000000ull
#endif
#define VGPU_HOST_BYTES (64ull << 30) /* sparse */
#define VGPU_HOST_END (VGPU_HOST_VA + VGPU_HOST_BYTES)
/* The last bytes of the host arena, which belong to the verifier: VGPU_OP_SEAL. */
#define VGPU_SEALED_BYTES (4ull << 30)
#define VGPU_SEALED_VA (VGPU_HOST_END - VGPU_SEALED_BYTES)
/* A page in which the node says what a program's kernel has done so far, for calls that wait long:
 * a text, empty while no kernel runs. */
#define VGPU_STATUS_BYTES 4096
#define VGPU_STATUS_VA (VGPU_SEALED_VA - VGPU_STATUS_BYTES)
/* Before it, doors (door.h): two for each context, 2 * device + ASKED and + ANSWERS, and then two
 * for each of the first host threads: for replies, and behind it for requests. */
#define VGPU_DOOR_BYTES 49152
enum { VGPU_DOOR_ASKED, VGPU_DOOR_ANSWERS };
#define VGPU_DOORS_CONTEXTS (2 * VGPU_MAX_DEVICES)
#define VGPU_DOORS_THREADS 64
#define VGPU_DOORS (VGPU_DOORS_CONTEXTS + 2 * VGPU_DOORS_THREADS)
#define VGPU_DOOR_VA(n) (VGPU_STATUS_VA - (unsigned long long)(VGPU_DOORS - (n)) * VGPU_DOOR_BYTES)
/* Memory is committed and poisoned in chunks, at their first use; mappings consist of chunks. */
#define VGPU_CHUNK_BYTES (2ull << 20)
#define VGPU_POISON 0xCB /* fill byte: uninitialised memory reads as 0xCBCBCBCB */

/* ---- the node's description, mapped by every process (a sealed, read-only memfd) ---- */

struct vgpu_device_info {
    char name[64];
    uint8_t uuid[16];
    int32_t pci_domain, pci_bus, pci_device;
    int32_t numa_node;
    char cpus[20]; /* CPUs near the device, e.g. "0-63"; empty: unknown */
    int32_t cc_major, cc_minor;
    int32_t sm_count, max_threads_per_sm, max_blocks_per_sm;
    int32_t regs_per_block, regs_per_sm;
    int32_t clock_khz, memory_clock_khz, memory_bus_bits;
    int32_t async_engines, ecc, cooperative, concurrent_kernels;
    uint64_t total_bytes, l2_bytes;
    /* Granularity: cuMemCreate allocations and cuMemSetAccess ranges are multiples of it. */
    uint64_t vmm_granule;
    uint64_t shared_per_block, shared_per_block_optin, shared_per_sm, constant_bytes;
};

struct vgpu_pair_info { /* from device i to device j */
    int32_t access;     /* peer access is possible */
    int32_t native_atomics;
    int32_t array_access;
    int32_t performance_rank; /* 0 is best */
    char link[8];             /* as `nvidia-smi topo -m` prints it: X NV18 PIX PXB PHB NODE SYS */
    char status[8];           /* as `nvidia-smi topo -p2p r` prints it: OK NS CNS GNS TNS */
};

struct vgpu_node_info {
    char name[64];
    int32_t device_count;
    int32_t driver_version, runtime_version; /* 13000 */
    struct vgpu_device_info device[VGPU_MAX_DEVICES];
    struct vgpu_pair_info pair[VGPU_MAX_DEVICES][VGPU_MAX_DEVICES];
    uint64_t issue_ps;   /* host time of a local call (cudaSetDevice) */
    uint64_t message_ps; /* until a process that waits for another one's message goes on */
};

/* ---- client to node; comments list fields of the request -> fields of the reply ---- */

enum vgpu_op {
    VGPU_OP_HELLO = 1, /* first connection of a process -> hello; fds: node info, host memfd */
    /* -> fds: a connected socket for a further host thread; value = address of the door for its
     * replies; 0: none */
    VGPU_OP_THREAD,
    /* First message of a witness (the verifier), which keeps the node alive -> value = number of
     * devices; fd: node info */
    VGPU_OP_WITNESS,
    VGPU_OP_MODULE, /* fd: the image (client's memfd, fully sealed) -> value = module id */
    VGPU_OP_MALLOC, /* device, bytes -> value = address */
    VGPU_OP_FREE,   /* ptr; waits for the device as cudaFree does */
    /* bytes, flags, value = enum vgpu_host_kind, ptr if registered -> value = address, for the
     * client to map */
    VGPU_OP_HOST_ALLOC,
    VGPU_OP_HOST_FREE,      /* ptr; flags = 1: only waits for operations that may use it */
    VGPU_OP_STAGE_ALLOC,    /* bytes -> value = address in the host arena for pageable copies */
    VGPU_OP_STAGE_FREE,     /* ptr; the node frees it when no operation uses it any more */
    VGPU_OP_CONTEXT_MADE,   /* device -> value = 1 if this process has its primary context */
    VGPU_OP_MEM_INFO,       /* device -> value = free bytes, value2 = total bytes */
    VGPU_OP_POINTER,        /* ptr -> pointer */
    VGPU_OP_CONTEXT,        /* device: makes its primary context (cudaSetDevice, cudaFree(0)) */
    VGPU_OP_DEVICE_SYNC,    /* device */
    VGPU_OP_DEVICE_RESET,   /* device */
    VGPU_OP_PEER_ENABLE,    /* device, peer */
    VGPU_OP_PEER_DISABLE,   /* device, peer */
    VGPU_OP_STREAM_CREATE,  /* device, flags, priority -> value = stream id */
    VGPU_OP_STREAM_DESTROY, /* stream */
    VGPU_OP_STREAM_SYNC,    /* stream, device */
    VGPU_OP_STREAM_QUERY,   /* stream, device -> error 0 or 600 */
    VGPU_OP_STREAM_WAIT,    /* stream, device, event, flags */
    VGPU_OP_STREAM_INFO,   /* stream, device -> value = flags, value2 = priority, value3 = device */
    VGPU_OP_EVENT_CREATE,  /* device, flags -> value = event id */
    VGPU_OP_EVENT_DESTROY, /* event */
    VGPU_OP_EVENT_RECORD,  /* event, stream, device, flags */
    VGPU_OP_EVENT_SYNC,    /* event */
    VGPU_OP_EVENT_QUERY,   /* event -> error 0 or 600; flags = 1 -> value = 1 if ever recorded */
    VGPU_OP_EVENT_ELAPSED, /* event (start), event2 (stop) -> value = ps (signed) */
    VGPU_OP_COPY,          /* copy */
    VGPU_OP_MEMSET,        /* memset */
    VGPU_OP_LAUNCH,        /* launch; `call` is the kernel's name */
    /* device, flags = handle types, bytes = maxSize -> value = pool id. The id of a device's
     * default pool is the device number + 1. */
    VGPU_OP_POOL_CREATE,
    VGPU_OP_POOL_EXPORT,     /* value = pool -> fd */
    VGPU_OP_POOL_IMPORT,     /* fd -> value = pool */
    VGPU_OP_POOL_EXPORT_PTR, /* ptr -> data = 64 bytes that identify it */
    VGPU_OP_POOL_IMPORT_PTR, /* value = pool, data = the 64 bytes -> value = address */
    VGPU_OP_POOL_DESTROY,    /* value = pool */
    VGPU_OP_POOL_SET_ACCESS, /* value = pool, device, flags = 0 none, 3 read and write */
    VGPU_OP_POOL_GET_ACCESS, /* value = pool, device -> value = flags */
    VGPU_OP_POOL_SET,        /* value = pool, flags = cudaMemPoolAttr, bytes = new value */
    VGPU_OP_POOL_GET,        /* value = pool, flags = cudaMemPoolAttr -> value */
/* An attribute of our own: the pool's device; an error for a pool imported from another process. */
#define VGPU_POOL_ALLOCATES 0x100
    VGPU_OP_POOL_MALLOC, /* value = pool, bytes, stream, device -> value = address */
    VGPU_OP_POOL_FREE,   /* ptr, stream, device: frees in stream order */
    VGPU_OP_VAR, /* device, module, key -> value = address, value2 = bytes (__device__ variable) */
    VGPU_OP_PRINTF,      /* -> data = output of kernels' printf since the last request */
    VGPU_OP_VMM_CREATE,  /* device, bytes, flags = handle types -> value = handle */
    VGPU_OP_VMM_RELEASE, /* value = handle */
    VGPU_OP_VMM_INFO,    /* value = handle -> value = device, value2 = handle types */
    VGPU_OP_VMM_RETAIN,  /* ptr -> value = handle */
    VGPU_OP_VMM_EXPORT,  /* value = handle, flags = handle type -> fd, or 64 bytes of data */
/* CU_MEM_HANDLE_TYPE_FABRIC */
#define VGPU_VMM_FABRIC 8
    VGPU_OP_VMM_IMPORT,     /* fd or data -> value = handle */
    VGPU_OP_VMM_RESERVE,    /* bytes, value = alignment or 0 -> value = address */
    VGPU_OP_VMM_FREE,       /* ptr, bytes */
    VGPU_OP_VMM_MAP,        /* ptr, bytes, value = handle, event = offset in the allocation */
    VGPU_OP_VMM_UNMAP,      /* ptr, bytes */
    VGPU_OP_VMM_ACCESS,     /* ptr, bytes, device, flags = CUmemAccess_flags */
    VGPU_OP_VMM_GET_ACCESS, /* ptr, device -> value = CUmemAccess_flags */
    VGPU_OP_IPC_EXPORT,     /* ptr -> data = 64 bytes, a handle of its allocation */
    VGPU_OP_IPC_OPEN,       /* device, data = handle -> value = address */
    VGPU_OP_IPC_CLOSE,      /* ptr */
    VGPU_OP_IPC_EVENT,      /* event -> data = 64 bytes, a handle of it */
    VGPU_OP_IPC_EVENT_OPEN, /* device, data = handle -> value = event */
    VGPU_OP_HOST_FUNC, /* stream, device, value = the function, as VGPU_OP_HOST_NEXT returns it */
    /* value = the function that has returned, or 0 -> value = the next one to call. The reply is
     * sent when there is one. */
    VGPU_OP_HOST_NEXT,
    /* A graph launch begins: stream, device, value = number of nodes, bytes = number of GPUs with
     * nodes -> value = device */
    VGPU_OP_GRAPH,
    VGPU_OP_FINDING, /* value = enum vgpu_diagnosis, caller = key, data = text */
    /* Host code has used pinned memory that an operation under way uses: ptr, flags = 1 for a
     * store, caller */
    VGPU_OP_HOST_TOUCH,
    /* data = struct vgpu_step[] -> data = a byte each: 1 if the host has waited for the operation
     * or for one ordered after it */
    VGPU_OP_HOST_KNOWN,
    /* The thread leaves a range that it named by `call`: value = its clock at the range's begin */
    VGPU_OP_RANGE,
    /* orderly end of a process (atexit); value = 1 if it has read its clock, ptr = the features
     * that it has used (feature_list.h) */
    VGPU_OP_BYE,
    /* witness only */
    VGPU_OP_SUMMARY, /* -> data = struct vgpu_summary: totals of all processes */
    /* value = first record -> data = struct vgpu_trace_record[], value = their number, value2 =
     * total */
    VGPU_OP_TRACE,
    /* bytes, fd: memory at VGPU_SEALED_VA that programs can copy to and from GPUs but not map. The
     * first `bytes` are sources of copies to GPUs, the rest targets of copies from GPUs. Once,
     * before the first program. */
    VGPU_OP_SEAL,
    /* value: checks (enum vgpu_check) that every program has, whatever it says in its hello. By the
     * first witness, before the first program. */
    VGPU_OP_LEAST_CHECKS,
    /* On a connection of which the processes of a sandbox have a copy each, instead of a hello ->
     * fd: a connected socket for the process that takes the reply. VGPU_PROGRAMS_MAX times. */
    VGPU_OP_PROGRAM,
    /* For vgpu-smi, which is neither a program nor a witness, so that looking changes nothing: ->
     * value = VGPU_PROTOCOL; fd: node info; data = struct vgpu_observed */
    VGPU_OP_OBSERVE,
};

/* Stream ids: 1 and 2 are CUDA's own handles (cudaStreamLegacy, cudaStreamPerThread), and the
 * client replaces a null stream by one of them; for these, `device` selects the device. All others
 * come from VGPU_OP_STREAM_CREATE. */
#define VGPU_STREAM_LEGACY 1
#define VGPU_STREAM_PER_THREAD 2

/* Set if a graph launch makes the request: it then costs less host time, and kernels follow each
 * other more closely. */
enum vgpu_graph {
    VGPU_GRAPH_NONE,
    VGPU_GRAPH_FIRST,
    VGPU_GRAPH_NEXT,      /* the node depends on another one */
    VGPU_GRAPH_PLACE = 3, /* mask of the values above */
    VGPU_GRAPH_EDGE = 4,  /* or-ed: a wait for a node on another GPU */
    VGPU_GRAPH_MORE = 8   /* times the number of GPUs with nodes beyond the first */
};

/* Flag of VGPU_OP_STREAM_WAIT: the program's own message about the event has carried the clock. */
enum { VGPU_WAIT_TOLD = 1 };

/* For VGPU_OP_HOST_ALLOC: pinned memory; managed memory, which is in the host arena, too;
 * replacement for pages of the program, which contexts map at `ptr`; or memory for texture objects,
 * which the program did not ask for. */
enum vgpu_host_kind {
    VGPU_HOST_PINNED,
    VGPU_HOST_MANAGED,
    VGPU_HOST_REGISTERED,
    VGPU_HOST_OBJECTS
};

enum vgpu_copy_api { VGPU_COPY_MEMCPY, VGPU_COPY_PEER };

struct vgpu_copy {
    /* Node addresses, in device memory or the host arena (pageable memory: the staging buffer). */
    uint64_t dst, src;
    uint64_t bytes;
    /* The program's addresses, for diagnoses and the trace. */
    uint64_t dst_user, src_user;
    uint64_t pitch_dst, pitch_src, rows; /* rows > 1: a 2D copy, `bytes` per row */
    uint64_t plane_rows;                 /* 3D: rows per plane; 0: one plane */
    uint64_t plane_dst, plane_src;       /* bytes from one plane to the next */
    int32_t api;                         /* enum vgpu_copy_api */
    /* Arguments of cudaMemcpyPeer, else -1; checked for range only. */
    int32_t dst_device, src_device;
    int32_t dst_pageable, src_pageable; /* pageable host memory, staged by the client */
    int32_t sync;      /* synchronous call: wait as CUDA defines for these kinds of memory */
    int32_t host_done; /* reply only when the data has moved (the client then reads the staging
                          buffer) */
    int32_t unused;    /* so that each byte of a message has a value */
};

struct vgpu_memset {
    uint64_t dst, bytes; /* bytes per row */
    uint64_t pitch, rows;
    uint64_t plane_rows, plane; /* as in a copy */
    uint32_t value;
    uint32_t width; /* 1, 2 or 4 bytes */
    int32_t sync;   /* cudaMemset (which is asynchronous for device memory) */
    /* Set by the node: the requested length, if it exceeds the address space. */
    uint64_t wraps;
};

/* The kernel of one rank in a collective operation of NCCL. It begins when the kernels of all ranks
 * in `peers` have come to it; what it takes then is in the node description ("nccl"). */
enum vgpu_collective_kind {
    VGPU_NO_COLLECTIVE,
    VGPU_ALL_REDUCE,
    VGPU_REDUCE_SCATTER,
    VGPU_ALL_GATHER,
    VGPU_BROADCAST,
    VGPU_REDUCE,
    VGPU_SEND_RECV,
    VGPU_ALL_TO_ALL, /* sends and receives with several ranks, or with the same one */
    VGPU_COLLECTIVES
};

enum { VGPU_RANKS_MAX = 16 };

struct vgpu_collective {
    uint64_t group; /* the same in all ranks */
    uint64_t bytes; /* that the rank sends or, if these are more, receives */
    uint32_t kind, rank, ranks;
    uint32_t peers, to; /* sets of ranks: those that it waits for, and sends to */
    uint32_t begins;    /* it is the first kernel of a group of calls */
};

struct vgpu_launch {
    uint32_t module, kernel; /* kernel: index in the image's table */
    uint32_t grid[3], block[3];
    uint64_t shared_bytes;
    /* Arguments are in data[], back to back in the order of the parameters. */
    uint32_t param_count, args_bytes;
    int32_t cooperative;
    uint32_t cluster[3]; /* in blocks; 0 is as 1, and 1, 1, 1: each block is one of its own */
    struct vgpu_collective collective;
};

static inline uint32_t vgpu_cluster_blocks(const uint32_t cluster[3], int axis)
{
    return cluster[axis] ? cluster[axis] : 1;
}

/* Whether clusters of this size are possible and divide the grid. */
static inline bool vgpu_cluster_fits(const uint32_t cluster[3], const uint32_t grid[3])
{
    uint64_t blocks = 1;
    for (int i = 0; i < 3; i++) {
        uint32_t here = vgpu_cluster_blocks(cluster, i);
        if (here > VGPU_CLUSTER_BLOCKS_MAX || grid[i] % here != 0)
            return false;
        blocks *= here;
    }
    return blocks <= VGPU_CLUSTER_BLOCKS_MAX;
}

struct vgpu_request {
    uint32_t op;
    int32_t device, peer;
    uint32_t flags;
    int32_t priority;
    uint32_t module;
    uint32_t graph; /* enum vgpu_graph */
    uint32_t free;  /* the call costs the thread no time, whatever the reply's clock is */
    /* Threads of the program that are alive and have not called yet (low 32 bits), and the number
     * of changes of that number (high 32 bits). */
    uint64_t unregistered;
    uint64_t clock_ps; /* the calling thread's clock at the call */
    uint64_t stream, event, event2;
    uint64_t ptr, bytes, value;
    uint64_t caller; /* return address of the call; 0: irrelevant */
    char site[96];   /* "file:line" of the call if known, else "" */
    char call[48];   /* "cudaMemcpyPeerAsync": for diagnoses and the trace */
    union {
        struct {
            uint32_t protocol;
            int32_t pid;
            int32_t device_order_pci;
            int32_t strict;  /* VGPU_STRICT=1: findings that have an error code become errors */
            uint32_t checks; /* VGPU_CHECK: enum vgpu_check */
            char program[128];
        } hello;
        struct vgpu_copy copy;
        struct vgpu_memset memset;
        struct vgpu_launch launch;
    } u;
    uint32_t data_bytes;
    uint8_t data[]; /* arguments of a launch; a key */
};

struct vgpu_pointer {
    int32_t kind; /* cudaMemoryType: 0 unregistered host, 1 pinned host, 2 device, 3 managed */
    int32_t device;
    uint64_t base, bytes;
    uint64_t pool;    /* pool that it was allocated from; 0: none */
    uint64_t reach;   /* bytes from the pointer on that a copy may use, over adjacent mappings */
    uint32_t allowed; /* mapped or pool memory: a bit for each GPU that has access */
    uint32_t unused;
};

#define VGPU_OBSERVED_USERS 48

struct vgpu_observed {
    uint64_t used_bytes[VGPU_MAX_DEVICES];
    uint32_t count; /* of `user` */
    uint32_t unused;
    struct { /* a program that has a context on a GPU */
        int32_t pid, device;
        uint64_t bytes; /* its context and allocations there */
        char program[64];
    } user[VGPU_OBSERVED_USERS];
};

/* Totals since the node started; live_ = not freed when their process ended. */
struct vgpu_summary {
    uint64_t features; /* feature_list.h: of processes that have ended in order */
    uint32_t processes;
    uint32_t live_allocations, live_host_allocations, live_streams, live_events, live_peers;
    uint64_t live_bytes;
    uint32_t mallocs, host_allocs, streams, events, launches, copies, memsets, syncs, peers_enabled;
    uint64_t peak_bytes[VGPU_MAX_DEVICES];
    /* Bytes moved by copies [from][to]; last index: host. */
    uint64_t copied[VGPU_MAX_DEVICES + 1][VGPU_MAX_DEVICES + 1];
    /* Bytes moved by kernels: [running on][memory of], advisory. */
    uint64_t kernel_bytes[VGPU_MAX_DEVICES][VGPU_MAX_DEVICES + 1];
    uint32_t faults;   /* kernels that ended in a fault */
    uint32_t findings; /* records of VGPU_TRACE_FINDING */
    int32_t sticky;    /* first sticky error of any process, or 0 */
    uint64_t now_ps;   /* virtual time reached */
    /* Grows with every request and whenever a kernel's thread yields; the verifier's deadline
     * depends on it. */
    uint64_t progress;
    char last_fault[512];
    char waiting[512];                   /* which operations wait for what; "" if none */
    uint32_t live_ipc;                   /* memory handles opened and not closed */
    uint32_t live_mappings, live_ranges; /* cuMemMap, cuMemAddressReserve */
    /* Like peak_bytes, for the requested sizes, rounded to 512 bytes instead of chunks. */
    uint64_t peak_asked_bytes[VGPU_MAX_DEVICES];
    uint32_t late_issues; /* operations whose times depend on the operating system (late_issue.h) */
    uint32_t advice;      /* pieces of advice (correct but slow code) */
    uint64_t printed_bytes; /* bytes printed by kernels */
    uint64_t choices; /* times that VGPU_SCHEDULE could have chosen another operation (order.h) */
    uint32_t ipc_opened,
        ipc_events_opened; /* memory and events of other processes that were opened */
    uint32_t peers_most;   /* the most directions of peer access enabled at once by one process */
    /* How often a program could learn that work was over: waits, queries, functions of streams. */
    uint32_t completion_checks;
    /* What programs say of their host threads' clocks: requests that were earlier than the answer
     * before (the thread's clock went back), work and waits that cost their thread no time, as a
     * graph's do. */
    uint32_t clocks_set_back, unpaid;
};

enum vgpu_trace_kind {
    VGPU_TRACE_COPY = 1,
    VGPU_TRACE_KERNEL,
    VGPU_TRACE_MEMSET,
    VGPU_TRACE_CALL, /* times returned to a program by cudaEventElapsedTime: start_ps to end_ps */
    /* A finding: name = kernel, site = source line, device = running on, to = memory of, bytes = of
     * the access. */
    VGPU_TRACE_FINDING
};

struct vgpu_trace_record {
    uint32_t kind;
    int32_t pid;
    int32_t device; /* device of the stream */
    /* Copies: device of the memory; -1 pinned host, -2 pageable host, -3 sealed (VGPU_OP_SEAL).
     * Kernels: the memory read and written, a bit for each device; bit VGPU_MAX_DEVICES stands for
     * the host. */
    int32_t from, to;
    uint64_t stream;
    uint64_t bytes;
    uint64_t issue_ps, start_ps, end_ps;
    uint64_t threads; /* kernels: threads launched, counted by the node */
    /* kernels: from struct vgpu_run_counts. */
    uint64_t atomics, barriers, shared_accesses, shuffles, busiest;
    uint64_t far_bytes; /* kernels: of `bytes`, those in the memory of other GPUs */
    uint64_t argument;  /* kernels: the first 8 bytes of the arguments; 0: fewer */
    uint64_t fault_at;  /* kernels that ended in a fault: the address */
    int32_t faulted;    /* enum vgpu_fault_kind */
    int32_t fault_of;   /* GPU whose memory is mapped at that address; -1: none */
    uint32_t on_stream; /* the stream's number in its program; 0: a default stream */
    char name[48];      /* kernel or API call */
    char site[64];
    uint64_t fast_blocks; /* of kernels: blocks in the fast form (lanes.h) */
    char careful[72];     /* of kernels: why there could be none; "": there could */
};

struct vgpu_step { /* identifies an operation while its process exists */
    /* Component of its vector clock, and its number in it; component 0: none. */
    uint32_t component, number;
};

struct vgpu_reply {
    int32_t error;         /* cudaError_t */
    uint32_t full;         /* refused: as many operations are queued as the node keeps */
    uint32_t text_waiting; /* kernels have printed output: fetch it with VGPU_OP_PRINTF */
    uint64_t clock_ps;     /* the calling thread's clock after the call */
    uint64_t value, value2, value3;
    union {
        struct vgpu_pointer pointer;
        struct {
            int32_t node_cpu;
            uint32_t protocol;
            uint32_t checks; /* those asked for, and the node's least (enum vgpu_check) */
        } hello;
    } u;
    char explain[2048];    /* an explanation for the user; "" if there is none */
    struct vgpu_step step; /* the operation that was enqueued, if the call has not waited for it */
    uint32_t data_bytes;
    uint32_t learned; /* if changed since the last reply, the host may have waited for more */
    uint8_t data[];
};

#include "protocol_exec.h"

#endif
