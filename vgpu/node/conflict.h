/* SPDX-License-Identifier: MIT
 * conflict.h: two operations that use the same bytes, one of which writes, and nothing orders them.
 *
 * What every operation read and wrote is kept until something newer stands for it, or the host has
 * waited for it; what comes is compared with that, byte by byte, by the order that the program has
 * asked for (happens.h) and not by the one that came to pass: such a pair is found in every run.
 * Not known, and never held against anybody: what the host itself does with pinned memory of which
 * api/guard.c closes no page, variables of device code, and sets of bytes that take too many words.
 */
#ifndef VGPU_CONFLICT_H
#define VGPU_CONFLICT_H

#include "op.h"

/* `op` has its effect on memory now (or is about to): its accesses are compared and kept. A
 * kernel's are `span`, as its context told. */
void conflict_note(struct op *op);
void conflict_kernel(struct op *op, const struct vgpu_span *span, uint32_t count);

/* The host has waited for `op`, or seen that it is over. */
void conflict_seen(const struct op *op);

/* The memory at `home` (memory.h), or at `address` of a program's pinned memory, is given back. */
void conflict_forget(uint64_t home);
void conflict_forget_host(const struct process *process, uint64_t address);

/* `process` has ended. */
void conflict_end(const struct process *process);

#endif
