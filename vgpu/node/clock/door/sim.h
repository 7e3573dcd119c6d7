/* SPDX-License-Identifier: MIT
 * sim.h: virtual time: a discrete-event simulation, in integer picoseconds, of the node's streams,
 * links and copy engines.
 *
 * An operation starts when its stream, its events and its issue time allow. A copy is a flow over
 * the resources of its route; flows share each resource with max-min fairness. A kernel lasts as
 * long as the slowest of its flows (its own memory, each peer's memory that it accessed, host
 * memory), which are known once it has been carried out.
 */
#ifndef VGPU_SIM_H
#define VGPU_SIM_H

#include "op.h"
#include "order.h"
#include "topology.h"

/* The clock of a node, with its event queue, links and copy engines. */
struct sim;

struct sim *sim_new(const struct topology *topology); /* NULL: host memory ran out */

/* Operations that are not over by then are never finished and keep their references. */
void sim_end(struct sim *s);

/* Before the node ends: writes what VGPU_CLOCK_COST asks for (cost.h). */
void sim_report_cost(const struct sim *s);

/* Registers it as an observer of operations, once: operations that become ready are simulated. */
void sim_observe(struct sim *s);
void sim_unobserve(struct sim *s);

/* Advances virtual time to `time_ps`. PROGRESS_BLOCKED: not so far, since a kernel that polls holds
 * the clock. */
enum progress sim_pass(struct sim *s, uint64_t time_ps);

/* Advances virtual time up to, but not including, `end_ps`, until an operation that a host thread
 * awaits has finished (one or several). */
enum sim_ran {
    SIM_AWAITED,
    SIM_REACHED,
    SIM_POLLS /* a kernel holds the clock: see sim_pass_by */
};
enum sim_ran sim_run(struct sim *s, uint64_t end_ps);

/* A kernel that polls when it starts holds the clock at its start time, because its duration is
 * unknown. If every host thread waits for the clock, none can end the polling: then this lets the
 * clock advance past the kernel, which ends later. False: no kernel holds the clock. */
bool sim_pass_by(struct sim *s);

/* True if the kernel that holds the clock polls pinned memory. A host thread cannot store there
 * before its own clock, so time may advance to that without the kernel. */
bool sim_host_polled(struct sim *s);

uint64_t sim_now(const struct sim *s);

/* Finishes all operations and resets the clock to 0. False: an operation cannot be finished. */
bool sim_restart(struct sim *s);

/* Call `watch` whenever rates have changed, with the rate of each link from then on, or with each
 * number of bytes that is sent over a route. NULL: stop. */
void sim_watch_rates(struct sim *s,
                     void (*watch)(void *self, uint64_t at_ps, const double *bytes_s), void *self);
void sim_watch_bytes(struct sim *s,
                     void (*watch)(void *self, const struct route *route, uint64_t bytes),
                     void *self);

#endif
