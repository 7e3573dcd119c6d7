/* SPDX-License-Identifier: MIT
 * kernel_time.h: how long a kernel takes beyond moving its bytes at full rate: a roofline with
 * latency hiding (docs/virtual-time.md). Rates are those of the GPU's description (struct
 * processor); where it has none, a kernel lasts as long as its bytes.
 *
 * The kernel takes the longest of
 *  - memory: its bytes at full rate, together with the latency of its loads: the root of the sum of
 *    both squares;
 *  - processors: the busiest of their units, together with the latency of one thread's results: the
 *    fourth root of the sum of both fourth powers;
 *  - starting its blocks one after another, together with that latency: as for memory;
 *  - atomics that meet;
 * and bank conflicts come on top.
 * Latency is that of one block, as often as a processor has to take in blocks anew.
 */
#ifndef VGPU_KERNEL_TIME_H
#define VGPU_KERNEL_TIME_H

#include <math.h>
#include "op.h"
#include "topology.h"

/* The time beyond that of the flows to the memories, in ps. */
uint64_t kernel_extra_ps(const struct topology *t, const struct op *op);

/* A time or a size as a whole number. Counts come from a program's process, and what is computed
 * from them may be larger than 64 bits hold: it is then WHOLE_MOST, 4 * 10^18. */
#define WHOLE_MOST 4e18
static inline uint64_t whole_of(double value)
{
    return value < WHOLE_MOST ? (uint64_t)fmax(value, 0) : (uint64_t)WHOLE_MOST;
}

/* The bytes of the GPU's own memory, as many as take the same time when they are read. */
double kernel_weighed_bytes(const struct topology *t, const struct op *op,
                            const struct vgpu_run_counts *counts);

/* The bytes that go to that memory or come from it, without those read again from L2. */
uint64_t kernel_moved_bytes(const struct topology *t, const struct op *op,
                            const struct vgpu_run_counts *counts);

/* Cycles of the processor with the most blocks that are due to bank conflicts, in ps. */
uint64_t kernel_conflict_ps(const struct topology *t, const struct op *op);

#endif
