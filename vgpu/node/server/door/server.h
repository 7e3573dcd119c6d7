/* SPDX-License-Identifier: MIT
 * server.h: serves programs and witnesses, one request at a time, in one thread.
 */
#ifndef VGPU_SERVER_H
#define VGPU_SERVER_H

#include <stdbool.h>

struct checks;
struct order;
struct sim;
struct trace;

/* The states of the other rooms that the server uses, and what it sends to new programs. */
struct server_state {
    struct order *order;
    struct sim *sim;
    struct checks *checks;
    struct trace *trace;
    int info_fd;  /* the node's description, sent to new programs */
    int node_cpu; /* CPU that the node is pinned to; -1: not pinned */
};

/* Filled by node.c before server_start, and read by this room. */
extern struct server_state server_state;

/* False, with errno: failed. */
bool server_start(void);

/* Adds a connection, and takes ownership of the socket. False: there is no room, and the program
 * has been sent an error. */
bool server_add(int socket);

/* Serves until the last connection and the last exported descriptor have been closed. `listener`: a
 * listening socket, or -1. */
void server_loop(int listener);

#endif
