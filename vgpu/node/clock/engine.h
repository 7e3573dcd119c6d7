/* SPDX-License-Identifier: MIT
 * engine.h: the copy engines of GPUs. Each GPU has one for each kind of copy (from the host, to the
 * host, to a peer, from a peer, within the GPU). An engine carries out `copies_at_once` copies at a
 * time (0: any number); others wait in order of arrival.
 */
#ifndef VGPU_ENGINE_H
#define VGPU_ENGINE_H

#include <stdbool.h>

#include "op.h"
#include "topology.h"

enum copy_kind { FROM_HOST, TO_HOST, TO_PEER, FROM_PEER, INSIDE, COPY_KINDS };

struct copy_engine {
    int busy;
    /* The waiting copies, linked by next_copy; last: NULL if never used. */
    struct op *first, **last;
};

/* All zero except for the topology: idle. */
struct engines {
    const struct topology *topology;
    struct copy_engine engine[VGPU_MAX_DEVICES][COPY_KINDS];
};

/* False: the engine is busy, and `op` waits in its queue. */
bool engines_take(struct engines *engines, struct op *op);

/* `op` is over: returns the next copy of its engine, or NULL. */
struct op *engines_leave(struct op *op);

#endif
