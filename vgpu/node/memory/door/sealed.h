/* SPDX-License-Identifier: MIT
 * sealed.h: memory of the process that started the node (a verifier), at VGPU_SEALED_VA for all
 * programs. They can have it copied to and from GPUs but cannot map it; nor does any context.
 */
#ifndef VGPU_SEALED_H
#define VGPU_SEALED_H

#include <stdbool.h>
#include <stdint.h>

/* Maps a memory file that cannot shrink: its first `readable` bytes are sources of copies to GPUs,
 * the others targets of copies from GPUs. Once per node. False: the reason is in `why`. */
bool sealed_take(int fd, uint64_t readable, const char **why);

bool sealed_is(uint64_t address);
/* The number of bytes from `address` on that a copy may read (or write); 0: none. */
uint64_t sealed_reach(uint64_t address, bool reads);
/* The node's mapping of [address, +bytes); NULL if it is not sealed memory. */
uint8_t *sealed_view(uint64_t address, uint64_t bytes);

#endif
