/* SPDX-License-Identifier: MIT
 * commit.h: the context's share of committing device memory: parts of a chunk that nobody has
 * touched get pages, filled with VGPU_POISON, as long as the node's limit permits.
 */
#ifndef VGPU_EXEC_COMMIT_H
#define VGPU_EXEC_COMMIT_H

#include "exec.h"

#define WHOLE_CHUNK (~(uint32_t)0)

/* The bits of a chunk's committed parts. */
uint32_t committed_parts(int32_t device, uint64_t chunk);

/* Whether so many bytes more are far below the limit, also if other contexts commit some meanwhile.
 */
bool commit_has_room(uint64_t bytes);

/* Commits those of a chunk's parts that are not. False: over the limit. */
bool commit_parts(int32_t device, uint64_t chunk, uint32_t parts);

#endif
