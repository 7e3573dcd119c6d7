/* SPDX-License-Identifier: MIT
 * connection.h: who talks to the node: one connection for each host thread of each program, and for
 * each witness.
 */
#ifndef VGPU_CONNECTION_H
#define VGPU_CONNECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "op.h"
#include "process.h"
#include "protocol.h"

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

/* What a call waits for before it is answered. */
struct connection_wait {
    struct op *op;   /* the reply goes out when this is finished; a reference, until then */
    enum wait until; /* or as this says */
    bool effect;     /* it has been carried out */
    uint64_t object; /* what the request is about: request_same */
    bool waited;     /* it has */
};

struct connection_time { /* time_bound.c */
    uint64_t seen_ps;    /* the node's clock when its last answer went out */
    uint64_t clock_ps;   /* its thread's clock then: it issues nothing earlier */
    bool asks, due;      /* its call is handled when time has come to the caller's clock; now */
    struct thread_hold hold;
};

struct connection {
    int socket;
    uint32_t events;    /* of epoll, that are waited for */
    bool first_witness; /* of this node: the one that started it */
    bool witness;
    bool works;  /* a host thread calls through it; the first one of a process may only hand out
                    others */
    bool worked; /* and has done so */
    bool takes;  /* its thread calls host functions, and waits for the next one */
    struct process *process; /* after VGPU_OP_HELLO; it lives as long as its connections do */
    pid_t sender;            /* whose first message this is, where there is no process yet */

    union request request; /* being answered */
    int request_fd;        /* came with it, -1: none */
    union reply reply;
    int reply_fd[MAX_REPLY_FDS], reply_fds;
    uint64_t unread;    /* replies since one was sent to a socket with nothing unread in it */
    bool reply_fd_ours; /* close reply_fd[0] after sending */

    struct connection_wait wait;
    struct connection_time time;
};

/* Makes the place where sockets are waited for. False: errno says why. */
bool connections_start(void);

/* The connection of this number, from 0 on; NULL: there are not so many. */
struct connection *connection_at(int number);
int connection_count(void);
bool connections_are_full(void);

/* Adds a connection; NULL when there is no room, or errno says why: the socket stays the caller's,
 * else it becomes ours. */
struct connection *connection_add(int socket, struct process *process);

/* Closes and frees it; the last one gets its number. */
void connection_remove(int number);

/* Tells when there is something to read from `fd`, or when a descriptor that nothing is read from
 * is closed elsewhere (`events` 0); `what` comes with it. False: too many are watched. */
bool connections_watch(int how, int fd, uint32_t events, void *what);

/* What there is to read, within `ms` (-1: for ever): how many events, 0: none came. */
struct epoll_event;
int connections_await(struct epoll_event *event, int most, double ms);

/* What is so of the socket, without waiting. */
bool socket_is_readable(int socket);
bool socket_hung_up(int socket);
bool socket_is_read(int socket);  /* its other end has read the last answer */
bool socket_is_empty(int socket); /* nothing that was sent lies unread; true where unknown */

/* What the program of this connection has asked for so far. */
struct vgpu_usage *connection_usage(const struct connection *c);

/* It has made a call that is not answered: nothing more comes from there. */
bool connection_is_busy(const struct connection *c);

/* It has asked, and has no answer yet. */
bool connection_owes_answer(const struct connection *c);

bool connections_any_busy(void);
bool connections_any_witness(void);

/* The program of this process has closed all its connections (seen without reading them). */
bool connections_are_gone(const struct process *process);

#endif
