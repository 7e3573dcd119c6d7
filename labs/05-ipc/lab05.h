/* SPDX-License-Identifier: MIT
 * lab05.h: one process a GPU, and memory that they share. The contract of the functions in ipc.cu,
 * and what comes with the lab (given.c).
 *
 * Rules for every function here:
 * - The result is LAB_OK (0) or one of the LAB_E... of lab.h. On an error the outputs keep what
 *   they held. CUDA's last error is clear after the call.
 * - LAB_EINVAL: a null pointer where one is needed, a size of 0 or one that does not fit.
 * - LAB_EPEER: another process of the ring has died (or sent nothing for PEERS_WAIT_MS).
 * - ring_put and ring_take queue work in the ring's stream; they wait for messages, never for a
 * GPU.
 */
#ifndef LAB05_H
#define LAB05_H

#include <stddef.h>

#include <cuda_runtime_api.h>

#include "lab.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PEERS_MAX 16
#define PEERS_WAIT_MS 10000

/* A part of an allocation, as it travels: plain bytes, good for any channel. */
struct wire {
    cudaIpcMemHandle_t handle;
    size_t offset, bytes;
};

/* 1. Says where bytes [offset, offset + bytes) of the allocation that begins at base are. The
 * handle names the allocation and opens at its beginning, wherever in it a pointer points: the
 * offset must travel too. LAB_EINVAL. LAB_ECUDA: base is not cudaMalloc's. */
int ipc_export(void *base, size_t offset, size_t bytes, struct wire *wire);

/* Another process's memory, here. All zero is "nothing". */
struct remote {
    void *base; /* what was opened, and will be closed */
    char *ptr;  /* base + offset */
    size_t bytes;
};

/* 2. Opens what another process exported, for the current GPU. LAB_EINVAL. LAB_ECUDA: the handle is
 * stale, or this very process's own. */
int ipc_import(const struct wire *wire, struct remote *remote);

/* Two events of this process and their handles. */
enum { FILLED, DRAINED };
struct events {
    cudaEvent_t event[2];
    cudaIpcEventHandle_t handle[2];
};

/* 3. Makes both events (of the current GPU) so that they can be exported, and exports them. All or
 * nothing. LAB_EINVAL, LAB_ENOMEM, LAB_ECUDA. */
int ipc_events(struct events *events);

/* Who I am, and my sockets to both neighbours. */
struct peers {
    int rank, size;
    int to_next, from_prev;
    void (*at_barrier)(void *); /* the tests' */
    void *watcher;
};

/* A ring of processes: each writes into its next rank's inbox. */
struct ring {
    struct peers *peers;
    cudaStream_t stream;
    void *base;               /* my allocation; the inbox is a part of it */
    char *inbox;              /* previous rank writes here */
    size_t bytes;             /* of every inbox */
    struct events mine;       /* FILLED: I wrote next's inbox. DRAINED: I read my own */
    struct remote next;       /* next rank's inbox */
    cudaEvent_t prev_filled;  /* the previous rank's FILLED */
    cudaEvent_t next_drained; /* the next rank's DRAINED */
    int puts;                 /* so far */
};

/* 4. Sends `bytes` bytes at src (this GPU's) to the next rank's inbox, when that is drained: it
 * says so with a message on peers->to_next for every put but the first, and its DRAINED event is
 * recorded by then. Copy, record FILLED, *then* tell next (the message is the number of bytes).
 * LAB_EINVAL, LAB_ECUDA, LAB_EPEER. */
int ring_put(struct ring *ring, const void *src, size_t bytes);

/* 5. Takes what the previous rank put into the inbox: hears how many bytes (on peers->from_prev),
 * waits in the stream for its FILLED, copies them to dst (this GPU's, `room` bytes), records
 * DRAINED, tells the previous rank (any number). LAB_ERANGE: more bytes than room. */
int ring_take(struct ring *ring, void *dst, size_t room, size_t *bytes);

/* 6. Ends the ring: finishes the stream; closes and destroys what is others'; waits until all have
 * done so (peers_barrier); only then destroys and frees what is mine: events, inbox, stream. Every
 * put has been taken before it. No message of this ring is left in the sockets, so that another
 * ring may be opened over the same peers. *ring is all zero afterwards, and was allowed to be.
 * LAB_EINVAL. LAB_EPEER: a peer has died; all that is mine was given back all the same. */
int ipc_close(struct ring *ring);

/* 7. Receives one message from socket fd: *number. What the other side sent before it ended can
 * still be received. LAB_EPEER when it has ended and no message is left, or when it sends nothing
 * for wait_ms milliseconds; 0: only what has come already. A signal is no reason to give up.
 * LAB_EINVAL: number is null. */
int peer_hear(int fd, int wait_ms, size_t *number);

/* ---- comes with the lab (given.c) ---- */

int ipc_result(cudaError_t error); /* the lab's result; clears the error */

/* Destroys an event, mine or another process's, if there is one; no error is left. */
void event_drop(cudaEvent_t event);

/* ipc_result for a call that uses a neighbour's memory or events: LAB_EPEER if a neighbour has
 * gone.
 */
int ring_result(const struct ring *ring, cudaError_t error);

int peer_tell(int fd, size_t number); /* LAB_EPEER: the other side has gone */

/* all[r * bytes ...] becomes what rank r gave as mine, on every rank. */
int peers_gather(struct peers *peers, const void *mine, void *all, size_t bytes);
int peers_barrier(struct peers *peers);

/* Starts n processes in a ring, each calling main_of_rank, and waits for them. status[r] is what
 * waitpid said. When one is killed, all others' sockets are shut: they hear of it at once. No CUDA
 * call may come before it: a context does not survive a fork. */
int peers_start(int n, int (*main_of_rank)(struct peers *, void *), void *argument, int *status);

/* The ring of the processes that mpirun started (OMPI_COMM_WORLD_RANK and _SIZE, or PEERS_RANK,
 * PEERS_SIZE, PEERS_NAME). LAB_EINVAL: nothing of the sort is set. */
int peers_join(struct peers *peers);
void peers_leave(struct peers *peers);

/* Makes the ring: inboxes of `bytes` bytes, exported, exchanged, opened. 2 ranks at least. */
int ring_open(struct ring *ring, struct peers *peers, size_t bytes);

const char *ipc_sentence(int result);

#ifdef __cplusplus
}
#endif
#endif
