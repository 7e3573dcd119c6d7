/* SPDX-License-Identifier: MIT
 * comm.h: communicators.
 *
 *   bootstrap.c   rendezvous of the ranks and exchange of tables, over a socket
 *   region.c      the mailboxes of each rank, accessible to all others
 *   comm.c        communicators: creation, queries, destruction
 *   leave.c       delays freeing memory that another process has open
 *   group.c       calls that a thread has made in a group and not launched yet
 *   collective.c  the calls: checked, turned into jobs
 *   operation.c   reduction operations that a program has created
 *   registration.c  registered buffers
 *   launch.c      jobs become kernels (kernels.cu, work.h)
 */
#ifndef VGPU_NCCL_COMM_H
#define VGPU_NCCL_COMM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "nccl.h"
#include "work.h"

/* A rank's connection to the keeper (bootstrap.c). */
struct nccl_connection {
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
    int here; /* number of ranks in this process */
    ncclUniqueId id;
    struct nccl_connection connection; /* stays open if there are ranks in other processes */
    struct ncclComm *next;             /* list in leave.c */
    /* The regions are in pinned host memory, because a pair of GPUs has no peer access. */
    bool host;
    char *region; /* this rank's region */
    /* The address of each rank's region in this process, its own included. */
    char *peer[NCCL_MAX_RANKS];
    bool opened[NCCL_MAX_RANKS];
    cudaEvent_t last; /* recorded after the last kernel, which the next one waits for */
    bool launched;
    struct nccl_operation operation[NCCL_OPERATIONS]; /* by op - ncclNumOps */
};

/* ---- error.c ---- */

/* Prints `call` and the message on stderr and stores them for ncclGetLastError. Returns `result`.
 */
ncclResult_t nccl_fail(ncclResult_t result, const char *call, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same for a CUDA error; returns ncclSuccess if there is none. */
ncclResult_t nccl_cuda(cudaError_t error, const char *call, const char *what);

/* ---- bootstrap.c ---- */

/* Connects to the other ranks of `id`; returns when all have connected. */
ncclResult_t nccl_rendezvous(const ncclUniqueId *id, int rank, int ranks,
                             struct nccl_connection *connection);
/* All-gather over the host: each rank passes `bytes` at `mine` and receives those of all ranks in
 * `all` (ranks * bytes), ordered by rank. */
ncclResult_t nccl_exchange(const struct nccl_connection *connection, const void *mine, void *all,
                           size_t bytes);
/* nccl_exchange in two steps, for a thread that sends for several ranks before it waits. False: a
 * rank has ended, or the time limit has expired. */
bool nccl_exchange_send(const struct nccl_connection *connection, const void *mine, size_t bytes);
bool nccl_exchange_receive(const struct nccl_connection *connection, void *all, size_t bytes);
void nccl_disconnect(struct nccl_connection *connection);

/* ---- region.c ---- */

/* Allocates this rank's region and makes all other regions accessible. On failure everything is
 * undone. */
ncclResult_t nccl_open_regions(struct ncclComm *comm, const struct nccl_connection *connection);
/* nccl_close_peers closes regions of other processes, nccl_free_region frees this rank's. */
void nccl_close_peers(struct ncclComm *comm);
void nccl_free_region(struct ncclComm *comm);

/* ---- leave.c ---- */

/* Frees a communicator whose peers are closed, once all other processes have closed its region.
 * Only the last rank of a process waits for that, and then frees the communicators of the earlier
 * ones. */
ncclResult_t nccl_leave(struct ncclComm *comm, const char *call);

/* ---- group.c ---- */

struct nccl_job {
    struct ncclComm *comm;
    cudaStream_t stream;
    bool between_two; /* send or recv, in `transfer`; otherwise a collective, in `ring` */
    struct nccl_ring ring;
    struct nccl_transfer transfer;
};

/* Launches the job, or stores it until the end of the group. */
ncclResult_t nccl_issue(const struct nccl_job *job, const char *call);
/* Returns `result`; an error makes the current group fail. */
ncclResult_t nccl_group_result(ncclResult_t result);
/* Makes the communicator, or stores the request until the end of the group. */
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

/* Launches `count` jobs of one communicator and one stream: collectives in order, then all
 * transfers as one kernel. */
ncclResult_t nccl_launch(const struct nccl_job *job, size_t count);
/* The next kernel of this thread is the first one of a group of calls. */
void nccl_group_begins(void);

/* ---- kernels.cu ---- */

#ifdef __cplusplus
extern "C" {
#endif
cudaError_t nccl_launch_ring(const struct nccl_ring *ring, const struct nccl_place *place,
                             cudaStream_t stream);
/* `lanes` and `transfers` are in device memory; null: they are in the table. */
cudaError_t nccl_launch_transfers(const struct nccl_lane *lanes, int lane_count,
                                  const struct nccl_transfer *transfers,
                                  const struct nccl_table *table, const struct nccl_place *place,
                                  cudaStream_t stream);
#ifdef __cplusplus
}
#endif

#endif
