/* SPDX-License-Identifier: MIT
 * mapped_memory.h: memory mapped by this context, and the first touch of device memory.
 */
#ifndef VGPU_EXEC_MAPPED_MEMORY_H
#define VGPU_EXEC_MAPPED_MEMORY_H

#include "exec.h"

/* Performs the node's requests; false and a reason in `why` on failure. */
bool memory_attach(const struct vgpu_exec_request *request, const int *fds, int fd_count, char *why,
                   uint64_t room);
bool memory_map(const struct vgpu_exec_request *request, char *why, uint64_t room);
bool memory_unmap(uint64_t va, uint64_t bytes, char *why, uint64_t room);

/* Closes chunks that were freed since they were opened, so that their next touch is a first one. */
void memory_review(void);

/* After a kernel: delivers its stores to peers that lose some (VGPU_MAP_TEARS_STORES,
 * VGPU_MAP_CLIPS_STORES). */
void memory_deliver_torn(void);

/* After a fork: closes all open chunks; the fork would otherwise fault on every page. */
void memory_reopen(void);

/* From here on several processes commit chunks, under *lock, which lies in shared memory: 0 is
 * free, `self` is this process. NULL: only this process again. */
void memory_share(uint32_t *lock, uint32_t self);

/* Handles a fault at `address`, the first touch of a part of a chunk: opens that part. TOUCH_FAULT:
 * no device memory is mapped there, or the part was open. TOUCH_LIMIT: it cannot be committed. */
enum touch { TOUCH_OPENED, TOUCH_FAULT, TOUCH_LIMIT };
enum touch memory_touch(uint64_t address);

/* Whether all of [address, end) is mapped, writable if `write`, and touched already, or the node's
 * memory is less than half of its limit: no access to it can fault. */
bool memory_allows(uint64_t address, uint64_t end, bool write);

/* The same, but perhaps not touched yet. */
bool memory_is_mapped(uint64_t address, uint64_t end, bool write);

/* Identifies the byte at `address` in all contexts of the node, whatever address it has there; of
 * the host's memory in all contexts of a program. 0: memory of no such kind. */
uint64_t memory_home(uint64_t address);
bool memory_home_is_host(uint64_t home);

/* Describes why an access to `address` is invalid; static text. */
const char *memory_describe(uint64_t address, bool write);

/* Whether `address` is in pages pinned by cudaHostRegister, at an address that the program
 * chose. */
bool memory_is_registered(uint64_t address);

#endif
