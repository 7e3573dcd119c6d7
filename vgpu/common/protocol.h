/* SPDX-License-Identifier: MIT
 * protocol.h: what a program (api/), the node (node/), its contexts (exec/) and the verifier's
 * witness say to each other.
 *
 * Transport: AF_UNIX SOCK_SEQPACKET, one message = one struct, at most VGPU_MSG_MAX bytes. A host
 * thread has a connection of its own (a blocked thread never blocks another); the first
 * connection of a process is made by VGPU_OP_HELLO, each further one is handed out by
 * VGPU_OP_THREAD. Every request has exactly one reply. Descriptors travel as SCM_RIGHTS.
 *
 * Addresses: unified. Device d's memory lies at VGPU_DEVICE_VA(d) + offset in its memfd; pinned
 * host memory of a process at VGPU_HOST_VA + offset in the process's host memfd. The client maps
 * only the second kind: device memory does not exist in its address space.
 *
 * Times are virtual, in integer picoseconds (_ps).
 */
#ifndef VGPU_PROTOCOL_H
#define VGPU_PROTOCOL_H

#include <stddef.h>
#include <stdint.h>

#include "launch_limits.h"

#define VGPU_PROTOCOL 1
#define VGPU_MAX_DEVICES 16
#define VGPU_MSG_MAX 8192
#define VGPU_PARAMS_MAX 256

#define VGPU_DEVICE_STRIDE (1ull << 40) /* 1 TiB of addresses a device */
#define VGPU_ARENA_VA 0x200000000000ull
#define VGPU_DEVICE_VA(d) (VGPU_ARENA_VA + (unsigned long long)(d)*VGPU_DEVICE_STRIDE)
#define VGPU_MAX_GPUS 12 /* of one node: the strides from here on are for mapped memory (VMM) */
#define VGPU_VMM_VA VGPU_DEVICE_VA(VGPU_MAX_GPUS)
#define VGPU_ARENA_END VGPU_DEVICE_VA(VGPU_MAX_DEVICES)
#ifndef VGPU_HOST_VA /* ThreadSanitizer knows no memory there: tests/tsan has it elsewhere */
#define VGPU_HOST_VA 0x300000000000ull
#endif
#define VGPU_HOST_BYTES (64ull << 30) /* sparse */
#define VGPU_HOST_END (VGPU_HOST_VA + VGPU_HOST_BYTES)
#define VGPU_SEALED_BYTES (4ull << 30) /* the last of them are the verifier's: VGPU_OP_SEAL */
#define VGPU_SEALED_VA (VGPU_HOST_END - VGPU_SEALED_BYTES)
#define VGPU_CHUNK_BYTES (2ull << 20) /* committed and poisoned at first touch; mapping granule */
#define VGPU_POISON 0xCB              /* what nobody wrote reads as 0xCBCBCBCB */

/* ---- the node, as every process sees it (a sealed, read-only memfd) ---- */

struct vgpu_device_info {
    char name[64];
    uint8_t uuid[16];
    int32_t pci_domain, pci_bus, pci_device;
    int32_t numa_node;
    char cpus[20]; /* those near it, as "0-63"; empty: not known */
    int32_t cc_major, cc_minor;
    int32_t sm_count, max_threads_per_sm, max_blocks_per_sm;
    int32_t regs_per_block, regs_per_sm;
    int32_t clock_khz, memory_clock_khz, memory_bus_bits;
    int32_t async_engines, ecc, cooperative, concurrent_kernels;
    uint64_t total_bytes, l2_bytes;
    uint64_t vmm_granule; /* cuMem* allocations of it, and what it has access to: multiples of it */
    uint64_t shared_per_block, shared_per_block_optin, shared_per_sm, constant_bytes;
};

struct vgpu_pair_info { /* from device i to device j */
    int32_t access;     /* peer access is possible */
    int32_t native_atomics;
    int32_t array_access;
    int32_t performance_rank; /* 0 is best */
    char link[8];             /* as `nvidia-smi topo -m` prints it: X NV18 PIX PXB PHB NODE SYS */
    char status[8];           /* as `nvidia-smi topo -p2p r` does: OK NS CNS GNS TNS */
};

struct vgpu_node_info {
    char name[64];
    int32_t device_count;
    int32_t driver_version, runtime_version; /* 13000 */
    struct vgpu_device_info device[VGPU_MAX_DEVICES];
    struct vgpu_pair_info pair[VGPU_MAX_DEVICES][VGPU_MAX_DEVICES];
    uint64_t issue_ps; /* what a local call (cudaSetDevice) costs the host thread */
};

/* ---- client to node ---- */

enum vgpu_op {
    VGPU_OP_HELLO = 1,    /* first connection of a process: -> hello; fds: node info, host memfd */
    VGPU_OP_THREAD,       /* -> fds: one connected socket for another host thread */
    VGPU_OP_WITNESS,      /* first message of a witness (the verifier): keeps the node alive;
                             -> value = number of devices; fd: node info */
    VGPU_OP_MODULE,       /* module: fd of the image (client's memfd, fully sealed) -> value = id */
    VGPU_OP_MALLOC,       /* device, bytes -> value = address */
    VGPU_OP_FREE,         /* ptr; waits for the device as cudaFree does */
    VGPU_OP_HOST_ALLOC,   /* bytes, flags, value = enum vgpu_host_kind -> value = address; the
                             client maps it */
    VGPU_OP_HOST_FREE,    /* ptr; flags = 1: only waits for what may use it */
    VGPU_OP_STAGE_ALLOC,  /* bytes -> value = address in the host arena for pageable copies */
    VGPU_OP_STAGE_FREE,   /* ptr; the node frees it when no operation uses it any more */
    VGPU_OP_CONTEXT_MADE, /* device -> value = 1 where this process has its primary context */
    VGPU_OP_MEM_INFO,     /* device -> value = free bytes, value2 = total bytes */
    VGPU_OP_POINTER,      /* ptr -> pointer */
    VGPU_OP_CONTEXT,      /* device: make its primary context (cudaSetDevice, cudaFree(0)) */
    VGPU_OP_DEVICE_SYNC,  /* device */
    VGPU_OP_DEVICE_RESET, /* device */
    VGPU_OP_PEER_ENABLE,  /* device, peer */
    VGPU_OP_PEER_DISABLE, /* device, peer */
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
    VGPU_OP_EVENT_QUERY,   /* event -> error 0 or 600; flags = 1: -> value = was ever recorded */
    VGPU_OP_EVENT_ELAPSED, /* event (start), event2 (stop) -> value = ps (signed) */
    VGPU_OP_COPY,          /* copy */
    VGPU_OP_MEMSET,        /* memset */
    VGPU_OP_LAUNCH,        /* launch; `call` is the name of the kernel */
    VGPU_OP_POOL_CREATE,   /* device, flags = handle types, bytes = most -> value = pool id; a
                              device's default pool   is its number + 1 */
    VGPU_OP_POOL_EXPORT,   /* value = pool -> fd */
    VGPU_OP_POOL_IMPORT,   /* fd -> value = pool */
    VGPU_OP_POOL_EXPORT_PTR,      /* ptr -> data = 64 bytes, a name of it */
    VGPU_OP_POOL_IMPORT_PTR,      /* value = pool, data = name -> value = address */
    VGPU_OP_POOL_DESTROY,         /* value = pool */
    VGPU_OP_POOL_SET_ACCESS,      /* value = pool, device, flags = 0 none, 3 read and write */
    VGPU_OP_POOL_GET_ACCESS,      /* value = pool, device -> value = flags */
    VGPU_OP_POOL_SET,             /* value = pool, flags = cudaMemPoolAttr, bytes = what to set */
    VGPU_OP_POOL_GET,             /* value = pool, flags = cudaMemPoolAttr -> value */
#define VGPU_POOL_ALLOCATES 0x100 /* of ours: its GPU; fails for a pool of another process */
    VGPU_OP_POOL_MALLOC,          /* value = pool, bytes, stream, device -> value = address */
    VGPU_OP_POOL_FREE,            /* ptr, stream, device: takes place when the stream gets there */
    VGPU_OP_VAR, /* device, module, key -> value = address, value2 = bytes (__device__ variable) */
    VGPU_OP_PRINTF,         /* -> text in data: what kernels printed since the last call */
    VGPU_OP_VMM_CREATE,     /* device, bytes, flags = handle types -> value = handle */
    VGPU_OP_VMM_RELEASE,    /* value = handle */
    VGPU_OP_VMM_INFO,       /* value = handle -> value = device, value2 = handle types */
    VGPU_OP_VMM_RETAIN,     /* ptr -> value = handle */
    VGPU_OP_VMM_EXPORT,     /* value = handle, flags = handle type -> fd */
    VGPU_OP_VMM_IMPORT,     /* fd -> value = handle */
    VGPU_OP_VMM_RESERVE,    /* bytes -> value = address */
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
    VGPU_OP_HOST_FUNC,      /* stream, device, value = the function, for VGPU_OP_HOST_NEXT */
    VGPU_OP_HOST_NEXT,      /* value = the function that has returned, or 0 -> value = the next one
                               to call; no reply until there is one */
    VGPU_OP_GRAPH,      /* stream, device, value = nodes, bytes = GPUs that they are on: a launch
                           begins -> value = device */
    VGPU_OP_FINDING,    /* value = enum vgpu_diagnosis, caller = a key, data = the sentence */
    VGPU_OP_HOST_TOUCH, /* ptr, flags = 1 for a store, caller: host code has used pinned memory that
                           an operation under way uses, too */
    VGPU_OP_HOST_KNOWN, /* data = struct vgpu_step[] -> data = a byte each: 1 where the host has
                           waited for it, or for what came after it */
    VGPU_OP_BYE,        /* orderly end of a process (atexit); value = it has read its clock */
    /* witness only */
    VGPU_OP_SUMMARY, /* -> summary, over all processes that said hello */
    VGPU_OP_TRACE,   /* value = first record -> data = struct vgpu_trace_record[], value = how many,
                        value2 = total */
    VGPU_OP_SEAL,    /* bytes, fd: memory that programs copy to and from GPUs and do not see, at
                        VGPU_SEALED_VA; the first `bytes` are for copies to GPUs, the others for
                        copies from GPUs. Before the first program, once */
};

/* Streams: 1 and 2 are CUDA's own handles (cudaStreamLegacy, cudaStreamPerThread); the client
 * turns a null stream into one of them, and every other id is what VGPU_OP_STREAM_CREATE gave. For
 * 1 and 2 `device` says whose default stream is meant. */
#define VGPU_STREAM_LEGACY 1
#define VGPU_STREAM_PER_THREAD 2

/* A request that a launch of a graph repeats: the host pays less for it, and kernels come sooner
 * after each other. */
enum vgpu_graph {
    VGPU_GRAPH_NONE,
    VGPU_GRAPH_FIRST,
    VGPU_GRAPH_NEXT,      /* depends on another node */
    VGPU_GRAPH_PLACE = 3, /* the bits that say one of these */
    VGPU_GRAPH_EDGE = 4   /* or-ed: of a wait, of one node for another */
};

/* Of VGPU_OP_HOST_ALLOC: pinned memory, managed memory, which lies there too, or what stands for
 * pages of the program at `ptr`: contexts see it there. */
enum vgpu_host_kind { VGPU_HOST_PINNED, VGPU_HOST_MANAGED, VGPU_HOST_REGISTERED };

enum vgpu_copy_api { VGPU_COPY_MEMCPY, VGPU_COPY_PEER };

struct vgpu_copy {
    uint64_t dst,
        src; /* node addresses: device or host arena (pageable memory: the staging range) */
    uint64_t bytes;
    uint64_t dst_user,
        src_user; /* addresses as the program wrote them, for diagnoses and the trace */
    uint64_t pitch_dst, pitch_src, rows; /* rows > 1: a 2D copy of `bytes` a row */
    uint64_t plane_rows;                 /* 3D: a plane has so many of the rows; 0: one plane */
    uint64_t plane_dst, plane_src;       /* from one plane to the next */
    int32_t api;                         /* enum vgpu_copy_api */
    int32_t dst_device,
        src_device; /* as named in cudaMemcpyPeer, -1 elsewhere; checked for range only */
    int32_t dst_pageable, src_pageable; /* the side is pageable host memory, staged by the client */
    int32_t sync;      /* the call is a synchronous one: wait as CUDA says for this pair */
    int32_t host_done; /* reply only when the data has moved (the client copies staging on) */
};

struct vgpu_memset {
    uint64_t dst, bytes; /* bytes a row */
    uint64_t pitch, rows;
    uint64_t plane_rows, plane; /* as in a copy */
    uint32_t value;
    uint32_t width; /* 1, 2 or 4 bytes */
    int32_t sync;   /* cudaMemset (asynchronous all the same for device memory) */
    uint64_t wraps; /* in the node: the length asked for, which ends behind the last address */
};

struct vgpu_launch {
    uint32_t module, kernel; /* kernel: index in the image's table */
    uint32_t grid[3], block[3];
    uint64_t shared_bytes;
    uint32_t param_count,
        args_bytes; /* the arguments follow, back to back in table order, in data[] */
    int32_t cooperative;
};

struct vgpu_request {
    uint32_t op;
    int32_t device, peer;
    uint32_t flags;
    int32_t priority;
    uint32_t module;
    uint32_t graph;        /* enum vgpu_graph */
    uint32_t free;         /* the call costs its thread nothing, whatever the reply's clock says */
    uint64_t unregistered; /* threads of the program that live and have not called yet (low 32
                         bits), and how often their number has changed */
    uint64_t clock_ps;     /* the calling thread's clock at the call */
    uint64_t stream, event, event2;
    uint64_t ptr, bytes, value;
    uint64_t caller; /* return address of the call, 0 where it does not matter */
    char site[96];   /* "file:line" of the student's call where known, "" otherwise */
    char call[48];   /* "cudaMemcpyPeerAsync": for diagnoses and the trace */
    union {
        struct {
            uint32_t protocol;
            int32_t pid;
            int32_t device_order_pci;
            int32_t strict;  /* VGPU_STRICT=1: findings that have a code become errors */
            uint32_t checks; /* VGPU_CHECK: enum vgpu_check */
            char program[128];
        } hello;
        struct vgpu_copy copy;
        struct vgpu_memset memset;
        struct vgpu_launch launch;
    } u;
    uint32_t data_bytes;
    uint8_t data[]; /* launch arguments; a key */
};

struct vgpu_pointer {
    int32_t kind; /* 0 unregistered host, 1 pinned host, 2 device, 3 managed: cudaMemoryType */
    int32_t device;
    uint64_t base, bytes;
    uint64_t pool;    /* that it came from; 0: none */
    uint64_t reach;   /* bytes that a copy may use from the pointer on: mappings may follow */
    uint32_t allowed; /* mapped or of a pool: a bit for each GPU that was given access */
    uint32_t unused;
};

struct vgpu_summary { /* everything since the node started; live_ = not given back at process end */
    uint32_t processes;
    uint32_t live_allocations, live_host_allocations, live_streams, live_events, live_peers;
    uint64_t live_bytes;
    uint32_t mallocs, host_allocs, streams, events, launches, copies, memsets, syncs, peers_enabled;
    uint64_t peak_bytes[VGPU_MAX_DEVICES];
    uint64_t copied[VGPU_MAX_DEVICES + 1]
                   [VGPU_MAX_DEVICES + 1]; /* bytes by copies [from][to]; last = host */
    uint64_t kernel_bytes[VGPU_MAX_DEVICES][VGPU_MAX_DEVICES +
                                            1]; /* by kernels: [running on][memory of] (advisory) */
    uint32_t faults;                            /* kernels that ended in a fault */
    uint32_t findings;                          /* records of VGPU_TRACE_FINDING */
    int32_t sticky;                             /* first sticky error of any process, or 0 */
    uint64_t now_ps;                            /* virtual time reached */
    uint64_t
        progress; /* grows with every request and every kernel yield: the verifier's deadline */
    char last_fault[512];
    char waiting[512];                           /* who waits for whom, "" when nobody does */
    uint32_t live_ipc;                           /* opened memory handles that were not closed */
    uint32_t live_mappings, live_ranges;         /* cuMemMap, cuMemAddressReserve */
    uint64_t peak_asked_bytes[VGPU_MAX_DEVICES]; /* as peak_bytes, of what was asked for, rounded
                                                    to 512 bytes and not to chunks */
    uint32_t late_issues; /* operations whose times depend on the operating system (late_issue.h) */
    uint32_t advice;      /* as findings, of what is right and slow */
    uint64_t printed_bytes; /* by kernels */
    uint64_t choices;       /* operations in whose stead another one could have begun (order.h) */
    uint32_t ipc_opened, ipc_events_opened; /* other processes' memory and events */
    uint32_t peers_most; /* directions that one process had switched on at once, at most */
    uint32_t unused;
};

enum vgpu_trace_kind {
    VGPU_TRACE_COPY = 1,
    VGPU_TRACE_KERNEL,
    VGPU_TRACE_MEMSET,
    VGPU_TRACE_CALL,   /* what a call was told: cudaEventElapsedTime, from start_ps to end_ps */
    VGPU_TRACE_FINDING /* what hardware accepts and should not be done: name = kernel, site = where,
                          device = running on, to = memory of, bytes = of the access */
};

struct vgpu_trace_record {
    uint32_t kind;
    int32_t pid;
    int32_t device; /* whose stream */
    /* Copies: device of the memory, -1 pinned host, -2 pageable host. Kernels: whose memory was
     * read, written: a bit a device, bit VGPU_MAX_DEVICES for the host's. */
    int32_t from, to;
    uint64_t stream;
    uint64_t bytes;
    uint64_t issue_ps, start_ps, end_ps;
    uint64_t threads; /* of kernels: what was launched, known to the node */
    uint64_t atomics, barriers, shared_accesses, shuffles,
        busiest;       /* of kernels: vgpu_run_counts */
    uint64_t argument; /* of kernels: the first 8 bytes of the arguments; 0: there are fewer */
    uint64_t fault_at; /* of kernels that ended in a fault: its address */
    int32_t faulted;   /* enum vgpu_fault_kind */
    int32_t fault_of;  /* the GPU whose memory is mapped there; -1: none's */
    char name[48];     /* kernel or API call */
    char site[64];
    uint64_t fast_blocks; /* of kernels: blocks in the fast form (lanes.h) */
    char careful[72];     /* of kernels: why there could be none; "": there could */
};

struct vgpu_step {         /* an operation, for as long as its process lives */
    uint32_t line, number; /* line 0: none */
};

struct vgpu_reply {
    int32_t error;         /* cudaError_t */
    uint32_t text_waiting; /* kernels printed something: fetch it with VGPU_OP_PRINTF */
    uint64_t clock_ps;     /* the calling thread's clock after the call */
    uint64_t value, value2, value3;
    union {
        struct vgpu_pointer pointer;
        struct {
            int32_t node_cpu;
            uint32_t protocol;
        } hello;
    } u;
    char explain[2048];    /* why, for a person: empty unless there is something to say */
    struct vgpu_step step; /* what was put into a stream, and the call has not waited for */
    uint32_t data_bytes;
    uint32_t learned; /* other than before: the host may have waited for more */
    uint8_t data[];
};

#include "protocol_exec.h"

#endif
