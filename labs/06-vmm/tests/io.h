/* SPDX-License-Identifier: MIT
 * io.h: what lab 06's tests send to the runner and get back. One pair of structs an adapter.
 *
 * "access" is what cuMemGetAccess says: 0 none, 1 read, 3 read and write; IO_UNSET where nothing is
 * mapped. "fds" are descriptors that were open afterwards and not before.
 */
#ifndef LAB06_IO_H
#define LAB06_IO_H

#include <stdint.h>

#include "../lab06.h"
#include "refusals.h"

#define IO_ASKED 16
#define IO_GPUS 8
#define IO_UNSET -77
#define IO_FILL 0x5A /* in structs: the call wrote nothing */

/* vmm_round */
struct round_question {
    uint64_t bytes;
    int n, devs[IO_GPUS], null; /* null: 1 devs, 2 rounded */
};
struct round_in {
    int asked;
    struct round_question q[IO_ASKED];
};
struct round_out {
    int rc[IO_ASKED];
    uint64_t rounded[IO_ASKED], granularity[IO_GPUS]; /* of each GPU, as CUDA says */
    int untouched[IO_ASKED];
};

/* vmm_alloc, all of them alive at the same time; then vmm_free of all. */
enum fail { FAIL_NOTHING, FAIL_NULL, FAIL_ADDRESSES }; /* no addresses are left */
struct alloc_in {
    int asked, current, gpus, fail;
    int dev[IO_ASKED];
    uint64_t bytes[IO_ASKED];
};
struct alloc_out {
    int rc[IO_ASKED], untouched[IO_ASKED];
    uint64_t bytes[IO_ASKED], base[IO_ASKED];
    int device[IO_ASKED], of[IO_ASKED]; /* as the struct says; as the handle says */
    int held[IO_ASKED], exports[IO_ASKED];
    int access[IO_ASKED][IO_GPUS];
    int works[IO_ASKED]; /* its GPU wrote and read its first and last int */
    int freed[IO_ASKED], zeroed[IO_ASKED], current; /* after all of it */
    int fds;
};

/* vmm_share on two allocations of `owner`. */
struct share_question {
    int which, peer, flags, null; /* null: 1 no allocation, 2 an all-zero one */
};
struct share_in {
    int owner, gpus, asked;
    struct share_question q[IO_ASKED];
};
struct share_out {
    int setup, rc[IO_ASKED];
    int access[IO_ASKED][2][IO_GPUS]; /* after each call */
};

/* Two allocations of `owner`, the first shared with `peer`; then a kernel of GPU `gpu` uses one. */
struct probe_in {
    int owner, peer, flags;
    int which, gpu, write;
};
struct probe_out {
    int setup, error; /* cudaError_t of the kernel */
    int value;        /* read, or found afterwards by the owner */
};
#define PROBE_BEFORE 4711
#define PROBE_WRITTEN 815

/* vmm_free */
struct free_in {
    int owner;
    int stale; /* ask of a handle that was given back, too */
};
struct free_out {
    int setup;
    int null, zero;              /* vmm_free of a null pointer, of an all-zero struct */
    int only_handle, only_range; /* of allocations made half-way */
    int no_range, no_handle;     /* of what was given back already; no_handle: if asked */
    int short_range;             /* of half of the addresses */
    int freed, zeroed, mapped_after;
    int kept; /* the caller's own reference (cuMemRetainAllocationHandle) still good: 0 */
    int other_access, other_value; /* of the neighbour that was not freed */
    int again;
};

/* vec_grow */
enum spoil {
    SPOIL_NOTHING,
    SPOIL_MAPPED, /* something is mapped behind the vector already */
    SPOIL_SHARER, /* a sharer whose flags no GPU knows */
    SPOIL_PARTS,  /* no part left */
};
struct grow_in {
    int device, gpus, asked, spoil, null; /* null: 1 no vector, 2 an all-zero one */
    uint64_t reserve, bytes[IO_ASKED];
    int sharers, sharer[IO_GPUS], flags[IO_GPUS];
    int late; /* the last sharer comes after the first growth */
    int fill; /* writes each part by a copy from the host, reads all back at the end */
};
struct grow_out {
    int setup, rc[IO_ASKED], unchanged[IO_ASKED], parts[IO_ASKED];
    uint64_t base, base_after[IO_ASKED], mapped[IO_ASKED];
    int of[IO_ASKED];              /* in whose memory the last part lies */
    int access[IO_ASKED][IO_GPUS]; /* of the last byte */
    int first[IO_ASKED][IO_GPUS];  /* of the first byte */
    int wrong;                     /* ints that are not what was put there */
    uint64_t filled;               /* bytes put there, and read back */
};

/* vmm_export and vmm_import, from one process to another. */
enum parcel_bad {
    PARCEL_GOOD,
    PARCEL_NULL,     /* exports of nothing; imports of no parcel, into nothing, for no GPU */
    PARCEL_NO_FD,    /* imports a descriptor that is a file */
    PARCEL_SIZE,     /* imports with a size that is not the allocation's */
    PARCEL_NO_REACH, /* imports for a GPU that cannot reach it */
};
struct parcel_in {
    int device, importer, gpus, bad;
    uint64_t bytes;
    int64_t more;   /* PARCEL_SIZE: bytes that the parcel says too many */
    int free_early; /* the exporter frees before the importer looks at what it got */
    int no_stdin;   /* in both processes: the next descriptor is 0 */
    int full;       /* ask for full_rc */
    int first_call; /* vmm_import is the importer's first CUDA call */
};
struct parcel_child { /* what the importer reports */
    int received, imported, fd_after, untouched, device, freed, fds;
    uint64_t bytes, base;
    int access[IO_GPUS], value;
};
struct parcel_out {
    int setup;
    int exported, exported_again, sent, export_fd, export_fds, freed;
    int again_open; /* the second export's descriptor, when the first one's is closed */
    uint64_t export_bytes, parcel_bytes;
    int null_rc[8];
    int full_rc[3], full_untouched; /* vmm_export without a free descriptor, with 0 alone, and of a
                                       handle that is none */
    struct parcel_child child;
    int value; /* what the exporter finds where the importer wrote */
    int child_status;
    uint64_t base;
};
#define PARCEL_SENT 1234
#define PARCEL_BACK 4321

/* "refused": a function once for each CUDA call that it makes, which fails. Told are
 * lab_refusals. */
enum refused {
    REFUSE_ROUND,
    REFUSE_ALLOC,
    REFUSE_SHARE,
    REFUSE_GROW,
    REFUSE_EXPORT,
    REFUSE_IMPORT,
};
struct refused_in {
    int what;
};

#endif
