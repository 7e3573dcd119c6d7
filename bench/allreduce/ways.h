/* SPDX-License-Identifier: MIT
 * ways.h: all that the bench compares: ours, NCCL's two and the ring of lab 07.
 */
#ifndef AR_WAYS_H
#define AR_WAYS_H

#include <stddef.h>

#include <cuda_runtime.h>

#include "allreduce.h"

struct ways; /* of all ranks */

/* One rank's side of all ways. `send` and `recv` are this rank's buffers of `most` bytes, set by
 * ways_join. */
struct way_rank {
    int rank;
    cudaStream_t stream;
    struct ways *all;
};

struct way {
    const char *name;
    bool ours;          /* counts as ours in the ratio: the tuned path */
    bool peer;          /* one of those to beat */
    bool one_host;      /* rank 0 queues everybody's part; the others do nothing */
    size_t least, most; /* bytes for which it is measured */
    void (*call)(struct way_rank *r, size_t count);
    float *(*send)(struct way_rank *r);
    float *(*recv)(struct way_rank *r);
};

/* Every way of this build; ends with a null name. */
extern const struct way ways_list[];

/* By the main thread: for n ranks and messages of up to `most` bytes. Ends the program on errors.
 */
struct ways *ways_open(int n, size_t most);
void ways_close(struct ways *ways);

/* By rank's thread, all ranks at the same time; and before ways_close. */
void ways_join(struct ways *ways, int rank, struct way_rank *r);
void ways_leave(struct way_rank *r);

/* "NCCL 2.28.9, ..." */
void ways_versions(char *text, size_t room);

#endif
