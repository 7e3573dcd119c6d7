/* SPDX-License-Identifier: MIT
 * cold.h: with VGPU_COLD=1 what a program does for the first time costs its host more, as long as
 * the description of the node says under "cold". Each adds to the clock in the reply.
 */
#ifndef VGPU_COLD_H
#define VGPU_COLD_H

#include "connection.h"

void cold_launch(struct connection *c, int device);
void cold_copy(struct connection *c, int from, int to);
void cold_peer(struct connection *c);
void cold_pool(struct connection *c, int device);

/* At the end of a request: contexts that it has made. */
void cold_contexts(struct connection *c);

#endif
