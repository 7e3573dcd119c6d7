/* SPDX-License-Identifier: MIT
 * trace.h: records of operations and findings, for the witness, and timelines for users. With
 * VGPU_TRACE a program opens a file and passes it to the node in its hello; when the program ends,
 * the node writes the timeline into it in the Chrome trace format: a row for each host thread,
 * stream, copy engine and link, arrows for events, and marks for findings. See
 * docs/virtual-time.md.
 */
#ifndef VGPU_TRACE_H
#define VGPU_TRACE_H

#include <stdint.h>

#include "process.h"
#include "protocol.h"
#include "topology.h"

/* The records of a node and its timeline. */
struct trace;
struct sim;

struct trace *trace_new(const struct topology *topology); /* NULL: host memory ran out */
void trace_end(struct trace *t); /* call it before the clock that it observes is freed */

/* Registers it as an observer, once: of operations, and of the bytes that `sim` sends over links.
 */
void trace_observe(struct trace *t, struct sim *sim);

/* A program has said hello. `fd` is its timeline file (-1: none) and remains the caller's. Only
 * regular files are accepted. */
void trace_program(struct trace *t, struct process *process, int fd);

/* Writes the timeline so far into the file of `process`, if it has one, and closes the file. */
void trace_write(struct trace *t, struct process *process);

/* The call `q` of a host thread, the program's `thread`-th, or a range that it named
 * (VGPU_OP_RANGE), lasts until its clock is `end_ps`. Kept for programs with a timeline file only.
 */
void trace_call(struct trace *t, const struct process *process, uint32_t thread,
                const struct vgpu_request *q, uint64_t end_ps);

/* Virtual time restarts: earlier records do not appear in later timelines. */
void trace_restart(struct trace *t);

/* cudaEventElapsedTime has returned the time between two events of `device`. */
void trace_elapsed(struct trace *t, const struct process *process, int device, uint64_t start_ps,
                   uint64_t end_ps);

/* Copies up to `room` records from index `first` on into `out`; returns their number. */
int trace_read(const struct trace *t, uint64_t first, struct vgpu_trace_record *out, int room);
uint64_t trace_total(const struct trace *t);

#endif
