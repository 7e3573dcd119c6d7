/* SPDX-License-Identifier: MIT
 * at_doors.h: requests of threads that watch their doors (vgpu/api/core/watching.c). After such a
 * reply the node looks for the next request for a short time, before it sleeps.
 */
#ifndef VGPU_AT_DOORS_H
#define VGPU_AT_DOORS_H

#include <stdbool.h>
#include <sys/types.h>

#include "connection.h"

/* Before a reply to a thread that watches its door: its next request may lie at the other one. */
void at_doors_open(struct connection *c);

/* Reads what lies at open doors, and calls `serve` for it, which may remove the connection. Looks
 * for a short time, unless something else has happened. True: something was served. False: no door
 * is open any more, so the node may sleep. */
bool at_doors_serve(void (*serve)(struct connection *c, ssize_t got));

/* Reads what lies at the door of one connection. -1: nothing; `last`: the door is closed then. */
ssize_t at_doors_read(struct connection *c, bool last);

/* A request has come by the socket. One at the door, too, would be a second one: it is dropped. */
void at_doors_close(struct connection *c);

#endif
