/* SPDX-License-Identifier: MIT
 * timeline.h: VGPU_TRACE: what happened when, for people. A program that wants it hands a file to
 * the node with its first words; at its end the node writes the trace there in the Chrome format:
 * a row for each stream, copy engine and link, arrows for events. docs/virtual-time.md describes
 * it.
 */
#ifndef VGPU_TIMELINE_H
#define VGPU_TIMELINE_H

#include <stdint.h>

#include "op.h"
#include "topology.h"

void timeline_start(const struct topology *topology);

/* A program has said hello; `fd` is its file, -1: it wants none. The descriptor stays the caller's.
 * Only regular files are written to. */
void timeline_program(struct process *process, int fd);

/* What was is forgotten: the next program is the first one. */
void timeline_restart(void);

/* Writes the trace so far into the file of `process`, if it gave one, and closes that. */
void timeline_write(struct process *process);

/* `op` comes after `dep`: for the arrows. Before the dependency is forgotten. */
void timeline_after(struct op *op, const struct op *dep);

/* `bytes` were sent on their way over `route`. */
void timeline_bytes(const struct route *route, uint64_t bytes);

#endif
