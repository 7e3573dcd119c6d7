/* SPDX-License-Identifier: MIT
 * node.h: assembles a node from its rooms.
 */
#ifndef VGPU_NODE_H
#define VGPU_NODE_H

#include <stdbool.h>

#include "server.h"
#include "topology.h"

/* Makes the states of the rooms, registers the observers of operations, and starts the server. Call
 * it once, after memory_start; the topology remains the caller's. False, with errno: failed. */
bool node_start(const struct topology *topology, int info_fd, int node_cpu);

#endif
