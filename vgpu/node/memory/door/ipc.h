/* SPDX-License-Identifier: MIT
 * ipc.h: device memory of one process in another one.
 *
 * An exported allocation has a key that cannot be guessed, until its owner frees it. A process that
 * opens it gets a window: the whole chunks around the allocation, at an address of the window's own
 * (vmm.c), usable from the devices that were current when it was opened. Peer access has no part
 * in it (recorded: [ipc_after_enable]). When the owner frees the memory or ends while windows are
 * open, the bytes stay for these, and the owner may get the same address anew with other memory
 * behind it (recorded: [ipc_lifetime]).
 */
#ifndef VGPU_IPC_H
#define VGPU_IPC_H

#include <stdint.h>

#include "ipc_key.h"
#include "device_memory.h"
#include "protocol.h"

/* The handle of the allocation that `p` describes; the same for each pointer into it. False: the
 * node is out of memory. */
bool ipc_export(const struct pointee *p, uint8_t handle[IPC_HANDLE_BYTES]);

/* Opens a handle for `owner` on `device`. An error code; *address is set on success. Each open
 * needs a close. */
int ipc_open(struct owner *owner, const uint8_t *handle, int device, uint64_t *address);

/* The same for memory of a pool that `pool` is an import of: whom it is shown to is the pool's. */
int ipc_open_pool(struct owner *owner, const uint8_t *handle, const struct pool *pool,
                  uint64_t *address);
/* Is `address` what ipc_open_pool gave? With `dying`: and from now on no more, until it is closed.
 */
bool ipc_of_pool(const struct owner *owner, uint64_t address, bool dying);
void ipc_pool_access(const struct pool *pool); /* the pool's access has changed */

/* False: `address` is not what ipc_open gave to this owner, or closed as often. */
bool ipc_close(struct owner *owner, uint64_t address);

/* The owner is about to free the allocation at `address`. */
void ipc_freed(struct owner *owner, uint64_t address);

/* `owner` loses its device (-1: all): its windows close, what it exported stays for others. */
void ipc_end(struct owner *owner, int device);

/* How many other processes have the allocation at `address` of `owner` open. */
int ipc_opened_by_others(const struct owner *owner, uint64_t address);

/* Opens that `owner` has not closed. */
int ipc_open_count(const struct owner *owner);

#endif
