/* SPDX-License-Identifier: MIT
 * sim.h: virtual time. A discrete-event simulation in integer picoseconds of what the streams,
 * the links and the copy paths of the node would do.
 *
 * An operation starts when its stream, its events and its issue time allow. A copy is a flow over
 * the resources of its route; flows share each resource with max-min fairness. A kernel lasts as
 * long as the slowest of its flows (own memory, every peer's memory it touched, host memory), which
 * are known once it was carried out.
 */
#ifndef VGPU_SIM_H
#define VGPU_SIM_H

#include "op.h"
#include "order.h"
#include "topology.h"

void sim_start(const struct topology *topology);

/* What copy `op` costs, once its `direct` is set. */
const struct path_model *sim_path(const struct op *op);

/* All that `op` depends on is finished. */
void sim_ready(struct op *op);

/* Lets time pass until `time_ps`. */
enum progress sim_pass(uint64_t time_ps);

/* Lets time pass up to, not including, `end_ps` until an operation that somebody awaits is finished
 * (one, or several at a time). */
enum sim_ran { SIM_AWAITED, SIM_REACHED, SIM_POLLS /* a kernel: sim_pass_by */ };
enum sim_ran sim_run(uint64_t end_ps);

/* The clock stands still at the start of a kernel that polls, as nobody knows how long it takes.
 * When every host thread waits for the clock, none can end the polling before that: lets the clock
 * pass by, and the kernel ends later. False: no kernel holds the clock. */
bool sim_pass_by(void);

/* The kernel that holds the clock polls pinned memory: no host thread stores there before its own
 * clock, so time may pass to that without it. */
bool sim_host_polled(void);

uint64_t sim_now(void);

/* Finishes what is left and sets the clock back to 0. False: something cannot be finished. */
bool sim_restart(void);

#endif
