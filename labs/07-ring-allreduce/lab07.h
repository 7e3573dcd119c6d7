/* SPDX-License-Identifier: MIT
 * lab07.h: the contract of lab 07, all-reduce on a ring of GPUs.
 *
 * For every function here:
 *   - it returns LAB_OK or a negative LAB_E...; when the arguments are refused nothing was queued;
 *   - the calling thread's current device is the same afterwards as before;
 *   - no error is left behind: cudaGetLastError() says cudaSuccess afterwards;
 *   - a CUDA call that fails is an error (LAB_ECUDA), and nothing is queued after it. What was
 *     queued before runs, and no stream need wait for it: wait for the GPUs then.
 *
 * For every function that moves data over the ring:
 *   - it queues work and returns; the host waits for nothing, so that a graph can capture it;
 *   - buf[r] is memory of rank r's GPU. Its part begins when the work that is already on rank r's
 *     `stream` has finished, and work that is queued there later waits until it has finished;
 *   - `count` elements on each rank; 0 is fine, even without buffers. Chunks are those of
 *     ring_chunk, one for each rank;
 *   - a size of more than 2 GiB is a size like any other;
 *   - LAB_EINVAL for a missing ring or buffer (with count > 0), an unknown type or operation;
 *     LAB_ERANGE when the longest chunk does not fit into the ring's inboxes (ring_open's `most`).
 */
#ifndef LAB07_H
#define LAB07_H

#include <stddef.h>
#include <stdint.h>

#include <cuda_runtime_api.h>

#include "lab.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RING_RANKS 8   /* at most */
#define RING_SLICES 16 /* pieces that a chunk may be cut into (ring_pipelined) */
#define RING_LANES 2   /* streams of a rank that only send (ring_pipelined) */

enum ring_type { RING_INT32, RING_FLOAT32, RING_FLOAT16 };
enum ring_op { RING_SUM, RING_MAX };

/* One rank. Rank r sends to rank (r + 1) % n and to no other. All streams and events are its
 * GPU's. An event is recorded on its owner's streams; other ranks' streams may wait for it. */
struct ring_rank {
    int gpu;             /* ranks may share one */
    cudaStream_t stream; /* non-blocking: the rank's work, in order */

    /* Where the rank before me puts what I shall add: two halves of `inbox_bytes`, so that it can
     * fill one while I read the other. Half k % 2 belongs to step k. */
    char *inbox[2];

    cudaEvent_t ready;    /* my part of this call begins: my memory may be written to */
    cudaEvent_t sent;     /* behind my copy to the next rank */
    cudaEvent_t taken[2]; /* behind my reading of inbox[0], inbox[1]: it may be filled again */

    /* The same for ring_pipelined, where each slice of a chunk goes its own way. */
    cudaStream_t lane[RING_LANES]; /* non-blocking: sends, while `stream` adds */
    cudaEvent_t lane_sent[RING_SLICES];
    cudaEvent_t lane_taken[2][RING_SLICES];

    unsigned reads;   /* bit p: a kernel of mine can read rank p's memory */
    unsigned enabled; /* bit p: because ring_open switched peer access on */
};

struct ring {
    int n; /* ranks, 1 to RING_RANKS */
    size_t inbox_bytes;
    struct ring_rank rank[RING_RANKS];
};

/* ---- what you write, in ring.cu ---- */

/* 1. Chunk k of `count` elements on n ranks is [*first, *first + *len): in order, each element
 * once, the first count % n chunks one longer than the others. LAB_EINVAL for n < 1, k outside
 * 0 .. n - 1 or a missing output, which keep what they held. */
int ring_chunk(size_t count, int n, int k, size_t *first, size_t *len);

/* 2. Queues dst[i] = dst[i] op src[i] for i < count on `stream`, which belongs to the current
 * device, as both arrays do; they are aligned to their type and do not overlap. The threads of one
 * kernel share the elements. RING_FLOAT16 is __half. count 0 is fine and queues nothing. LAB_EINVAL
 * for a missing array with count > 0, an unknown type or operation. */
int ring_reduce(void *dst, const void *src, size_t count, enum ring_type type, enum ring_op op,
                cudaStream_t stream);

/* 3. In place: afterwards chunk r of buf[r] holds the sum (or the largest) of all ranks' chunks r;
 * rank r "owns" chunk r. What the other chunks of buf[r] hold is not defined (partial sums).
 * n - 1 steps. In step k (0, 1, ...) rank r sends chunk r - 1 - k to its next rank's inbox, and
 * adds what came in, chunk r - 2 - k (all modulo n). Rank r sends every chunk but r. */
int ring_reduce_scatter(struct ring *ring, void *const *buf, size_t count, enum ring_type type,
                        enum ring_op op);

/* 4. In place: before, chunk r of buf[r] is valid (rank r owns chunk r, as after
 * ring_reduce_scatter); afterwards all chunks of all buffers are. n - 1 steps. In step k rank r
 * sends chunk r - k, straight to its place in the next rank's buffer, and gets chunk r - 1 - k.
 * Rank r sends every chunk but r + 1. No inbox is used: never LAB_ERANGE. */
int ring_all_gather(struct ring *ring, void *const *buf, size_t count, enum ring_type type);

/* 5. recv[r] holds the sum (or the largest) of all send[0 .. n - 1], on every rank r, with the same
 * bits. send[r] == recv[r] is in place; otherwise send[r] keeps its contents. LAB_EINVAL, too, when
 * send[r] and recv[r] overlap without being equal. */
int ring_all_reduce(struct ring *ring, void *const *send, void *const *recv, size_t count,
                    enum ring_type type, enum ring_op op);

/* 6. What ring_all_reduce does, with the same chunks sent in the same order and the same bits, but
 * each chunk is cut into `slices` (by ring_chunk; 1 to RING_SLICES, else LAB_EINVAL) that go their
 * own way: while a slice is added on `stream`, the next ones are sent on the lanes. */
int ring_pipelined(struct ring *ring, void *const *send, void *const *recv, size_t count,
                   enum ring_type type, enum ring_op op, int slices);

/* 7. A way around n GPUs on which each reaches the next by a link: links[from * n + to] says how
 * many links lead from one to the other (0: none; the diagonal counts for nothing). order[i] is the
 * i-th GPU of the ring, order[0] = 0, and from the last one a link leads back to it. Among all such
 * rings one whose narrowest hop has the most links. LAB_ENOPEER when there is none, LAB_EINVAL for
 * n outside 1 .. RING_RANKS or a missing array; order then keeps what it held. One GPU is a ring.
 */
int ring_order(int n, const uint8_t *links, int *order);

/* 8. Bonus. What ring_all_reduce does in one step, for messages so small that steps cost more than
 * bytes: every rank puts its data into its own inbox, and every rank then reads all inboxes at once
 * and combines them, always in the order of ranks 0, 1, ... n - 1, so that all get the same bits.
 * `count` elements must fit into both halves of an inbox together (they lie one behind the other),
 * else LAB_ERANGE. LAB_ENOPEER when a rank cannot read all inboxes (ring_reads_all). */
int ring_one_shot(struct ring *ring, void *const *send, void *const *recv, size_t count,
                  enum ring_type type, enum ring_op op);

/* 8. Bonus, too: picks by size. Up to `small` bytes on each rank go by ring_one_shot where it can
 * do them (all inboxes can be read, and are large enough); everything else goes by ring_pipelined
 * with RING_PICKED slices, and returns what that returns. */
#define RING_PICKED 2
int ring_pick(struct ring *ring, void *const *send, void *const *recv, size_t count,
              enum ring_type type, enum ring_op op, size_t small);

/* ---- given, in given.c ---- */

/* Streams, events and inboxes for a ring of n ranks, rank r on GPU gpu[r] (any order; ranks may
 * share a GPU), for all-reduces of up to `most` bytes on each rank. Peer access is switched on
 * wherever it exists; where there is none copies go through the host, and the ring works, slowly.
 * LAB_EINVAL, LAB_ENOGPU, LAB_ENOMEM; *ring is then all zero. ring_close waits for what is queued
 * and frees everything; a ring of zeros is fine. */
int ring_open(struct ring *ring, const int *gpu, int n, size_t most);

/* The same with events for slices 0 .. slices - 1 only (the others are NULL), 1 to RING_SLICES: to
 * make them takes longer than a small all-reduce. The tests open a ring for each of their calls,
 * with the slices that the call names, or 1. ring_open makes all RING_SLICES. */
int ring_open_sliced(struct ring *ring, const int *gpu, int n, size_t most, int slices);
void ring_close(struct ring *ring);

/* Bytes of an element, 0 for an unknown type. */
size_t ring_type_bytes(enum ring_type type);

/* A CUDA result as a LAB_... one, taken out of cudaGetLastError(). */
int ring_result(cudaError_t error);

/* What all functions above check first: LAB_OK, or LAB_EINVAL. */
int ring_check(const struct ring *ring, void *const *buf, size_t count, enum ring_type type,
               enum ring_op op);

/* 1 when send and recv (of one rank) are the same or apart, 0 when they overlap. */
int ring_apart(const void *send, const void *recv, size_t bytes);

/* Waits until all ranks have done all that is queued on their streams. */
int ring_wait(const struct ring *ring);

/* Everything that is queued between the two becomes a graph, which can be launched on any rank's
 * stream as often as one likes: one call for the host instead of hundreds. (A graph can capture
 * cudaMemcpyAsync with cudaMemcpyDefault between two GPUs, but not cudaMemcpyPeerAsync.) */
int ring_capture_begin(struct ring *ring);
int ring_capture_end(struct ring *ring, cudaGraphExec_t *graph);

/* links[] for ring_order, as far as CUDA can say: 0 without peer access or over the host only, else
 * the more the better the pair's performance rank is. */
int ring_links(int n, uint8_t *links);

/* 1 when every rank's GPU can read the memory of all others. */
int ring_reads_all(const struct ring *ring);

#ifdef __cplusplus
}
#endif
#endif
