/* SPDX-License-Identifier: MIT
 * node.h: a node out of its rooms.
 */
#ifndef VGPU_NODE_H
#define VGPU_NODE_H

#include <stdbool.h>

#include "server.h"
#include "topology.h"

/* Makes the states of the rooms, registers who observes operations, and starts the server. Once,
 * with the memory already there (memory_start); the topology stays the caller's. False: errno says
 * why. */
bool node_start(const struct topology *topology, int info_fd, int node_cpu);

/* As node_start made it. */
const struct server_state *node_state(void);

#endif
