/* SPDX-License-Identifier: MIT
 * vector_clock.h: what happens before what, by vector clocks.
 *
 * Every stream is a component, in which its operations are numbered; an operation's clock says for
 * each component up to which number its operations are known to be over when it begins. It is
 * joined with the clocks of what the graph puts it after (streams, events, the legacy stream), and
 * with the host's, which knows what it has waited for. All host threads of all programs count as
 * one host, in the order in which their calls come in: how threads and programs order themselves
 * (locks, joins, pipes, MPI) the node does not see, and must never report as a mistake. Nothing
 * here depends on virtual time.
 *
 * Kernels are ordered by memory as well: a kernel that polls a word is joined with the clock of who
 * stored to it. That is known when they run, after the clocks of later operations were made: such a
 * kernel has a second clock, its memory clock, and questions about what comes after it look at
 * both.
 */
#ifndef VGPU_VECTOR_CLOCK_H
#define VGPU_VECTOR_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "op.h"
#include "protocol.h"

/* All clocks of a node. Not made by anybody else, so that there may be several. */
struct vclocks;

struct vclocks *vclocks_new(void); /* NULL: out of memory */
void vclocks_end(struct vclocks *v);

/* From now on operations have clocks: a program wants to know. Never off again. */
void vclocks_start(struct vclocks *v);

/* A component for a new stream (0: there are too many, and its operations have no place); its end.
 */
uint32_t vclocks_component(struct vclocks *v);
void vclocks_component_end(struct vclocks *v, uint32_t component);

/* `op` comes after `dep`. */
void vclocks_after(struct vclocks *v, struct op *op, const struct op *dep);

/* `op`, whose dependencies are complete, is issued now; in `component`, unless that is 0. */
void vclocks_issue(struct vclocks *v, struct op *op, uint32_t component);

/* Host code has used memory: `op` stands for that, between the calls before and after it. */
void vclocks_touch(struct vclocks *v, struct op *op);

/* The host has waited for `op`, or seen that it is over. */
void vclocks_seen(struct vclocks *v, const struct op *op);

/* The kernel `op` has run up to a stop or to its end, and has stored and polled `signals`. */
void vclocks_signals(struct vclocks *v, struct op *op, const struct vgpu_signals *signals);

/* Is one of them known to be over when the other begins, whichever? By the graph and the host; by
 * what kernels stored and polled, which takes longer to find out. */
bool vclocks_ordered(const struct vclocks *v, const struct op *a, const struct op *b);
bool vclocks_ordered_by_memory(struct vclocks *v, const struct op *a, const struct op *b);

/* One was joined with the other's clock by memory of another GPU, without a fence of the system's
 * scope: that orders nothing. */
bool vclocks_unfenced(const struct op *a, const struct op *b);

/* `a` comes before `b`, by the graph and the host alone. */
bool vclocks_before(const struct op *a, const struct op *b);

/* Whatever is issued from now on comes after `op`; the same by its place. */
bool vclocks_known_to_host(const struct vclocks *v, const struct op *op);
bool vclocks_known_step(const struct vclocks *v, struct vgpu_step step);

/* Other than before: the host may know of more. */
uint32_t vclocks_learned(const struct vclocks *v);

/* The program has been still for a while, and may have watched memory: it knows of everything. */
void vclocks_all_seen(struct vclocks *v);

/* Nothing is under way: forgets what kernels stored and polled that the host knows by now. */
void vclocks_quiescent(struct vclocks *v);

/* `process` has ended: nothing keeps its operations. */
void vclocks_process_ended(struct vclocks *v, const struct process *process);

void vclocks_free(struct op *op);

#endif
