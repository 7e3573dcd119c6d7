/* SPDX-License-Identifier: MIT
 * weak_runs.h: VGPU_SCHEDULE=weak: which kernels a kernel is ordered after. What these have stored,
 * it must see; of others it may load older values (vgpu/exec/weak).
 */
#ifndef VGPU_WEAK_RUNS_H
#define VGPU_WEAK_RUNS_H

#include "vector_clock.h"

struct weak_runs;

struct weak_runs *weak_runs_new(void); /* NULL: host memory ran out */
void weak_runs_end(struct weak_runs *runs);

/* The kernel `op` is about to begin: it gets a place, and learns those of kernels before it. */
void weak_runs_begin(struct weak_runs *runs, const struct vclocks *clocks, struct op *op);
/* It has ended. */
void weak_runs_over(struct weak_runs *runs, const struct op *op);

/* `process` has ended: its kernels are before all that begin from now on. */
void weak_runs_process_ended(struct weak_runs *runs, const struct process *process);

#endif
