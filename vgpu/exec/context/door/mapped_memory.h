/* SPDX-License-Identifier: MIT
 * mapped_memory.h: what this context has mapped, and the first touch of device memory.
 */
#ifndef VGPU_EXEC_MAPPED_MEMORY_H
#define VGPU_EXEC_MAPPED_MEMORY_H

#include "exec.h"

/* As the node's requests ask; false and a reason in `why` if it cannot be done. */
bool memory_attach(const struct vgpu_exec_request *request, const int *fds, int fd_count, char *why,
                   uint64_t room);
bool memory_map(const struct vgpu_exec_request *request, char *why, uint64_t room);
bool memory_unmap(uint64_t va, uint64_t bytes, char *why, uint64_t room);

/* Closes chunks that were given back since they were opened: their next touch is a first one. */
void memory_review(void);

/* After a kernel: what of its stores arrives at peers that lose some (VGPU_MAP_TEARS_STORES). */
void memory_deliver_torn(void);

/* Closes all that is open: in a fork, which would fault for every page otherwise. */
void memory_reopen(void);

/* From here on chunks are committed by several processes, under *lock, which lies in memory that
 * they share: 0 is free, `self` is this process. NULL: there is one process again. */
void memory_share(uint32_t *lock, uint32_t self);

/* For a fault at `address`: opens its chunk. TOUCH_FAULT: there is none to open. */
enum touch { TOUCH_OPENED, TOUCH_FAULT, TOUCH_LIMIT };
enum touch memory_touch(uint64_t address);

/* All of [address, end) is mapped, may be written if that is asked for, and was touched before by
 * somebody: no access to it can fail. */
bool memory_allows(uint64_t address, uint64_t end, bool write);

/* What is wrong with an access to `address`, for a person; static text. */
const char *memory_describe(uint64_t address, bool write);

/* Pages of the program that cudaHostRegister made pinned: at addresses of its own choosing. */
bool memory_is_registered(uint64_t address);

#endif
