/* SPDX-License-Identifier: MIT
 * served.h: a node without its main, in a child of the test, and programs that talk to it over
 * socket pairs.
 */
#ifndef TEST_UNIT_SERVED_H
#define TEST_UNIT_SERVED_H

#include <sys/types.h>
#include <sys/un.h>

#include "request.h"

enum { SERVED_PROGRAMS = 2 };

struct served {
    pid_t node;
    int socket[SERVED_PROGRAMS];
    uint64_t clock_ps[SERVED_PROGRAMS];
    struct sockaddr_un listener; /* served_join */
    int fd;                      /* goes with the next request; -1: none does */
    union reply reply;           /* the last one */
};

/* Starts a node on hgx-h200-4. */
void served_start(struct served *s);

/* The program has a connection that the node has accepted, in place of its socket pair. */
void served_join(struct served *s, int program);

/* Sends `bytes` of `q` and waits for the reply. Its error code; -1: none came (the node has closed
 * the connection). */
int served_send(struct served *s, int program, const void *q, size_t bytes);
int served_ask(struct served *s, int program, struct vgpu_request *q);
int served_hello(struct served *s, int program);

/* The programs leave; NULL: the node ended in order. */
const char *served_end(struct served *s);

#endif
