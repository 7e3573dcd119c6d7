/* SPDX-License-Identifier: MIT
 * race.h: race detection: two operations that use the same bytes, one of which writes, and nothing
 * orders them.
 *
 * What every operation read and wrote is kept until something newer stands for it, or the host has
 * waited for it. What comes is compared with that, byte by byte, by the order that the program has
 * asked for (vector_clock.h) and not by the one that came to pass: such a pair is found in every
 * run. Not known, and so never reported: what the host itself does with pinned memory of which
 * vgpu/api/checks/guard.c closes no page, variables of device code, and sets of bytes that take too
 * many words.
 */
#ifndef VGPU_RACE_H
#define VGPU_RACE_H

#include "op.h"
#include "vector_clock.h"

/* All accesses that are kept, of one node. */
struct races;

struct races *
races_new(struct vclocks *clocks); /* NULL: out of memory. The clocks stay the caller's */
void races_end(struct races *r);

/* `op` has its effect on memory now (or is about to): its accesses are compared and kept. A
 * kernel's are `span`, as its context told. */
void races_note(struct races *r, struct op *op);
void races_note_spans(struct races *r, struct op *op, const struct vgpu_span *span, uint32_t count);

/* Nothing is under way: forgets what the host knows to be over. */
void races_quiescent(struct races *r);

/* The memory at `home` (device_memory.h), or at `address` of a program's pinned memory, is given
 * back. */
void races_forget(struct races *r, uint64_t home);
void races_forget_host(struct races *r, const struct process *process, uint64_t address);

/* `process` has ended. */
void races_process_ended(struct races *r, const struct process *process);

#endif
