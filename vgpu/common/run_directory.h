/* SPDX-License-Identifier: MIT
 * run_directory.h: where nodes are found: the run directory and the socket of a node id.
 */
#ifndef VGPU_RUN_DIRECTORY_H
#define VGPU_RUN_DIRECTORY_H

#include <stddef.h>

/* The run directory ($XDG_RUNTIME_DIR/vgpu, else /tmp/vgpu-<uid>), made with mode 0700 where it is
 * missing. 0, or -1 with a sentence in `error` (a directory of somebody else is refused). */
int vgpu_run_dir(char *path, size_t room, char *error, size_t error_room);

/* Path of the socket of node `id`: letters, digits, '.', '_' and '-' only, at most 64. Same
 * results. */
int vgpu_socket_path(const char *id, char *path, size_t room, char *error, size_t error_room);

#endif
