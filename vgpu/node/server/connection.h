/* SPDX-License-Identifier: MIT
 * connection.h: connections to the node: one for each host thread of each program, and one for each
 * witness.
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

/* How long a call makes its caller wait, which also determines the caller's clock afterwards. */
enum wait {
    WAIT_END, /* until the operation has finished; then the host thread is woken */
    /* Copy from a large pageable source: until its last chunk has been read, just before the end.
     */
    WAIT_HANDOVER,
    /* Only until the operation's effect on memory, at no virtual time: its source may then be
     * reused. */
    WAIT_EFFECT
};

/* What must happen before a call is answered. */
struct connection_wait {
    struct op *op;   /* the operation waited for; holds a reference; NULL: none */
    enum wait until; /* see enum wait */
    bool effect;     /* the effect has been carried out */
    uint64_t object; /* serial number of the request's object, see request_same */
    bool waited;     /* the wait is over */
};

/* Which recordings of other programs' events the thread has waited for: it has received a message
 * about each (request_stream.c). */
struct connection_heard {
    struct {
        uint64_t event, recordings;
    } of[8];
    unsigned next; /* is replaced next */
};

/* State of time_bound.c. */
struct connection_time {
    uint64_t seen_ps; /* the node's virtual time when the last reply was sent */
    /* The thread's clock at that time: the thread issues no work earlier than this. */
    uint64_t clock_ps;
    /* asks: the call is handled once virtual time has reached the caller's clock; due: it has. */
    bool asks, due;
    struct thread_hold hold;
};

struct connection {
    int socket;
    /* Number of the door for its replies (owner_door), behind which is the one for its requests; 0:
     * none. */
    int door;
    bool looked_at;     /* the next request may lie at its door: at_doors.c */
    uint32_t events;    /* epoll events registered for the socket */
    bool first_witness; /* the witness that started this node */
    bool witness;
    /* A host thread makes calls through it. The first connection of a process may only hand out
     * others. */
    bool works;
    bool worked;     /* `works` has been true */
    int handed_out;  /* connections for other processes, VGPU_PROGRAMS_MAX at most */
    uint32_t thread; /* number of its thread in the program; 0: none yet */
    /* Its thread calls host functions, and is waiting for the next one. */
    bool takes;
    struct process *process; /* set by VGPU_OP_HELLO; exists as long as its connections */
    pid_t sender;            /* sender of the first message, if there is no process yet */

    union request request; /* the request in progress */
    int request_fd;        /* descriptor received with it; -1: none */
    union reply reply;
    int reply_fd[MAX_REPLY_FDS], reply_fds;
    /* Replies sent since the socket was last seen empty. */
    uint64_t unread;
    bool reply_fd_ours; /* close reply_fd[0] after sending */

    struct connection_wait wait;
    struct connection_time time;
    struct connection_heard heard;
};

/* Makes the epoll instance. False, with errno: failed. */
bool connections_start(void);

/* The connection with this index, from 0 on; NULL: there are fewer. */
struct connection *connection_at(int number);
int connection_count(void);
bool connections_are_full(void);

/* Adds a connection, which owns the socket. NULL: the table is full, or errno is set; the socket
 * remains the caller's. */
struct connection *connection_add(int socket, struct process *process);

/* Closes and frees the connection; the last one of the table takes its index. */
void connection_remove(int number);

/* epoll_ctl with operation `how`: reports when `fd` can be read or, with `events` 0, when a
 * descriptor that is not read is closed by its peer. `what` is returned with the event. False: too
 * many are watched. */
bool connections_watch(int how, int fd, uint32_t events, void *what);

/* Waits up to `ms` (-1: no limit) for events; returns their number, 0: none. */
struct epoll_event;
int connections_await(struct epoll_event *event, int most, double ms);
bool connections_any_event(void); /* without waiting */

/* State of the socket, without waiting. */
bool socket_is_readable(int socket);
bool socket_hung_up(int socket);
bool socket_is_read(int socket);  /* the peer has read the last reply */
bool socket_is_empty(int socket); /* the peer has read everything; true if unknown */

/* Counters of the program of this connection. */
struct vgpu_usage *connection_usage(const struct connection *c);

/* The number of its thread in the program, in order of first calls, from 1 on. */
uint32_t connection_thread(struct connection *c);

/* A call waits for an operation or for virtual time, so no other request comes from this
 * connection. */
bool connection_is_busy(const struct connection *c);

/* A request has not been answered yet. */
bool connection_owes_answer(const struct connection *c);

bool connections_any_busy(void);
bool connections_any_witness(void);

/* The program of this process has closed all its connections (checked without reading from them).
 */
bool connections_are_gone(const struct process *process);

#endif
