/* SPDX-License-Identifier: MIT
 * vector_clock.h: the happens-before relation of operations, by vector clocks.
 *
 * Every stream is a component, in which its operations are numbered. The clock of an operation
 * contains, for each component, the number up to which operations are known to be over when it
 * begins. It is the maximum of the clocks of all operations that the graph orders before it
 * (streams, events, the legacy stream) and of the host's clock, which includes what the host has
 * waited for. All host threads of all programs count as one host, in the order in which their calls
 * arrive: the node cannot see how threads and programs synchronise with each other (locks, joins,
 * pipes, MPI) and must not report correct programs. Nothing here depends on virtual time.
 *
 * Kernels are ordered by memory as well: a kernel that polls a word is joined with the clock of the
 * operation that stored there. This is known only when they run, after clocks of later operations
 * were computed. So such a kernel has a second clock, its memory clock, and queries about later
 * operations use both.
 */
#ifndef VGPU_VECTOR_CLOCK_H
#define VGPU_VECTOR_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "op.h"
#include "protocol.h"

/* All clocks of a node. */
struct vclocks;

struct vclocks *vclocks_new(void); /* NULL: host memory ran out */
void vclocks_end(struct vclocks *v);

/* Operations get clocks from now on. It stays on. */
void vclocks_start(struct vclocks *v);

/* Makes a component for a new stream, or ends it. 0: there are too many components, and the
 * stream's operations have none. */
uint32_t vclocks_component(struct vclocks *v);
void vclocks_component_end(struct vclocks *v, uint32_t component);

/* `op` is ordered after `dep`. */
void vclocks_after(struct vclocks *v, struct op *op, const struct op *dep);

/* `op`, whose dependencies are complete, is issued, as the next operation of `component` unless
 * that is 0. */
void vclocks_issue(struct vclocks *v, struct op *op, uint32_t component);

/* Host code has accessed memory: `op` represents the access, which lies between the last call and
 * the next one. */
void vclocks_touch(struct vclocks *v, struct op *op);

/* The host has waited for `op`, or has found that it is over. */
void vclocks_seen(struct vclocks *v, const struct op *op);

/* The kernel `op` has run until it stalled or ended; `signals` are the words that it has stored to
 * and polled. */
void vclocks_signals(struct vclocks *v, struct op *op, const struct vgpu_signals *signals);

/* True if one of the two is known to be over when the other begins: by the graph and the host, or
 * (slower) also by words that kernels stored and polled. */
bool vclocks_ordered(const struct vclocks *v, const struct op *a, const struct op *b);
bool vclocks_ordered_by_memory(struct vclocks *v, const struct op *a, const struct op *b);

/* True if one was joined with the other's clock through memory of another GPU without a system-wide
 * fence, which establishes no order. */
bool vclocks_unfenced(const struct op *a, const struct op *b);

/* True if `a` is before `b`, by the graph and the host alone. */
bool vclocks_before(const struct op *a, const struct op *b);

/* True if everything issued from now on is after `op`; vclocks_known_step identifies the operation
 * by its step. */
bool vclocks_known_to_host(const struct vclocks *v, const struct op *op);
bool vclocks_known_step(const struct vclocks *v, struct vgpu_step step);

/* If the value has changed, the host may have learned that further operations are over. */
uint32_t vclocks_learned(const struct vclocks *v);

/* The program has made no call for a while and may have observed memory: the host counts as having
 * waited for everything. */
void vclocks_all_seen(struct vclocks *v);

/* No operation is pending: drops stored and polled words of kernels that the host has waited for.
 */
void vclocks_quiescent(struct vclocks *v);

/* `process` has ended: drops the references to its operations. */
void vclocks_process_ended(struct vclocks *v, const struct process *process);

void vclocks_free(struct op *op);

#endif
