/* SPDX-License-Identifier: MIT
 * ipc.h: device memory and events of one process in another one.
 *
 * An exported allocation has a key that nobody can guess, until its owner frees it. A process that
 * opens it gets a window: the whole chunks around the allocation, at an address of the window's own
 * (vmm.c), usable from the devices that were current when it was opened. Peer access has no part
 * in it (recorded: [ipc_after_enable]). When the owner frees the memory or ends while windows are
 * open, the bytes stay for these, and the owner may get the same address anew with other memory
 * behind it (recorded: [ipc_lifetime]).
 */
#ifndef VGPU_IPC_H
#define VGPU_IPC_H

#include <stdint.h>

#include "memory.h"
#include "protocol.h"
#include "stream.h"

#define IPC_HANDLE_BYTES 64 /* CUDA_IPC_HANDLE_SIZE */

/* The handle of the allocation that `p` describes; the same for each pointer into it. False: the
 * node is out of memory. */
bool ipc_export(const struct pointee *p, uint8_t handle[IPC_HANDLE_BYTES]);

/* Opens a handle for `process` on `device`. An error code; *address is set on success. Each open
 * needs a close. */
int ipc_open(struct process *process, const uint8_t *handle, int device, uint64_t *address);

/* The same for memory of a pool that `pool` is an import of: whom it is shown to is the pool's. */
int ipc_open_pool(struct process *process, const uint8_t *handle, const struct pool *pool,
                  uint64_t *address);
/* Is `address` what ipc_open_pool gave? With `dying`: and from now on no more, until it is closed.
 */
bool ipc_of_pool(const struct process *process, uint64_t address, bool dying);
void ipc_pool_access(const struct pool *pool); /* the pool's access has changed */

/* False: `address` is not what ipc_open gave to this process, or closed as often. */
bool ipc_close(struct process *process, uint64_t address);

/* The owner is about to free the allocation at `address`. */
void ipc_freed(struct process *owner, uint64_t address);

/* `process` loses its device (-1: all): its windows close, what it exported stays for others. */
void ipc_end(struct process *process, int device);

/* How many other processes have the allocation at `address` of `owner` open. */
int ipc_opened_by_others(const struct process *owner, uint64_t address);

/* Opens that `process` has not closed. */
int ipc_open_count(const struct process *process);

/* Events. The handle of an interprocess event; another event for it in `process`: a code. */
bool ipc_event_export(struct event *event, uint8_t handle[IPC_HANDLE_BYTES]);
int ipc_event_open(struct process *process, const uint8_t *handle, int device,
                   struct event **event);

#endif
