/* SPDX-License-Identifier: MIT
 * witness.h: what the node saw while a runner ran, as the verifier reads it.
 *
 * Copies, mappings and allocations are evidence; bytes moved by kernels are counted in the
 * student's own process and advisory.
 */
#ifndef LAB_WITNESS_H
#define LAB_WITNESS_H

#include <stdbool.h>
#include <stdint.h>

#define LAB_MAX_GPUS 16
#define LAB_HOST LAB_MAX_GPUS /* index of host memory in the byte tables */

struct lab_record { /* one operation of the device side, in the order of its issue */
    /* LAB_ELAPSED: cudaEventElapsedTime was told the time from start_ps to end_ps. */
    enum { LAB_COPY = 1, LAB_KERNEL, LAB_MEMSET, LAB_ELAPSED } kind;
    int gpu; /* whose stream, whose events */
    /* Copies: GPU of the memory; -1 pinned, -2 pageable host memory. Kernels: whose memory it read
     * and wrote, a bit each, bit LAB_HOST for the host's (advisory). */
    int from, to;
    uint64_t stream, bytes;
    uint64_t issue_ps, start_ps, end_ps;
    uint64_t threads; /* kernels: of the launch, as the node knows it */
    /* Of kernels (advisory). A barrier counts once a block, a shuffle once a lane. Busiest:
     * accesses to any memory, of the thread of the first block that made the most. */
    uint64_t atomics, barriers, shared_accesses, shuffles, busiest;
    uint64_t
        argument; /* of kernels: the first 8 bytes of their arguments, as the node knows them */
    uint64_t fault_at; /* of kernels that ended in a fault: its address, and whose memory it is */
    int fault_of;      /* -1: none's */
    bool faulted;      /* by an address */
    char name[48];
};

struct lab_witness {
    unsigned live_allocations, live_host_allocations, live_streams, live_events, live_peers;
    unsigned live_mappings, live_ranges;    /* of addresses: cuMemMap, cuMemAddressReserve */
    unsigned ipc_opened, ipc_events_opened; /* another process's memory and events */
    unsigned peers_most; /* directions of peer access that were on at once, at most */
    unsigned mallocs, host_allocs, streams, events, launches, copies, memsets, syncs, peers_enabled;
    /* How often the program could learn that work was over: by waiting, by asking, by a function of
     * a stream. More than `syncs`. */
    unsigned told_over;
    uint64_t peak_bytes[LAB_MAX_GPUS];                   /* whole chunks of 2 MiB */
    uint64_t peak_asked_bytes[LAB_MAX_GPUS];             /* each allocation rounded to 512 bytes */
    uint64_t copied[LAB_MAX_GPUS + 1][LAB_MAX_GPUS + 1]; /* [from][to], by copies */
    uint64_t kernel_bytes[LAB_MAX_GPUS][LAB_MAX_GPUS + 1]; /* [running on][memory of], advisory */
    unsigned faults;
    char finding[160];  /* the first mistake that changed no result: "CODE at FILE:LINE", or "" */
    char unsteady[800]; /* why times depend on the operating system; "": they do not */
    int sticky;
    uint64_t now_ps;
    uint64_t printed_bytes; /* by kernels */
    uint64_t choices;       /* operations in whose stead CUDA allows another one to begin */
    const struct lab_record *records;
    unsigned record_count;
};

#endif
