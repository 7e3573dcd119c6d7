/* SPDX-License-Identifier: MIT
 * lab02.h: the contract of lab 02, who can reach whom.
 *
 * For every function here:
 *   - it returns LAB_OK or a negative LAB_E...; on an error its outputs keep what they held and
 *     peer access is as it was;
 *   - a GPU number below 0, or the same GPU twice, is LAB_EINVAL; a number that this machine does
 *     not have is LAB_ENOGPU (so is every number on a machine without a GPU or without a driver);
 *   - the calling thread's current device is the same afterwards as before;
 *   - no error is left behind: cudaGetLastError() says cudaSuccess afterwards.
 */
#ifndef LAB02_H
#define LAB02_H

#include <stdint.h>
#include <stdio.h>

#include <cuda_runtime_api.h>

#include "lab.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PEER_MAX_GPUS 16 /* no machine with more GPUs is known to CUDA's peer access */
#define PEER_MAX_PAIRS (PEER_MAX_GPUS * (PEER_MAX_GPUS - 1))

/* What the runtime says about GPU `from` reaching the memory of GPU `to`. */
struct peer_attr {
    int access;  /* 1: `from` may map the memory of `to` */
    int rank;    /* 0 is the best link of this machine; means something only with access */
    int atomics; /* 1: atomics of `from` on the memory of `to` are done in hardware */
};

enum peer_kind { PEER_NONE, PEER_PLAIN, PEER_ATOMIC };

/* One direction: kernels of `from` may use pointers into the memory of `to`. */
struct peer_pair {
    int from, to;
};

/* The directions that one peer_enable switched on, and no others. Caller's memory, plain data. */
struct peer_undo {
    int count;
    struct peer_pair pair[PEER_MAX_PAIRS];
};

/* Bits of peer_probe's answer. */
#define PEER_STORES_ARRIVE 1
#define PEER_ATOMICS_ADD_UP 2

/* ---- what you write, in peer_access.cu ---- */

/* Fills can[from * n + to] for GPUs 0 to n - 1: 1 where `from` can access the memory of `to`, else
 * 0. The diagonal is 0: a GPU is not a peer of itself. n == 0 is fine and writes nothing.
 * LAB_EINVAL for n < 0, n > PEER_MAX_GPUS or a missing table, LAB_ENOGPU when there are fewer than
 * n GPUs. */
int peer_matrix(int n, uint8_t *can);

/* What the runtime says about the direction from -> to. No access is an answer, not an error. */
int peer_attrs(int from, int to, struct peer_attr *attr);

/* Switches peer access on between all GPUs of the list, every pair in both directions. A direction
 * that was on already stays on and does not enter *undo. When one direction cannot be had, those
 * switched on by this call are switched off again and the result is LAB_ENOPEER. Lists of no or one
 * GPU succeed with undo->count == 0. *undo is written on success only. */
int peer_enable(const int *gpu, int n, struct peer_undo *undo);

/* Switches off exactly what *undo holds, then sets undo->count to 0, so that a second call does
 * nothing. A direction that was switched off elsewhere meanwhile is no error. Memory of the
 * GPUs stays allocated and valid; it is just out of the other's reach again. */
int peer_disable(struct peer_undo *undo);

/* *kind: PEER_NONE without access, PEER_ATOMIC with access and native atomics, else PEER_PLAIN. */
int peer_class(const struct peer_attr *attr, enum peer_kind *kind);

/* Tries the direction from -> to instead of asking. *works gets PEER_STORES_ARRIVE when a kernel on
 * `from` wrote through a pointer into memory of `to` and `to` then held every word, and
 * PEER_ATOMICS_ADD_UP when besides that both GPUs added atomically to one counter at the same
 * time and no addition was lost. Atomics are tried only where they are native, nothing is tried
 * without access: *works is 0 then, and the result LAB_OK. Waits for both GPUs; peer access and
 * memory are afterwards as they were. */
int peer_probe(int from, int to, int *works);

/* Writes the node as a Graphviz digraph: a node gpu0 ... gpu<n-1> for every GPU, also those without
 * a peer, and an edge gpu<from> -> gpu<to> for each direction of attr[from * n + to] with access,
 * labelled "peer" or "atomics" by its peer_class. The diagonal is not looked at. Needs no GPU.
 * LAB_ERANGE when the stream did not take all of it (the stream is flushed to know). */
int peer_dot(int n, const struct peer_attr *attr, FILE *out);

/* ---- given, in given.c ---- */

/* How many GPUs there are. No driver and no device are 0 GPUs, not errors (lab 01). */
int peer_gpus(void);

/* LAB_OK when the list holds n different GPUs of this machine, 0 <= n <= PEER_MAX_GPUS. */
int peer_check(const int *gpu, int n);

/* A CUDA result as a LAB_... one: LAB_ENOPEER when the two GPUs cannot be peers, LAB_ENOMEM,
 * LAB_ECUDA. Also clears cudaGetLastError(), so that a later check does not report it. */
int peer_result(cudaError_t error);

/* Notes one direction more in *undo, which has room for all. */
void peer_note(struct peer_undo *undo, int from, int to);

#ifdef __cplusplus
}
#endif
#endif
