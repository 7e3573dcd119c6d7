/* SPDX-License-Identifier: MIT
 * server_state.c: see server_state.h.
 */
#include "server_state.h"

static struct server_state current_state;

const struct server_state *server_state(void)
{
    return &current_state;
}

void server_state_set(const struct server_state *state)
{
    current_state = *state;
}
