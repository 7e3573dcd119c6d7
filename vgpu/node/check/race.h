/* SPDX-License-Identifier: MIT
 * race.h: race detection: finds two operations that use the same bytes, at least one of them
 * writing, without being ordered.
 *
 * The accesses of every operation are kept until a newer access supersedes them or the host has
 * waited for the operation. New accesses are compared with them byte by byte, according to the
 * order that the program has established (vector_clock.h) and not the order in which operations
 * were carried out, so a race is found in every run. Some accesses are unknown and so never
 * reported: accesses of host code to pinned memory on pages that vgpu/api/checks/guard.c does not
 * guard, variables of device code, and accesses that need too many words to describe.
 */
#ifndef VGPU_RACE_H
#define VGPU_RACE_H

#include "op.h"
#include "vector_clock.h"

/* The recorded accesses of a node. */
struct races;

/* NULL: host memory ran out. The clocks remain the caller's. */
struct races *races_new(struct vclocks *clocks);
void races_end(struct races *r);

/* `op` has its effect on memory now (or is about to): its accesses are compared and kept. `span`:
 * the accesses of a kernel, as its context reported them. */
void races_note(struct races *r, struct op *op);
void races_note_spans(struct races *r, struct op *op, const struct vgpu_span *span, uint32_t count);

/* No operation is pending: drops accesses of operations that the host has waited for. */
void races_quiescent(struct races *r);

/* The memory at `home` (device_memory.h), or at `address` of a program's pinned memory, has been
 * freed. */
void races_forget(struct races *r, uint64_t home);
void races_forget_host(struct races *r, const struct process *process, uint64_t address);

/* `process` has ended. */
void races_process_ended(struct races *r, const struct process *process);

#endif
