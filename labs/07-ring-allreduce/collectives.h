/* SPDX-License-Identifier: MIT
 * collectives.h: the all-reduce's relatives, ready to use. They come with lab 07, to compare with;
 * each does it the direct way, so that the ring is still yours to write. No TODO may call them.
 *
 * S is what a rank holds (`count` elements), N the number of ranks:
 *
 *     what                     out of the busiest rank    in all           steps
 *     coll_broadcast           S                          (N-1)S           N-1, pipelined
 *     coll_reduce              S                          (N-1)S           N-1, pipelined
 *     coll_all_gather          S(N-1)/N                   (N-1)S           N-1
 *     coll_reduce_scatter      S(N-1)/N                   (N-1)S           N-1
 *     coll_all_reduce          2S(N-1)/N                  2(N-1)S          2(N-1)
 *     coll_all_to_all          S(N-1)/N                   (N-1)S           N-1
 *     coll_naive_all_reduce    (N-1)S, into and out of rank 0: what a ring saves
 *
 * All of them queue work on the ranks' streams and return, as lab07.h says of the ring's functions,
 * and return what those return; a root outside 0 .. n - 1 is LAB_EINVAL. Sums are added up in an
 * order that depends on the chunk only: the same bits in every run.
 */
#ifndef LAB07_COLLECTIVES_H
#define LAB07_COLLECTIVES_H

#include "lab07.h"

#ifdef __cplusplus
extern "C" {
#endif

/* dst[i] = dst[i] op src[i], queued on `stream`: ring_reduce, or another one with its contract. */
typedef int coll_adder(void *dst, const void *src, size_t count, enum ring_type type,
                       enum ring_op op, cudaStream_t stream);

/* Afterwards buf[r] of every rank holds what buf[root] held. Around the ring from the root, piece
 * by piece: a rank passes a piece on while the next one comes in. */
int coll_broadcast(struct ring *ring, void *const *buf, size_t count, enum ring_type type,
                   int root);

/* Afterwards buf[root] holds the sum (or the largest) of all; the other buffers hold partial sums.
 * Around the ring, from the rank after the root to the root. */
int coll_reduce(struct ring *ring, void *const *buf, size_t count, enum ring_type type,
                enum ring_op op, int root, coll_adder *add);

/* As ring_all_gather: rank r owns chunk r before, every rank has all chunks afterwards. Each rank
 * sends its chunk to each other rank. */
int coll_all_gather(struct ring *ring, void *const *buf, size_t count, enum ring_type type);

/* As ring_reduce_scatter: afterwards rank r owns chunk r. Each rank sends chunk p to rank p; the
 * other chunks of buf[r] keep what rank r had there. */
int coll_reduce_scatter(struct ring *ring, void *const *buf, size_t count, enum ring_type type,
                        enum ring_op op, coll_adder *add);

/* The two, one after the other. */
int coll_all_reduce(struct ring *ring, void *const *buf, size_t count, enum ring_type type,
                    enum ring_op op, coll_adder *add);

/* Chunk p of send[r] becomes chunk r of recv[p]. LAB_EINVAL unless count is a multiple of n, and
 * when send[r] and recv[r] overlap or are the same. */
int coll_all_to_all(struct ring *ring, void *const *send, void *const *recv, size_t count,
                    enum ring_type type);

/* All to rank 0, added there, and back to all: what one writes first, and what the ring beats. */
int coll_naive_all_reduce(struct ring *ring, void *const *buf, size_t count, enum ring_type type,
                          enum ring_op op, coll_adder *add);

#ifdef __cplusplus
}
#endif
#endif
