/* SPDX-License-Identifier: MIT
 * ipc_event.h: events shared between processes.
 */
#ifndef VGPU_IPC_EVENT_H
#define VGPU_IPC_EVENT_H

#include "ipc_key.h"
#include "stream.h"

/* Stores the handle of an interprocess event. False: no random bytes are available. */
bool ipc_event_export(struct event *event, uint8_t handle[IPC_HANDLE_BYTES]);

bool ipc_event_is_exported(const struct event *event);

/* Makes an event in `process` that shares the state of the exported one. Returns an error code. */
int ipc_event_open(struct process *process, const uint8_t *handle, int device,
                   struct event **event);

#endif
