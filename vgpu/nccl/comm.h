/* SPDX-License-Identifier: MIT
 * comm.h: a communicator, and the parts that make one.
 *
 *   bootstrap.c   the ranks find each other and swap tables, over a socket
 *   region.c      each rank's mailboxes, reachable by all others
 *   comm.c        communicators: made, asked, freed
 *   leave.c       nobody frees what another process has open
 *   group.c       what a thread has issued and not launched yet
 *   collective.c  the calls: checked, turned into work
 *   operation.c   operations of one's own
 *   registration.c  buffers that are registered
 *   launch.c      work becomes kernels (kernels.cu, work.h)
 */
#ifndef VGPU_NCCL_COMM_H
#define VGPU_NCCL_COMM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "nccl.h"
#include "work.h"

/* One rank's line to the others. */
struct nccl_line {
    int fd, rank, ranks;
};

enum { NCCL_OPERATIONS = 64 };

/* A sum whose inputs are scaled: by `scalar`'s bits, or by what is at `scalar_at` on the device. */
struct nccl_operation {
    bool used;
    ncclDataType_t type;
    uint64_t scalar;
    const void *scalar_at;
};

struct ncclComm {
    int rank, ranks, device;
    int here; /* ranks in this process */
    ncclUniqueId id;
    struct nccl_line line; /* open as long as the communicator if there are other processes */
    struct ncclComm *next; /* leave.c's */
    bool host;             /* the regions are pinned host memory: some pair has no peer access */
    char *region;          /* this rank's */
    char *peer[NCCL_MAX_RANKS]; /* everybody's, as this process reaches them; own one included */
    bool opened[NCCL_MAX_RANKS];
    cudaEvent_t last; /* behind the communicator's last kernel: they run one after the other */
    bool launched;
    struct nccl_operation operation[NCCL_OPERATIONS]; /* by op - ncclNumOps */
};

/* ---- error.c ---- */

/* Says `call` and the sentence on stderr, and keeps it for ncclGetLastError. Returns `result`. */
ncclResult_t nccl_fail(ncclResult_t result, const char *call, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same of a CUDA error; ncclSuccess if there is none. */
ncclResult_t nccl_cuda(cudaError_t error, const char *call, const char *what);

/* ---- bootstrap.c ---- */

/* Joins the ranks of `id`: returns when all have come. */
ncclResult_t nccl_meet(const ncclUniqueId *id, int rank, int ranks, struct nccl_line *line);
/* Each rank gives `bytes`, and gets everybody's in `all` (ranks * bytes), by rank. */
ncclResult_t nccl_swap(const struct nccl_line *line, const void *mine, void *all, size_t bytes);
/* nccl_swap in two steps, for whoever gives for several ranks before it waits: false when a rank
 * has ended, or nothing came within the line's limit. */
bool nccl_give(const struct nccl_line *line, const void *mine, size_t bytes);
bool nccl_take(const struct nccl_line *line, void *all, size_t bytes);
void nccl_hang_up(struct nccl_line *line);

/* ---- region.c ---- */

/* Allocates this rank's region and reaches everybody else's. On failure nothing is left. */
ncclResult_t nccl_open_regions(struct ncclComm *comm, const struct nccl_line *line);
/* What this rank has open of others; its own. */
void nccl_close_peers(struct ncclComm *comm);
void nccl_free_region(struct ncclComm *comm);

/* ---- leave.c ---- */

/* Frees the communicator, whose peers are closed, once every other process has closed its region,
 * too. Only the last rank of a process waits for that, and frees those before it. */
ncclResult_t nccl_leave(struct ncclComm *comm, const char *call);

/* ---- group.c ---- */

struct nccl_job {
    struct ncclComm *comm;
    cudaStream_t stream;
    bool between_two; /* send or recv: `transfer`; else `ring` */
    struct nccl_ring ring;
    struct nccl_transfer transfer;
};

/* Launches the job, or keeps it until the group ends. */
ncclResult_t nccl_issue(const struct nccl_job *job, const char *call);
/* Passes the result of a call on; an error drops the group that it is in. */
ncclResult_t nccl_note(ncclResult_t result);
/* Makes the communicator, or keeps that until the group ends. */
ncclResult_t nccl_issue_init(ncclComm_t *comm, int ranks, const ncclUniqueId *id, int rank,
                             const char *call);

/* ---- collective.c ---- */

/* 0: not a type. */
size_t nccl_type_bytes(ncclDataType_t type);

/* ---- operation.c ---- */

/* Null: it has no such operation. */
const struct nccl_operation *nccl_find_operation(const struct ncclComm *comm, ncclRedOp_t op);

/* ---- comm.c ---- */

ncclResult_t nccl_make_comm(ncclComm_t *made, int ranks, const ncclUniqueId *id, int rank,
                            int device);

/* ---- launch.c ---- */

/* Launches `count` jobs of one communicator and one stream: rings in order, then all transfers as
 * one kernel. */
ncclResult_t nccl_launch(const struct nccl_job *job, size_t count);

/* ---- kernels.cu ---- */

#ifdef __cplusplus
extern "C" {
#endif
cudaError_t nccl_launch_ring(const struct nccl_ring *ring, const struct nccl_place *place,
                             cudaStream_t stream);
/* `lanes` and `transfers` are in device memory. */
cudaError_t nccl_launch_transfers(const struct nccl_lane *lanes, int lane_count,
                                  const struct nccl_transfer *transfers,
                                  const struct nccl_place *place, cudaStream_t stream);
#ifdef __cplusplus
}
#endif

#endif
