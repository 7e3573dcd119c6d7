/* SPDX-License-Identifier: MIT
 * cold.h: with VGPU_COLD=1 what a program does for the first time takes its host thread longer, by
 * the times in the node description under "cold". Each function adds its time to the clock in the
 * reply.
 */
#ifndef VGPU_COLD_H
#define VGPU_COLD_H

#include "connection.h"

/* Reads VGPU_COLD. */
void cold_start(void);

void cold_launch(struct connection *c, int device);
void cold_copy(struct connection *c, int from, int to);
void cold_peer(struct connection *c);
void cold_pool(struct connection *c, int device);

/* At the end of a request: contexts that it has made. */
void cold_contexts(struct connection *c);

#endif
