/* SPDX-License-Identifier: MIT
 * ipc_event.h: events of one process in another one.
 */
#ifndef VGPU_IPC_EVENT_H
#define VGPU_IPC_EVENT_H

#include "ipc_key.h"
#include "stream.h"

/* The handle of an interprocess event. False: no random bytes are to be had. */
bool ipc_event_export(struct event *event, uint8_t handle[IPC_HANDLE_BYTES]);

/* Another event for it in `process`: an error code. */
int ipc_event_open(struct process *process, const uint8_t *handle, int device,
                   struct event **event);

#endif
