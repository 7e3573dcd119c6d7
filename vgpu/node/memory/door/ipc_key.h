/* SPDX-License-Identifier: MIT
 * ipc_key.h: the contents of handles that are passed between processes: a random key that cannot be
 * guessed.
 */
#ifndef VGPU_IPC_KEY_H
#define VGPU_IPC_KEY_H

#include <stdbool.h>
#include <stdint.h>

#define IPC_HANDLE_BYTES 64 /* CUDA_IPC_HANDLE_SIZE */

struct ipc_key { /* all zero: no key */
    char magic[8];
    uint8_t secret[16];
};

/* Makes a key; `magic` has seven letters and identifies its kind. False: no random bytes are
 * available. */
bool ipc_key_make(struct ipc_key *key, const char *magic);

void ipc_key_write(uint8_t handle[IPC_HANDLE_BYTES], const struct ipc_key *key);
bool ipc_key_is(const uint8_t handle[IPC_HANDLE_BYTES], const struct ipc_key *key);

#endif
