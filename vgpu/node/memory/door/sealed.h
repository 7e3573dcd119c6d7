/* SPDX-License-Identifier: MIT
 * sealed.h: memory of whoever started the node (a verifier), at VGPU_SEALED_VA for all programs:
 * they can have it copied to GPUs and from GPUs, and see none of it. No context maps it.
 */
#ifndef VGPU_SEALED_H
#define VGPU_SEALED_H

#include <stdbool.h>
#include <stdint.h>

/* Maps a memory file that cannot shrink: its first `readable` bytes are for copies to GPUs, the
 * others for copies from GPUs. Once for each node. False: `why` says what is wrong. */
bool sealed_take(int fd, uint64_t readable, const char **why);

bool sealed_is(uint64_t address);
/* How many bytes from the address on a copy may read (or write); 0: none. */
uint64_t sealed_reach(uint64_t address, bool reads);
/* The node's view of [address, +bytes), NULL if it is not sealed memory. */
uint8_t *sealed_view(uint64_t address, uint64_t bytes);

#endif
