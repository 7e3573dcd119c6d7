/* SPDX-License-Identifier: MIT
 * run_directory.h: the run directory, and the paths of nodes' sockets in it.
 */
#ifndef VGPU_RUN_DIRECTORY_H
#define VGPU_RUN_DIRECTORY_H

#include <stddef.h>

/* Stores the path of the run directory ($XDG_RUNTIME_DIR/vgpu, else /tmp/vgpu-<uid>), which is
 * created with mode 0700 if it is missing. Returns 0, or -1 with a message in `error`, for example
 * if the directory belongs to another user. */
int vgpu_run_dir(char *path, size_t room, char *error, size_t error_room);

/* Stores the path of the socket of node `id`, which may have at most 64 characters: letters,
 * digits, '.', '_' and '-'. Returns as above. */
int vgpu_socket_path(const char *id, char *path, size_t room, char *error, size_t error_room);

#endif
