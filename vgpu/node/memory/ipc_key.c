/* SPDX-License-Identifier: MIT
 * ipc_key.c: see ipc_key.h.
 */
#include "ipc_key.h"

#include <string.h>
#include <sys/random.h>

bool ipc_key_make(struct ipc_key *key, const char *magic)
{
    memcpy(key->magic, magic, sizeof key->magic);
    return getrandom(key->secret, sizeof key->secret, 0) == sizeof key->secret;
}

void ipc_key_write(uint8_t handle[IPC_HANDLE_BYTES], const struct ipc_key *key)
{
    memset(handle, 0, IPC_HANDLE_BYTES);
    memcpy(handle, key, sizeof *key);
}

bool ipc_key_is(const uint8_t handle[IPC_HANDLE_BYTES], const struct ipc_key *key)
{
    uint8_t whole[IPC_HANDLE_BYTES];
    ipc_key_write(whole, key);
    return memcmp(handle, whole, sizeof whole) == 0;
}
