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

void engine_start(const struct topology *topology);

/* False: all are busy, and `op` waits for its turn. */
bool engine_take(struct op *op);

/* `op` is over. The copy whose turn it is now, or NULL. */
struct op *engine_leave(struct op *op);

#endif
