/* SPDX-License-Identifier: MIT
 * server_state.h: the states of the other rooms that the server uses, and what it sends to new
 * programs.
 */
#ifndef VGPU_SERVER_STATE_H
#define VGPU_SERVER_STATE_H

#include "checks.h"
#include "server.h"
#include "sim.h"
#include "trace.h"

/* The state passed to server_start. */
const struct server_state *server_state(void);
void server_state_set(const struct server_state *state);

#endif
