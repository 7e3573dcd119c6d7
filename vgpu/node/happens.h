/* SPDX-License-Identifier: MIT
 * happens.h: what happens before what, by vector clocks.
 *
 * Every stream is a line on which its operations are numbered; an operation's clock says for each
 * line up to which number it knows the operations to be over. It learns from what the graph puts it
 * after (streams, events, the legacy stream), and from the host, which knows what it has waited
 * for. All host threads of all programs count as one host, in the order in which their calls come
 * in: how threads and programs order themselves (locks, joins, pipes, MPI) is not the node's to
 * see, and must never look like a mistake. Nothing here depends on the clock of sim.h.
 *
 * Kernels also learn from memory: whoever polls a word learns what those knew who stored to it.
 * That comes to light when they run, after others' clocks were made: such a kernel has a second
 * clock, and what comes after it is asked about both.
 */
#ifndef VGPU_HAPPENS_H
#define VGPU_HAPPENS_H

#include <stdbool.h>
#include <stdint.h>

#include "op.h"
#include "protocol.h"

/* From now on operations have clocks: a program wants to know. Never off again. */
void happens_start(void);

/* A line for a new stream; its end. */
uint32_t happens_line(void);
void happens_line_end(uint32_t line);

/* `op` comes after `dep`. */
void happens_after(struct op *op, const struct op *dep);

/* `op`, whose dependencies are complete, is issued now; on `line`, unless that is 0. */
void happens_issue(struct op *op, uint32_t line);

/* Host code has used memory: `op` stands for that, between the calls before and after it. */
void happens_touch(struct op *op);

/* The host has waited for `op`, or seen that it is over. */
void happens_seen(const struct op *op);

/* The kernel `op` has run up to a stop or to its end, and told and heard `signals`. */
void happens_signals(struct op *op, const struct vgpu_signals *signals);

/* Is one of them known to be over when the other begins, whichever? By the graph and the host; by
 * what kernels told each other, which takes longer to find out. */
bool happens_ordered(const struct op *a, const struct op *b);
bool happens_told(const struct op *a, const struct op *b);

/* One has heard of the other by memory of another GPU, without a fence of the system's scope: that
 * orders nothing. */
bool happens_unfenced(const struct op *a, const struct op *b);

/* The same in one direction, by the graph and the host alone. */
bool happens_before(const struct op *a, const struct op *b);

/* Whatever is issued from now on comes after `op`; the same by its name. */
bool happens_known_to_host(const struct op *op);
bool happens_known_step(struct vgpu_step step);

/* Other than before: the host may know of more. */
uint32_t happens_learned(void);

/* The program has been still for a while, and may have watched memory: it knows of everything. */
void happens_all_seen(void);

/* Nothing is under way: forgets what kernels told and heard that the host knows by now. */
void happens_calm(void);

/* `process` has ended: nothing keeps its operations. */
void happens_end(const struct process *process);

void happens_free(struct op *op);

#endif
