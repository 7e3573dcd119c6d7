/* SPDX-License-Identifier: MIT
 * trace.h: what the node saw, for the witness and for people: counts and one record an operation.
 */
#ifndef VGPU_TRACE_H
#define VGPU_TRACE_H

#include "check.h"
#include "op.h"
#include "protocol.h"

/* The running totals; whoever does a thing counts it. */
struct vgpu_summary *trace_counts(void);

/* Registers an operation at its issue (its place in the trace) and completes it when finished. */
void trace_issue(struct op *op);
void trace_operation(struct op *op, uint64_t now_ps);

/* A mistake that hardware accepts, in `op`: what it is called, where ("file:line" or ""), and the
 * GPU and bytes of the memory that it is about. */
void trace_finding(const struct op *op, const char *name, const char *site, int memory,
                   uint64_t bytes);

/* One of the table's diagnoses, counted; `op` may be NULL. */
void trace_diagnosis(const struct process *process, const struct op *op,
                     enum vgpu_diagnosis diagnosis);

/* Bytes in use on `device` have become `bytes`. */
void trace_memory(int device, uint64_t bytes, uint64_t asked_bytes);

/* Copies records from `first` on into `out` (room: `room`); how many. */
int trace_read(uint64_t first, struct vgpu_trace_record *out, int room);
uint64_t trace_total(void);

#endif
