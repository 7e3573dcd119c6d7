/* SPDX-License-Identifier: MIT
 * spawner.h: starting, signalling and ending the processes of contexts, and asking the operating
 * system what programs do. The node does this itself; a node in a jail (jail.h), which has neither
 * files nor processes, asks a process beside it that was forked before the jail closed. That one
 * trusts no order: it signals only contexts that it started, starts them only with a socket pair of
 * the node's own, and looks only at what descends from the process that started the node.
 */
#ifndef VGPU_NODE_SPAWNER_H
#define VGPU_NODE_SPAWNER_H

#include <stdbool.h>
#include <sys/types.h>

#include "quiescence.h"

/* What contexts are started with, and how many descriptors they get: the socket is their 3. */
void spawner_set_program(const char *exec_path);

/* From now on a process of its own does it. `leftover`: a file that goes when the node has gone.
 * False: it cannot be made. */
bool spawner_leave(const char *leftover);

/* Starts a context with this socket. Its process, or -1 with errno. */
pid_t spawner_start(int socket);
/* Ends its kernel (VGPU_EXEC_HANG_SIGNAL); ends it. */
void spawner_hang(pid_t context);
void spawner_end(pid_t context);

/* quiescence_of, for those who may not look themselves. */
enum quiescence spawner_quiescence(const pid_t *pid, int count);

#endif
