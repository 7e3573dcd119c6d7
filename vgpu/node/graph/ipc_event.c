/* SPDX-License-Identifier: MIT
 * ipc_event.c: see ipc_event.h.
 */
#include "ipc_event.h"

#include "codes.h"

bool ipc_event_is_exported(const struct event *event)
{
    return event->shared->key.magic[0] != 0;
}

bool ipc_event_export(struct event *event, uint8_t handle[IPC_HANDLE_BYTES])
{
    struct ipc_key *key = &event->shared->key;
    if (!ipc_event_is_exported(event) && !ipc_key_make(key, "vgpuevt"))
        return false;
    ipc_key_write(handle, key);
    return true;
}

int ipc_event_open(struct process *process, const uint8_t *handle, int device, struct event **event)
{
    struct shared_event *s = event_shared_first();
    while (s && !(s->key.magic[0] && ipc_key_is(handle, &s->key)))
        s = s->next;
    if (!s)
        return VGPU_INVALID_HANDLE;
    if (s->maker == process)
        return VGPU_DEVICE_UNINITIALIZED;
    *event = event_share(process, s, device);
    return *event ? VGPU_SUCCESS : VGPU_OUT_OF_MEMORY;
}
