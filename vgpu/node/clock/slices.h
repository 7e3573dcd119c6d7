/* SPDX-License-Identifier: MIT
 * slices.h: kernels that tell each other something through memory. Such a kernel stops where it
 * polls what is not there yet, and goes on later: it is cut into slices there. A slice that polled
 * an address comes after the slice, of another operation, that stored to it last; where nothing is
 * known to have stored, after what took place last while it was stopped. The clock (sim.c) lets a
 * slice's bytes flow when those it comes after are over.
 */
#ifndef VGPU_SLICES_H
#define VGPU_SLICES_H

#include <stdbool.h>

#include "op.h"
#include "protocol.h"

#define SLICE_DEPS 8

struct slice {
    struct vgpu_run_counts counts; /* of it alone */
    struct op *dep[SLICE_DEPS];    /* NULL: no longer waited for */
    uint32_t dep_slice[SLICE_DEPS];
    int deps;
};

struct slices {
    struct slice *slice;
    uint32_t count, room;
    uint32_t done;               /* by the clock */
    bool waits;                  /* by the clock: the next one may not begin yet */
    struct vgpu_run_counts seen; /* of all so far */
};

#define STORE_PLACES 1024 /* that are remembered; a newer one may push out an older one */

/* Who stored where, as far as it is remembered. All zero: no stores. */
struct stores_seen {
    struct store_place {
        uint64_t address; /* of the arena, or of a process's pinned memory, with its number */
        struct op *op;
        uint32_t slice;
    } place[STORE_PLACES];
    struct op *last; /* whose effect took place last */
};

/* The kernel `op` has run up to a stop or to its end: a slice more. `counts` are the run's so far.
 */
void slices_add(struct stores_seen *seen, struct op *op, const struct vgpu_run_counts *counts,
                const struct vgpu_signals *signals, bool resumed);

/* The effect of `op`, which is no kernel, took place: it may be what a kernel waits for. */
void slices_effect(struct stores_seen *seen, struct op *op);

/* The next slice of `op` may begin; if not before, `*far` says whether it waited for another GPU.
 */
bool slices_may_begin(struct op *op, bool *far);

/* Makes `op` whole again if none of its slices waits for another operation: whether it was cut
 * depended on the operating system, which let the host store before the kernel looked, or later. */
void slices_join(struct op *op);

void slices_free(struct op *op);

/* Forgets what was stored by whom: by `process`, or (NULL) by all. */
void slices_forget(struct stores_seen *seen, const struct process *process);

#endif
