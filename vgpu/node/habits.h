/* SPDX-License-Identifier: MIT
 * habits.h: calls that do not do what they seem to. None fails on hardware, or what fails is not
 * where the mistake is.
 */
#ifndef VGPU_HABITS_H
#define VGPU_HABITS_H

#include "server.h"
#include "stream.h"

/* A call waits for `event`, which nobody has recorded; the event goes, or its program ends, and
 * nobody has. (That it is recorded later is usual: the first round of a loop.) */
void habits_wait_unrecorded(const struct connection *c, struct event *event);
void habits_event_ends(const struct event *event);

/* A call about memory or an event of GPU `owner` names a stream of another one: it fails. */
void habits_mismatch(const struct connection *c, const char *what, int owner, int stream_of);

/* An event's handle for other processes is asked for while another GPU than its own is current. */
void habits_handle_elsewhere(const struct connection *c, const struct event *event);

/* The kernel `op` used memory at `address`, of another GPU, and may not. */
void habits_foreign_memory(const struct op *op, uint64_t address);

/* The allocation at `address` is freed while others have it open. */
void habits_free_while_open(const struct connection *c, uint64_t address);

/* The program says goodbye. */
void habits_end(struct process *process);

#endif
