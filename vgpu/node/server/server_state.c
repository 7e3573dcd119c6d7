/* SPDX-License-Identifier: MIT
 * server_state.c: see server.h.
 */
#include "server.h"

struct server_state server_state;
