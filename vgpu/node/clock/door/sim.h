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

/* The clock of a node: its events, its links, its copy engines. */
struct sim;

struct sim *sim_new(const struct topology *topology); /* NULL: out of memory */

/* What is not over by then is never finished; each such operation keeps its reference. */
void sim_end(struct sim *s);

/* Registers it as an observer of operations, once: those that are ready get their times. */
void sim_observe(struct sim *s);
void sim_unobserve(struct sim *s);

/* Lets time pass until `time_ps`. */
enum progress sim_pass(struct sim *s, uint64_t time_ps);

/* Lets time pass up to, not including, `end_ps` until an operation that somebody awaits is finished
 * (one, or several at a time). */
enum sim_ran { SIM_AWAITED, SIM_REACHED, SIM_POLLS /* a kernel: sim_pass_by */ };
enum sim_ran sim_run(struct sim *s, uint64_t end_ps);

/* The clock stands still at the start of a kernel that polls, as nobody knows how long it takes.
 * When every host thread waits for the clock, none can end the polling before that: lets the clock
 * pass by, and the kernel ends later. False: no kernel holds the clock. */
bool sim_pass_by(struct sim *s);

/* The kernel that holds the clock polls pinned memory: no host thread stores there before its own
 * clock, so time may pass to that without it. */
bool sim_host_polled(struct sim *s);

uint64_t sim_now(const struct sim *s);

/* Finishes what is left and sets the clock back to 0. False: something cannot be finished. */
bool sim_restart(struct sim *s);

/* Calls `watch` whenever rates have changed, with what each link carries from then on or with
 * each number of bytes that is sent over a route; NULL: no longer. */
void sim_watch_rates(struct sim *s,
                     void (*watch)(void *self, uint64_t at_ps, const double *bytes_s), void *self);
void sim_watch_bytes(struct sim *s,
                     void (*watch)(void *self, const struct route *route, uint64_t bytes),
                     void *self);

#endif
