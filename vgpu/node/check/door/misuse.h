/* SPDX-License-Identifier: MIT
 * misuse.h: misuse of calls: calls that succeed but do not have the intended effect, or that fail
 * although the mistake is elsewhere.
 */
#ifndef VGPU_MISUSE_H
#define VGPU_MISUSE_H

#include "process.h"
#include "protocol.h"
#include "stream.h"

/* A call waits for `event`, which was never recorded: this is reported only if the event still has
 * not been recorded when it is destroyed or its program ends, since correct loops often wait for an
 * event before its first recording. */
void misuse_wait_unrecorded(struct event *event, const struct vgpu_request *q);
void misuse_event_ends(const struct event *event);

/* A call fails because it combines memory or an event of GPU `owner` with a stream of another GPU.
 */
void misuse_mismatch(struct process *process, const struct vgpu_request *q, const char *what,
                     int owner, int stream_of);

/* An event is exported to other processes while a GPU other than its own is current. */
void misuse_handle_elsewhere(struct process *process, const struct vgpu_request *q,
                             const struct event *event);

/* The kernel `op` used memory at `address` of another GPU without access to it. */
void misuse_foreign_memory(const struct op *op, uint64_t address);

/* The allocation at `address` is freed while other processes have it open. */
void misuse_free_while_open(struct process *process, const struct vgpu_request *q,
                            uint64_t address);

/* The program ends (VGPU_OP_BYE). */
void misuse_process_ends(struct process *process);

#endif
