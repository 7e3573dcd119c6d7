/* SPDX-License-Identifier: MIT
 * misuse.h: calls that do not do what they seem to. None fails on hardware, or what fails is not
 * where the mistake is.
 */
#ifndef VGPU_MISUSE_H
#define VGPU_MISUSE_H

#include "process.h"
#include "protocol.h"
#include "stream.h"

/* A call waits for `event`, which was never recorded; the event is destroyed, or its program ends,
 * and it still was not. (That it is recorded later is usual: the first round of a loop.) */
void misuse_wait_unrecorded(struct event *event, const struct vgpu_request *q);
void misuse_event_ends(const struct event *event);

/* A call about memory or an event of GPU `owner` names a stream of another one: it fails. */
void misuse_mismatch(struct process *process, const struct vgpu_request *q, const char *what,
                     int owner, int stream_of);

/* An event's handle for other processes is asked for while another GPU than its own is current. */
void misuse_handle_elsewhere(struct process *process, const struct vgpu_request *q,
                             const struct event *event);

/* The kernel `op` used memory at `address`, of another GPU, and may not. */
void misuse_foreign_memory(const struct op *op, uint64_t address);

/* The allocation at `address` is freed while others have it open. */
void misuse_free_while_open(struct process *process, const struct vgpu_request *q,
                            uint64_t address);

/* The program says goodbye. */
void misuse_process_ends(struct process *process);

#endif
