/* SPDX-License-Identifier: MIT
 * server_state.h: what the server serves with: the other rooms' states, and what newcomers get.
 */
#ifndef VGPU_SERVER_STATE_H
#define VGPU_SERVER_STATE_H

#include "checks.h"
#include "server.h"
#include "sim.h"
#include "trace.h"

/* As server_start was given it. */
const struct server_state *server_state(void);
void server_state_set(const struct server_state *state);

#endif
