/* SPDX-License-Identifier: MIT
 * witness.h: what the node recorded during a run, as the verifier reads it.
 *
 * Copies, mappings and allocations are evidence; bytes moved by kernels are counted in the
 * student's own process and advisory.
 */
#ifndef LAB_WITNESS_H
#define LAB_WITNESS_H

#include <stdbool.h>
#include <stdint.h>

#define LAB_MAX_GPUS 20
#define LAB_HOST LAB_MAX_GPUS /* index of host memory in the byte tables */
#define LAB_SEALED -3         /* lab_record.from, .to: the memory of lab_seal */

struct lab_record { /* one operation of the devices, in order of issue */
    /* LAB_ELAPSED: a cudaEventElapsedTime call that returned the time from start_ps to end_ps. */
    enum { LAB_COPY = 1, LAB_KERNEL, LAB_MEMSET, LAB_ELAPSED } kind;
    int gpu; /* GPU of the stream or of the events */
    /* Copies: the GPU whose memory it is; -1 pinned, -2 pageable host memory, LAB_SEALED. Kernels:
     * the GPUs whose memory was read and written, one bit each, bit LAB_HOST for the host's
     * (advisory). */
    int from, to;
    uint64_t stream, bytes, far_bytes; /* far: of a kernel's, in other GPUs' memory (advisory) */
    uint64_t issue_ps, start_ps, end_ps;
    uint64_t threads; /* kernels: of the launch, as the node recorded it */
    /* Of kernels (advisory). A barrier counts once per block, a shuffle once per lane. busiest: the
     * most accesses to any memory by one thread of the first block. */
    uint64_t atomics, barriers, shared_accesses, shuffles, busiest;
    uint64_t
        argument; /* of kernels: the first 8 bytes of their arguments, as the node recorded them */
    uint64_t fault_at; /* of kernels that ended in a fault: the address, and the GPU whose memory it
                          is */
    int fault_of;      /* -1: of no GPU */
    bool faulted;      /* fault_at is valid */
    char name[48];
};

struct lab_witness {
    unsigned live_allocations, live_host_allocations, live_streams, live_events, live_peers;
    unsigned live_mappings, live_ranges;    /* address ranges: cuMemMap, cuMemAddressReserve */
    unsigned ipc_opened, ipc_events_opened; /* memory and events of other processes */
    unsigned peers_most;                    /* most directions of peer access enabled at once */
    unsigned mallocs, host_allocs, streams, events, launches, copies, memsets, syncs, peers_enabled;
    /* How often the program could find out that work was complete: by waiting, by a query, or by a
     * function queued in a stream. Includes `syncs`. */
    unsigned completion_checks;
    unsigned processes; /* that have used the node */
    /* How often a host thread's clock was earlier than the node had said, and how often work
     * or a wait cost its thread no time (as a graph's does). */
    unsigned clocks_set_back, unpaid;
    uint64_t peak_bytes[LAB_MAX_GPUS];       /* counted in whole chunks of 2 MiB */
    uint64_t peak_asked_bytes[LAB_MAX_GPUS]; /* each allocation rounded up to 512 bytes */
    uint64_t copied[LAB_MAX_GPUS + 1][LAB_MAX_GPUS + 1];   /* [from][to], bytes of copies */
    uint64_t kernel_bytes[LAB_MAX_GPUS][LAB_MAX_GPUS + 1]; /* [GPU that ran the kernel][GPU of the
                                                              memory], advisory */
    unsigned faults;
    char finding[160]; /* the first finding that changed no result: "CODE at FILE:LINE", or "" */
    bool raced; /* a finding says that accesses to memory were in no order, or came too early */
    char unsteady[800]; /* why times depend on the operating system; "" if they do not */
    int sticky;
    uint64_t now_ps;
    uint64_t printed_bytes; /* by printf in kernels */
    uint64_t choices;       /* operations in place of which CUDA allowed another one to begin */
    const struct lab_record *records;
    unsigned record_count;
};

#endif
