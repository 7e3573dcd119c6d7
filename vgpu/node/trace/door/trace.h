/* SPDX-License-Identifier: MIT
 * trace.h: what the node saw, for the witness and for people: a record for each operation and each
 * finding, and timelines. VGPU_TRACE: a program that wants a timeline hands a file to the node with
 * its first words; at its end the node writes the trace there in the Chrome format: a row for each
 * stream, copy engine and link, arrows for events. docs/virtual-time.md describes it.
 */
#ifndef VGPU_TRACE_H
#define VGPU_TRACE_H

#include <stdint.h>

#include "process.h"
#include "protocol.h"
#include "topology.h"

/* All records of a node, and its timeline. */
struct trace;
struct sim;

struct trace *trace_new(const struct topology *topology); /* NULL: out of memory */
void trace_end(struct trace *t); /* before the end of the clock that it observes */

/* Registers it as an observer, once: of operations, and of what `sim` sends over links. */
void trace_observe(struct trace *t, struct sim *sim);

/* A program has said hello; `fd` is its file, -1: it wants none. The descriptor stays the caller's.
 * Only regular files are written to. */
void trace_program(struct trace *t, struct process *process, int fd);

/* Writes the timeline so far into the file of `process`, if it gave one, and closes that. */
void trace_write(struct trace *t, struct process *process);

/* What was is forgotten: the next program is the first one. */
void trace_restart(struct trace *t);

/* A program was told how long it was between two events of `device`, which occurred then. */
void trace_elapsed(struct trace *t, const struct process *process, int device, uint64_t start_ps,
                   uint64_t end_ps);

/* Copies records from `first` on into `out` (room: `room`); how many. */
int trace_read(const struct trace *t, uint64_t first, struct vgpu_trace_record *out, int room);
uint64_t trace_total(const struct trace *t);

#endif
