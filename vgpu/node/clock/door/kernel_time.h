/* SPDX-License-Identifier: MIT
 * kernel_time.h: how much longer a kernel takes than its bytes need at full rate: a roofline with
 * latency hiding (docs/virtual-time.md). Rates are those of the GPU's description (struct
 * processor); if the description has none, a kernel takes as long as its bytes need.
 *
 * Let l be the kernel's latency: that of one block (its dependent instructions, loads and barriers,
 * its start and its end) times the number of rounds in which a processor takes in blocks. The time
 * is the greatest of these, plus the time of bank conflicts:
 *  - memory: sqrt(b^2 + l^2), where b is the time of its bytes at full rate;
 *  - processors: (u^4 + l^4)^(1/4), where u is the time of the busiest kind of unit;
 *  - starts of blocks, which begin one after another: sqrt(s^2 + l^2), where s is their time;
 *  - atomics on the same line, which are served one after another.
 */
#ifndef VGPU_KERNEL_TIME_H
#define VGPU_KERNEL_TIME_H

#include <math.h>
#include "op.h"
#include "topology.h"

/* By how much the kernel takes longer than its flows to the memories, in ps. */
uint64_t kernel_extra_ps(const struct topology *t, const struct op *op);

/* A time or a size as a whole number, WHOLE_MOST (4 * 10^18) at most: counts come from a program's
 * process, and what is computed from them may exceed 64 bits. */
#define WHOLE_MOST 4e18
static inline uint64_t whole_of(double value)
{
    return value < WHOLE_MOST ? (uint64_t)fmax(value, 0) : (uint64_t)WHOLE_MOST;
}

/* The kernel's traffic in its GPU's own memory as a number of bytes that would take as long if all
 * were read: written bytes are weighed, and repeated reads from L2 are counted at L2's rate. */
double kernel_weighed_bytes(const struct topology *t, const struct op *op,
                            const struct vgpu_run_counts *counts);

/* The bytes that the kernel reads from that memory or writes to it, without repeated reads, which
 * L2 serves. */
uint64_t kernel_moved_bytes(const struct topology *t, const struct op *op,
                            const struct vgpu_run_counts *counts);

/* The time that bank conflicts take on the processor with the most blocks, in ps. */
uint64_t kernel_conflict_ps(const struct topology *t, const struct op *op);

#endif
