/* SPDX-License-Identifier: MIT
 * slices.h: kernels that communicate through memory. Such a kernel stalls when it polls a value
 * that has not been stored yet, and is resumed later; it is cut into slices there. A slice that
 * polled an address depends on the slice of the operation that last stored to it; if no store is
 * known, on the last operation whose effect took place while the kernel was stalled. The clock
 * (sim.c) starts the flows of a slice when the slices that it depends on are over.
 */
#ifndef VGPU_SLICES_H
#define VGPU_SLICES_H

#include <stdbool.h>

#include "op.h"
#include "protocol.h"

#define SLICE_DEPS 8

struct slice {
    struct vgpu_run_counts counts; /* counts of this slice only */
    struct op *dep[SLICE_DEPS];    /* NULL: no longer waited for */
    uint32_t dep_slice[SLICE_DEPS];
    int deps;
};

struct slices {
    struct slice *slice;
    uint32_t count, room;
    uint32_t done;               /* number of slices that the clock has finished */
    bool waits;                  /* the clock cannot start the next slice yet */
    struct vgpu_run_counts seen; /* counts of all slices so far */
};

/* The greatest number of stores remembered; newer ones may replace older ones. */
#define STORE_PLACES 1024

/* The slices that stored to addresses, as far as they are remembered. All zero: none. */
struct stores_seen {
    struct store_place {
        /* An address of device memory, or of a process's pinned memory together with its number. */
        uint64_t address;
        struct op *op;
        uint32_t slice;
    } place[STORE_PLACES];
    struct op *last; /* the last operation whose effect took place */
};

/* The kernel `op` has run until it stalled or ended: adds a slice. `counts` are the totals of the
 * run. */
void slices_add(struct stores_seen *seen, struct op *op, const struct vgpu_run_counts *counts,
                const struct vgpu_signals *signals, bool resumed);

/* The effect of `op`, which is not a kernel, took place; a kernel may wait for it. */
void slices_effect(struct stores_seen *seen, struct op *op);

/* True if the next slice of `op` may begin. Otherwise `*far` tells whether it waits for another
 * GPU. */
bool slices_may_begin(struct op *op, bool *far);

/* Joins the slices of `op` if none of them depends on another operation: whether the kernel stalled
 * then depended on the operating system, on whether the host stored before or after the kernel
 * polled. */
void slices_join(struct op *op);

void slices_free(struct op *op);

/* Forgets the stores of `process`, or of all (NULL). */
void slices_forget(struct stores_seen *seen, const struct process *process);

#endif
