/* SPDX-License-Identifier: MIT
 * server.h: serves programs and witnesses: one request at a time, in one thread.
 */
#ifndef VGPU_SERVER_H
#define VGPU_SERVER_H

#include <stdbool.h>

struct checks;
struct order;
struct sim;
struct trace;

struct server_state {
    struct order *order;
    struct sim *sim;
    struct checks *checks;
    struct trace *trace;
    int info_fd;  /* the node's description, for newcomers */
    int node_cpu; /* that it runs on; -1: on any */
};

/* False: errno says why. */
bool server_start(const struct server_state *state);

/* Adds a connection; false when there is no room, and the program has been told so. The socket
 * becomes the server's. */
bool server_add(int socket);

/* Serves until the last connection is gone, and with it the last exported descriptor. `listener`
 * may be -1. */
void server_loop(int listener);

#endif
