/* SPDX-License-Identifier: MIT
 * server.c: see server.h. Single-threaded: a request is answered at once, or its connection waits.
 */
#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "at_doors.h"
#include "codes.h"
#include "cold.h"
#include "connection.h"
#include "counts.h"
#include "host_store.h"
#include "hostcall.h"
#include "idle_flush.h"
#include "op.h"
#include "order.h"
#include "time_bound.h"
#include "process.h"
#include "reply.h"
#include "request.h"
#include "checks.h"
#include "trace.h"
#include "vmm_export.h"
#include "wire.h"

#define MAX_EVENTS 64 /* events handled in one round */
#define RETRY_MS 5
#define IDLE_MS                                                                                    \
    2 /* time without events after which host functions that no call waits for are called */
#define FIRST_CLIENT_MS                                                                            \
    30000 /* if no client has connected by then, the program that started the node has died */

_Static_assert(offsetof(struct vgpu_reply, data) % 8 == 0, "replies carry structs in data");

static int kept_fd = -1; /* see accept_without_room */

bool server_start(void)
{
    kept_fd = fcntl(server_state.info_fd, F_DUPFD_CLOEXEC, 3);
    process_watch(connections_are_gone);
    host_store_observe();
    cold_start();
    return connections_start() && vmm_export_ends() >= 0 &&
           connections_watch(EPOLL_CTL_ADD, vmm_export_ends(), EPOLLIN, NULL);
}

/* The index of the connection; -1: it has been removed. Indices change, since the last connection
 * takes the index of a removed one. */
static int connection_number(const struct connection *c)
{
    for (int i = 0; i < connection_count(); i++)
        if (connection_at(i) == c)
            return i;
    return -1;
}

static void drop_connection(struct connection *c)
{
    struct process *process = c->process;
    idle_flush_stir();
    host_store_left(c);
    connection_remove(connection_number(c));
    if (process && --process->connections == 0)
        process_end(process);
}

/* Counts a reply that is about to be sent. A program that reads each reply before its next request
 * never has more than one unread. */
static void count_unread(struct connection *c)
{
    if (socket_is_empty(c->socket))
        c->unread = 0;
    usage_at_least(&connection_usage(c)->unread, ++c->unread);
}

/* Puts the reply into the door of a thread that waits there, which has read the last one. */
static bool put_reply(struct connection *c)
{
    struct vgpu_reply *r = &c->reply.r;
    if (!c->door || c->reply_fds > 0)
        return false;
    struct vgpu_door *door = owner_door(&c->process->memory, c->door);
    if (vgpu_door_is_watched(door))
        at_doors_open(c);
    if (!vgpu_door_put(door, r, sizeof *r + r->data_bytes))
        return false;
    usage_at_least(&connection_usage(c)->unread, 1);
    return true;
}

/* Never blocks. A client that does not read its replies is sent an error and then removed. */
static bool send_reply(struct connection *c)
{
    struct vgpu_reply *r = &c->reply.r;
    if (put_reply(c))
        return true;
    bool reads = socket_is_read(c->socket);
    count_unread(c);
    if (!reads) {
        c->reply_fds = 0;
        r->data_bytes = 0;
        request_fail(c, VGPU_UNKNOWN,
                     "the program has sent the virtual node many requests and read no answers: the "
                     "connection is closed");
    }
    size_t bytes = sizeof *r + r->data_bytes;
    return vgpu_send_now(c->socket, r, bytes, c->reply_fd, c->reply_fds) == 0 && reads;
}

/* Completes the request and sends the reply; false: the connection is closed. */
static bool send_answer(struct connection *c)
{
    request_finish(c);
    struct vgpu_reply *r = &c->reply.r;
    bool costs = !c->request.q.free && c->request.q.op != VGPU_OP_HELLO;
    if (c->process && costs && c->process->trace.timeline_fd >= 0)
        trace_call(server_state.trace, c->process, connection_thread(c), &c->request.q,
                   r->clock_ps);
    bool sent = send_reply(c);
    if (c->reply_fd_ours)
        close(c->reply_fd[0]);
    c->reply_fds = 0;
    c->reply_fd_ours = false;
    if (c->request_fd >= 0)
        close(c->request_fd);
    c->request_fd = -1;
    time_bound_answered(c, costs ? r->clock_ps : c->request.q.clock_ps);
    if (!c->witness)
        idle_flush_stir();
    return sent;
}

/* True if what the request of `c` waits for has happened. */
static bool is_done(struct connection *c)
{
    if (c->takes) {
        c->takes = !hostcall_next(c->process, &c->reply.r.value);
        node_counts.completion_checks += !c->takes;
        return !c->takes;
    }
    if (time_bound_take_due(c))
        request_handle(c);
    if (!c->wait.op)
        return !c->time.asks;
    c->wait.effect = c->wait.op->carried || order_carry_out(c->wait.op) == PROGRESS_DONE;
    return c->wait.effect && (c->wait.until == WAIT_EFFECT || c->wait.op->finished);
}

static void drain_others(const struct connection *except);

/* True if a message of `got` bytes is a request; counts it for its program. */
static bool is_request(struct connection *c, ssize_t got)
{
    struct vgpu_usage *usage = connection_usage(c);
    const struct vgpu_request *q = &c->request.q;
    bool came = got > 0 || (got < 0 && errno == EMSGSIZE);
    bool whole = got >= (ssize_t)sizeof *q && q->data_bytes == (size_t)got - sizeof *q;
    usage->requests += came && !c->witness;
    usage->malformed += came && !whole;
    return whole;
}

/* Handles what has arrived, `got` bytes or an error. False: the connection has ended. */
static bool serve_message(struct connection *c, ssize_t got)
{
    if (!is_request(c, got))
        return false;
    time_bound_called(c);
    if (!c->witness) /* a witness only observes */
        idle_flush_stir();
    if (!request_enter(c))
        return send_answer(c);
    time_bound_read(c);
    if (c->process)
        host_store_called(c);
    if (c->time.asks)
        return true; /* serve_waiting continues it */
    if (c->witness)
        drain_others(c);
    order_look(server_state.order);
    request_handle(c);
    return c->wait.op || c->takes || send_answer(c);
}

/* Reads and handles one request. False: the connection has ended. */
static bool serve_request(struct connection *c)
{
    int fds = 1;
    if (!c->process)
        c->sender = vgpu_sender(c->socket);
    ssize_t got =
        vgpu_receive(c->socket, &c->request, sizeof c->request, &c->request_fd, &fds, MSG_DONTWAIT);
    if (fds == 0)
        c->request_fd = -1;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return true;
    at_doors_close(c);
    return serve_message(c, got);
}

static void answer_done(void)
{
    for (int i = connection_count() - 1; i >= 0; i--) {
        struct connection *c = connection_at(i);
        if ((connection_is_busy(c) || c->takes) && is_done(c) && !send_answer(c))
            drop_connection(c);
    }
}

/* Answers all requests whose wait is over. */
static void serve_waiting(void)
{
    order_look(server_state.order);
    do
        answer_done();
    while (time_bound_step());
}

static void drain_connection(struct connection *c)
{
    ssize_t got = at_doors_read(c, false);
    if (got >= 0 && !serve_message(c, got)) {
        drop_connection(c);
        return;
    }
    while (socket_is_readable(c->socket) && !connection_owes_answer(c))
        if (!serve_request(c)) {
            drop_connection(c);
            return;
        }
}

/* Handles all messages that other connections have sent, so that a witness sees their effect.
 * Another connection that becomes a witness meanwhile does not call this recursively, which would
 * remove connections during the iteration. */
static void drain_others(const struct connection *except)
{
    static bool draining;
    if (draining)
        return;
    draining = true;
    for (int i = connection_count() - 1; i >= 0; i--) {
        struct connection *c = connection_at(i);
        if (c != except && !connection_owes_answer(c) && !c->witness)
            drain_connection(c);
    }
    draining = false;
}

/* Reports a deadlock: kernels wait for each other, and every host thread waits for them. */
static void end_deadlock(struct process *process, const char *why)
{
    char who[800], text[1000];
    order_describe(process->order, who, sizeof who);
    snprintf(text, sizeof text, "deadlock: %s, and no kernel can go on. %s", why, who);
    order_stalled(process, checks_stalled);
    process_fail(process, VGPU_LAUNCH_TIMEOUT, text);
    order_abandon(process);
}

/* Threads may wait for each other in ways unknown to the node (pthread_join). Such a deadlock is
 * recognised by the absence of calls and of processor use. */
static void look_for_deadlock(void)
{
    static uint64_t steps;
    if (!connections_any_busy()) {
        idle_flush_stir();
        return;
    }
    if (order_steps(server_state.order) != steps)
        idle_flush_stir();
    steps = order_steps(server_state.order);
    const char *why = idle_flush_hopeless(time_bound_all_wait());
    for (int i = 0; i < connection_count() && why; i++)
        if (connection_at(i)->wait.op && connection_at(i)->process)
            end_deadlock(connection_at(i)->process, why);
    if (why)
        idle_flush_stir();
}

/* Tells a new client that it cannot be served. */
static void refuse_newcomer(int socket, const char *why)
{
    static struct connection refused;
    refused.reply.r = (struct vgpu_reply){.error = VGPU_OUT_OF_MEMORY};
    snprintf(refused.reply.r.explain, sizeof refused.reply.r.explain, "%s", why);
    vgpu_send_now(socket, &refused.reply.r, sizeof refused.reply.r, NULL, 0);
    close(socket);
}

bool server_add(int socket)
{
    struct connection *c = connection_add(socket, NULL);
    if (c)
        time_bound_answered(c, 0);
    else if (connections_are_full())
        refuse_newcomer(socket, "too many programs and threads use the virtual node");
    else
        refuse_newcomer(socket, "the virtual node is out of memory, and takes no other program");
    return c;
}

/* If no descriptor is left to accept a client, it would stay in the queue and wake the node again
 * and again. So one descriptor is reserved: it is used to accept the client and refuse it. */
static void accept_without_room(int listener)
{
    close(kept_fd);
    int socket = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (socket >= 0)
        refuse_newcomer(socket, "the virtual node has no descriptors left for another program or "
                                "thread: raise the limit (ulimit -Hn) before it starts, or end "
                                "programs that use it");
    kept_fd = fcntl(server_state.info_fd, F_DUPFD_CLOEXEC, 3);
}

static void accept_one(int listener)
{
    int socket = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (socket < 0 && (errno == EMFILE || errno == ENFILE))
        accept_without_room(listener);
    else if (socket >= 0)
        server_add(socket);
}

/* How long to wait for events, in ms. */
static double round_timeout_ms(void)
{
    if (time_bound_timeout_ms() > 0)
        return time_bound_timeout_ms();
    if (connections_any_busy())
        return RETRY_MS;
    if (hostcall_pending())
        return IDLE_MS;
    return connection_count() ? idle_flush_timeout_ms() : FIRST_CLIENT_MS;
}

static void run_idle_work(void)
{
    hostcall_push();
    /* Work that a kernel waits for may be work that no call waits for. */
    if (!connections_any_busy() || order_any_stalled(server_state.order))
        idle_flush();
}

/* Connections that wait for a reply are only watched for their end, and for a second request. */
static void update_watches(void)
{
    for (int i = 0; i < connection_count(); i++) {
        struct connection *c = connection_at(i);
        uint32_t events = EPOLLIN | (connection_is_busy(c) ? EPOLLRDHUP : 0);
        if (events != c->events && connections_watch(EPOLL_CTL_MOD, c->socket, events, c))
            c->events = events;
    }
}

/* A client that sends a request before the last reply violates the protocol. Such messages must not
 * stay unread: they could contain anything, even the other end of their own connection, which would
 * keep the node alive. */
static bool has_second_request(const struct connection *c)
{
    if (!socket_is_readable(c->socket))
        return false;
    connection_usage(c)->malformed += !socket_hung_up(c->socket);
    if (!socket_hung_up(c->socket) && c->process)
        process_fail(c->process, VGPU_UNKNOWN,
                     "the program sent the virtual node a request on a connection whose last one "
                     "was not answered yet, which the runtime never does: the connection is "
                     "closed");
    return true;
}

/* Handles an event of `c`, which may have been removed by now, or be no connection. */
static void handle_event(struct connection *c)
{
    if (connection_number(c) < 0)
        return;
    bool over = connection_owes_answer(c) ? socket_hung_up(c->socket) || has_second_request(c)
                                          : !serve_request(c);
    if (over)
        drop_connection(c);
}

/* True if an exported descriptor may have been closed. */
static bool tells_of_export(const struct epoll_event *event, int count)
{
    bool tells = count == MAX_EVENTS; /* there may be more events than these */
    for (int i = 0; i < count; i++)
        tells |= !event[i].data.ptr;
    return tells;
}

/* A connection whose other end is closed: serves what was sent before that, and removes it. */
static void end_connection(struct connection *c)
{
    if (connection_owes_answer(c))
        drop_connection(c);
    else
        drain_connection(c);
}

/* Handles events of sockets, but for those of `except`. epoll lists a connection that was served
 * lately before one that ended since, though its request came after that end: so what ended comes
 * first, and a call finds freed what a program had that ended before the call was made. */
static void handle_events(const struct epoll_event *event, int count,
                          const struct connection *except)
{
    if (tells_of_export(event, count))
        vmm_export_reap();
    for (int i = 0; i < count; i++)
        if (event[i].events & EPOLLHUP && connection_number(event[i].data.ptr) >= 0 &&
            event[i].data.ptr != except)
            end_connection(event[i].data.ptr);
    for (int i = 0; i < count; i++)
        if (event[i].data.ptr != except)
            handle_event(event[i].data.ptr);
}

static bool any_other_process(const struct connection *c)
{
    for (int i = 0; i < connection_count(); i++)
        if (connection_at(i)->process != c->process)
            return true;
    return false;
}

/* A request at a door must not overtake what came by a socket before it was made: the end of
 * another process, or of an exported descriptor. (The other threads of its own process have got
 * their answers.) */
static void handle_events_before(const struct connection *asks)
{
    struct epoll_event event[MAX_EVENTS];
    if (vmm_export_any() || any_other_process(asks))
        handle_events(event, connections_await(event, MAX_EVENTS, 0), asks);
}

/* Serves a request that lay at the connection's door. */
static void serve_at_door(struct connection *c, ssize_t got)
{
    handle_events_before(c);
    if (connection_number(c) >= 0 && !serve_message(c, got))
        drop_connection(c);
}

/* One round: waits for events, handles requests, and continues those that wait. Connections that
 * have ended are removed before new ones are accepted: when the last program has ended, the next
 * one is not accepted and starts a node of its own, perhaps with another description. */
static void serve_round(int *listener)
{
    struct epoll_event event[MAX_EVENTS];
    bool served = connection_count() > 0, newcomer = false;
    update_watches();
    int count = 0;
    if (!at_doors_serve(serve_at_door)) {
        count = connections_await(event, MAX_EVENTS, round_timeout_ms());
        if (count == 0)
            run_idle_work();
    }
    for (int i = 0; i < count; i++)
        newcomer |= event[i].data.ptr == listener;
    handle_events(event, count, NULL);
    if (newcomer && (!served || connection_count() > 0 || vmm_export_any()))
        accept_one(*listener);
    serve_waiting();
    look_for_deadlock();
}

void server_loop(int listener)
{
    if (listener >= 0) {
        vgpu_tell_sender(listener);
        if (!connections_watch(EPOLL_CTL_ADD, listener, EPOLLIN, &listener)) {
            perror("vgpu-node: cannot wait for programs (epoll)");
            return;
        }
    }
    do
        serve_round(&listener);
    while (connection_count() > 0 || vmm_export_any());
}
