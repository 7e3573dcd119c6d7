/* SPDX-License-Identifier: MIT
 * allreduce.h: all-reduce of floats (sum) over the GPUs of one process, as fast as we know how.
 *
 * Three ways, by size (ar_choice):
 *
 *     one-shot   every rank sends all its data to every other; one hop     (words.h, one_shot.cu)
 *     two-shot   reduce-scatter, then all-gather, every word its own flag  (words.h, two_shot.cu)
 *     engines    the same two phases by the GPUs' copy engines             (engines.cu)
 *
 * All three add in the order of ranks 0, 1, ..., so that every rank gets the same bits in every
 * run.
 *
 * A call is made for every rank, each on its own stream, in the same order on all ranks, with the
 * same count; from one host thread per GPU, or captured into a graph. It queues work and returns:
 * no rank waits for another on the host. Nothing is reset between calls: a call's number, counted
 * on the GPU, selects which half of the boards is in use.
 *
 * Memory: words of 4 * min(most, AR_TWO_SHOT_MOST) bytes and an inbox of `most` bytes on each GPU.
 * Functions return CUDA error codes.
 */
#ifndef AR_ALLREDUCE_H
#define AR_ALLREDUCE_H

#include <stddef.h>

#include <cuda_runtime.h>

#define AR_RANKS 8                          /* at most */
#define AR_TWO_SHOT_MOST ((size_t)64 << 20) /* bytes; above, the copy engines are faster */

enum ar_way { AR_ONE_SHOT, AR_TWO_SHOT, AR_ENGINES, AR_WAYS };

struct ar_group;

/* Rank r is GPU gpu[r]; each GPU at most once, all with peer access to each other (it is enabled).
 * `most`: bytes of the largest message. cudaErrorInvalidValue, cudaErrorPeerAccessUnsupported,
 * cudaErrorMemoryAllocation; *group is then null. */
cudaError_t ar_open(struct ar_group **group, const int *gpu, int n, size_t most);

/* Must be called after all work is done. NULL is allowed. */
void ar_close(struct ar_group *group);

/* Registers the buffer for rank's results, to which other ranks' copy engines write. Before the
 * first call, for every rank; the caller must ensure that all ranks have done so. `recv` holds
 * ar_open's `most` bytes and is aligned to 16. */
cudaError_t ar_register(struct ar_group *group, int rank, float *recv);

/* Queues rank's part on `stream`. `send`: count floats, aligned to 16; equal to rank's registered
 * buffer (in place) or disjoint from it. count 0 is allowed. cudaErrorInvalidValue for a count
 * above `most`, a misaligned or missing buffer. */
cudaError_t ar_all_reduce(struct ar_group *group, int rank, const float *send, size_t count,
                          cudaStream_t stream);

/* The same by a given way: for measurements. A message that the way cannot hold (one-shot:
 * ar_one_shot_most; two-shot: AR_TWO_SHOT_MOST, and a vector of 4 floats for each rank) uses the
 * next one. */
cudaError_t ar_all_reduce_by(struct ar_group *group, enum ar_way way, int rank, const float *send,
                             size_t count, cudaStream_t stream);

/* The way for a message of `bytes` bytes on n ranks, from measurements (results/). */
enum ar_way ar_choice(int n, size_t bytes);
const char *ar_way_name(enum ar_way way);

/* The largest message for which one-shot is used on n ranks: it sends (n - 1) * bytes from every
 * GPU; two-shot sends 2 * (n - 1) / n * bytes and takes one hop more. */
size_t ar_one_shot_most(int n);

#endif
