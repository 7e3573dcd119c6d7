/* SPDX-License-Identifier: MIT
 * spawner.h: starts, signals and ends the processes of contexts, and queries the operating system
 * about programs. The node does this itself; a node in a jail (jail.h), which has no access to
 * files and processes, uses a helper process that was forked before the jail was entered. The
 * helper does not trust its requests: it signals only contexts that it has started, starts them
 * only with a socket pair made by the node, and examines only descendants of the process that
 * started the node.
 */
#ifndef VGPU_NODE_SPAWNER_H
#define VGPU_NODE_SPAWNER_H

#include <stdbool.h>
#include <sys/types.h>

#include "quiescence.h"

/* Sets the program of contexts. They get their socket as descriptor 3. */
void spawner_set_program(const char *exec_path);

/* Starts the helper process, which does everything from now on. `leftover`: a file that it removes
 * when the node has ended. False: failed. */
bool spawner_leave(const char *leftover);

/* Starts a context with this socket. Returns its process id, or -1 with errno. */
pid_t spawner_start(int socket);
/* spawner_hang ends the context's kernel (VGPU_EXEC_HANG_SIGNAL), spawner_end the context itself.
 */
void spawner_hang(pid_t context);
void spawner_end(pid_t context);

/* quiescence_of, through the helper if there is one. */
enum quiescence spawner_quiescence(const pid_t *pid, int count);

#endif
