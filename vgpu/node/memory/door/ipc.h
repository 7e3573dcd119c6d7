/* SPDX-License-Identifier: MIT
 * ipc.h: device memory shared between processes (cudaIpc*).
 *
 * An exported allocation has a key that cannot be guessed, until its owner frees it. A process that
 * opens it gets a window: a mapping of the whole chunks around the allocation, at an address of its
 * own (vmm.c), accessible from the devices that were current when it was opened. Peer access is
 * irrelevant (recorded: [ipc_after_enable]). If the owner frees the memory or ends while windows
 * are open, the data remains for these, and the owner may get the same address again with other
 * memory (recorded: [ipc_lifetime]).
 */
#ifndef VGPU_IPC_H
#define VGPU_IPC_H

#include <stdint.h>

#include "ipc_key.h"
#include "device_memory.h"
#include "protocol.h"

/* Stores the handle of the allocation `p`, the same for each pointer into it. False: host memory
 * ran out. */
bool ipc_export(const struct pointee *p, uint8_t handle[IPC_HANDLE_BYTES]);

/* Opens a handle for `owner` on `device`. Returns an error code; *address is set on success. Each
 * open needs a close. */
int ipc_open(struct owner *owner, const uint8_t *handle, int device, uint64_t *address);

/* The same for memory of a pool that was imported as `pool`, which determines who has access. */
int ipc_open_pool(struct owner *owner, const uint8_t *handle, const struct pool *pool,
                  uint64_t *address);
/* True if `address` was opened by ipc_open_pool and has not been freed. `dying`: marks it as freed,
 * so that later calls return false until it is closed. */
bool ipc_of_pool(const struct owner *owner, uint64_t address, bool dying);
void ipc_pool_access(const struct pool *pool); /* the access rights of the pool have changed */

/* False: `address` was not opened by this owner, or has been closed as often. */
bool ipc_close(struct owner *owner, uint64_t address);

/* The owner is about to free the allocation at `address`. */
void ipc_freed(struct owner *owner, uint64_t address);

/* `owner` loses its memory on a device (-1: all): its windows are closed; memory that it exported
 * remains for others. */
void ipc_end(struct owner *owner, int device);

/* The number of other processes that have the allocation at `address` of `owner` open. */
int ipc_opened_by_others(const struct owner *owner, uint64_t address);

/* The number of opens that `owner` has not closed. */
int ipc_open_count(const struct owner *owner);

#endif
