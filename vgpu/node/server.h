/* SPDX-License-Identifier: MIT
 * server.h: connections: who talks to the node, and who waits for what.
 */
#ifndef VGPU_SERVER_H
#define VGPU_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "op.h"
#include "process.h"
#include "protocol.h"
#include "topology.h"

#define MAX_REPLY_FDS 2

union request {
    struct vgpu_request q;
    char room[VGPU_MSG_MAX];
};

union reply {
    struct vgpu_reply r;
    char room[VGPU_MSG_MAX];
};

/* Until when a call keeps its caller, and what the caller's clock says then. */
enum wait {
    WAIT_END,      /* until the operation is over; then the host wakes up */
    WAIT_HANDOVER, /* a large pageable source: until its last chunk is taken, just before the end */
    WAIT_EFFECT    /* in no time: the operation's effect alone, what it took from is free again */
};

/* One host thread of a program, or a witness. */
struct connection {
    int socket;
    uint32_t events; /* of epoll, that are waited for */
    bool witness;
    bool works;  /* a host thread calls through it; the first one of a process may only hand out
                    others */
    bool worked; /* and has done so */
    struct process *process; /* after VGPU_OP_HELLO */
    pid_t sender;            /* whose first message this is, where there is no process yet */
    union request request;   /* being answered */
    int request_fd;          /* came with it, -1: none */
    union reply reply;
    int reply_fd[MAX_REPLY_FDS], reply_fds;
    bool reply_fd_ours; /* close reply_fd[0] after sending */
    struct op *wait;    /* the reply goes out when this is finished */
    enum wait until;    /* or as this says */
    bool effect;        /* what it waits for has been carried out */
    bool asks, due;     /* its call is handled when time has come to the caller's clock; now */
    bool takes;         /* its thread calls host functions, and waits for the next one */
    uint64_t seen_ps;   /* the node's clock when its last answer went out */
    uint64_t clock_ps;  /* its thread's clock then: it issues nothing earlier */
    struct held held;   /* passing.c */
};

void server_start(const struct topology *topology, int info_fd, int node_cpu);
const struct vgpu_node_info *server_info(void);
const struct topology *server_topology(void);
int server_info_fd(void);
int server_cpu(void);

/* The connection of this number, from 0 on; NULL: there are not so many. */
struct connection *server_connection(int number);

/* Adds a connection; false when there is no room. The socket becomes the server's. */
bool server_add(int socket);
/* Another thread of a program, whose clock this is. */
bool server_add_thread(int socket, struct process *process, uint64_t clock_ps);

/* Serves until the last connection is gone, and with it the last exported descriptor. `listener`
 * may be -1. */
void server_loop(int listener);

/* The program of this process has closed all its connections (seen without reading them). */
bool server_watched(void); /* by a witness */
bool server_is_gone(const struct process *process);

/* Answers all that other connections have sent, so that a witness sees everything. */
void server_drain(const struct connection *except);

/* request.c: fills connection->reply; sets connection->wait when the answer has to wait. */
void request_handle(struct connection *connection);

/* request.c: what is left to do when the wait is over. */
void request_finish(struct connection *connection);

#endif
