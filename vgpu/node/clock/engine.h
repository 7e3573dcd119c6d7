/* SPDX-License-Identifier: MIT
 * engine.h: the copy engines of the GPUs. Each kind of copy (from the host, to it, to a peer, from
 * a peer, inside) has its own in each GPU, and carries out `copies_at_once` of its copies at a time
 * (0: any number); the others wait in the order in which they came.
 */
#ifndef VGPU_ENGINE_H
#define VGPU_ENGINE_H

#include <stdbool.h>

#include "op.h"
#include "topology.h"

enum copy_kind { FROM_HOST, TO_HOST, TO_PEER, FROM_PEER, INSIDE, COPY_KINDS };

struct copy_engine {
    int busy;
    struct op *first, **last; /* those that wait, linked by next_copy; last: NULL when never used */
};

struct engines { /* all zero but for the topology: idle */
    const struct topology *topology;
    struct copy_engine engine[VGPU_MAX_DEVICES][COPY_KINDS];
};

/* False: all are busy, and `op` waits for its turn. */
bool engines_take(struct engines *engines, struct op *op);

/* `op` is over. The copy whose turn it is now, or NULL. */
struct op *engines_leave(struct op *op);

#endif
