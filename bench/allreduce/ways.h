/* SPDX-License-Identifier: MIT
 * ways.h: the implementations that the bench compares: ours, NCCL's two and the ring of lab 07.
 */
#ifndef AR_WAYS_H
#define AR_WAYS_H

#include <stddef.h>

#include <cuda_runtime.h>

#include "allreduce.h"

struct ways; /* of all ranks */

/* One rank's state for all ways. `send` and `recv` are this rank's buffers of `most` bytes, set by
 * ways_join. */
struct way_rank {
    int rank;
    cudaStream_t stream;
    struct ways *all;
};

struct way {
    const char *name;
    bool ours;          /* our time in the ratio: the tuned path */
    bool peer;          /* a competitor in the ratio */
    bool one_host;      /* rank 0 queues all ranks' parts; the others do nothing */
    size_t least, most; /* sizes in bytes at which it is measured */
    void (*call)(struct way_rank *r, size_t count);
    float *(*send)(struct way_rank *r);
    float *(*recv)(struct way_rank *r);
};

/* All ways of this build; ends with a null name. */
extern const struct way ways_list[];

/* Called by the main thread: for n ranks and messages of up to `most` bytes. Ends the program on
 * errors.
 */
struct ways *ways_open(int n, size_t most);
void ways_close(struct ways *ways);

/* Called by rank's thread, concurrently on all ranks; and before ways_close. */
void ways_join(struct ways *ways, int rank, struct way_rank *r);
void ways_leave(struct way_rank *r);

/* "NCCL 2.28.9, ..." */
void ways_versions(char *text, size_t room);

#endif
