/* SPDX-License-Identifier: MIT
 * server.c: see server.h. One thread; a request is answered at once or its connection waits.
 */
#define _GNU_SOURCE
#include "server.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "codes.h"
#include "host_store.h"
#include "hostcall.h"
#include "hazard.h"
#include "idle.h"
#include "order.h"
#include "passing.h"
#include "process.h"
#include "sim.h"
#include "vmm_export.h"
#include "wire.h"

#define MAX_CONNECTIONS 1024
#define MAX_EVENTS 64 /* taken in one round; the rest in the next */
#define RETRY_MS 5
#define IDLE_MS 2             /* then host functions are called that nobody waits for */
#define FIRST_CLIENT_MS 30000 /* whoever started the node must have died */

_Static_assert(offsetof(struct vgpu_reply, data) % 8 == 0, "replies carry structs in data");

static const struct topology *topology;
static int info_fd, node_cpu;
static int watch_fd; /* epoll: connections, the listener, what was exported */
static struct connection *connections[MAX_CONNECTIONS];
static int connection_count;

/* Tells when there is something to read, or when a descriptor that nothing is read from is closed
 * elsewhere; `what` comes with it. `events` 0: that it is closed only. False: too many are watched.
 */
static bool watch(int how, int fd, uint32_t events, void *what)
{
    struct epoll_event event = {.events = events, .data = {.ptr = what}};
    return epoll_ctl(watch_fd, how, fd, &event) == 0;
}

void server_start(const struct topology *t, int info, int cpu)
{
    topology = t;
    info_fd = info;
    node_cpu = cpu;
    watch_fd = epoll_create1(EPOLL_CLOEXEC);
    if (!watch(EPOLL_CTL_ADD, vmm_export_ends(), EPOLLIN, NULL)) {
        perror("vgpu-node: cannot wait for anything (epoll)");
        exit(1);
    }
}

const struct vgpu_node_info *server_info(void)
{
    return &topology->info;
}

const struct topology *server_topology(void)
{
    return topology;
}

int server_info_fd(void)
{
    return info_fd;
}

int server_cpu(void)
{
    return node_cpu;
}

struct connection *server_connection(int number)
{
    return number < connection_count ? connections[number] : NULL;
}

static struct connection *add(int socket, struct process *process)
{
    struct connection *c = connection_count < MAX_CONNECTIONS ? calloc(1, sizeof *c) : NULL;
    if (!c || !watch(EPOLL_CTL_ADD, socket, EPOLLIN, c)) {
        free(c);
        close(socket);
        return NULL;
    }
    c->events = EPOLLIN;
    c->socket = socket;
    c->request_fd = -1;
    c->process = process;
    vgpu_tell_sender(socket);
    c->seen_ps = sim_now();
    if (process)
        process->connections++;
    connections[connection_count++] = c;
    return c;
}

bool server_add(int socket)
{
    return add(socket, NULL) != NULL;
}

bool server_add_thread(int socket, struct process *process, uint64_t clock_ps)
{
    struct connection *c = add(socket, process);
    if (c) {
        c->works = true;
        c->clock_ps = clock_ps;
    }
    return c;
}

static void drop(int index)
{
    struct connection *c = connections[index];
    idle_stir();
    host_store_left(c);
    watch(EPOLL_CTL_DEL, c->socket, 0, NULL);
    connections[index] = connections[--connection_count];
    close(c->socket);
    if (c->request_fd >= 0)
        close(c->request_fd);
    op_drop(c->wait);
    if (c->process && --c->process->connections == 0)
        process_end(c->process);
    free(c);
}

static bool hung_up(int socket)
{
    struct pollfd p = {.fd = socket, .events = POLLRDHUP};
    return poll(&p, 1, 0) > 0 && (p.revents & (POLLRDHUP | POLLHUP | POLLERR));
}

bool server_watched(void)
{
    for (int i = 0; i < connection_count; i++)
        if (connections[i]->witness)
            return true;
    return false;
}

bool server_is_gone(const struct process *process)
{
    for (int i = 0; i < connection_count; i++)
        if (connections[i]->process == process && !hung_up(connections[i]->socket))
            return false;
    return true;
}

/* Sends the reply; false when the other side is gone. */
static bool answer(struct connection *c)
{
    request_finish(c);
    struct vgpu_reply *r = &c->reply.r;
    int sent = vgpu_send(c->socket, r, sizeof *r + r->data_bytes, c->reply_fd, c->reply_fds);
    if (c->reply_fd_ours)
        close(c->reply_fd[0]);
    c->reply_fds = 0;
    c->reply_fd_ours = false;
    if (c->request_fd >= 0)
        close(c->request_fd);
    c->request_fd = -1;
    c->seen_ps = sim_now();
    c->clock_ps = c->request.q.free ? c->request.q.clock_ps : r->clock_ps;
    if (!c->witness)
        idle_stir();
    return sent == 0;
}

static bool readable(int socket)
{
    struct pollfd p = {.fd = socket, .events = POLLIN};
    return poll(&p, 1, 0) > 0;
}

/* It has made a call that is not answered: nothing more comes from there. */
static bool is_busy(const struct connection *c)
{
    return c->wait || c->asks || c->due;
}

/* Whether the reply to `c` can go, once what it asked for has happened. */
static bool is_done(struct connection *c)
{
    if (c->takes) {
        c->takes = !hostcall_next(c->process, &c->reply.r.value);
        return !c->takes;
    }
    if (c->due) {
        c->due = false;
        request_handle(c);
    }
    if (!c->wait)
        return !c->asks;
    c->effect = order_carry_out(c->wait) == PROGRESS_DONE;
    return c->effect && (c->until == WAIT_EFFECT || c->wait->finished);
}

/* Reads and handles one request. False: the connection is over. */
static bool serve(struct connection *c)
{
    int fds = 1;
    struct vgpu_request *q = &c->request.q;
    if (!c->process)
        c->sender = vgpu_sender(c->socket);
    ssize_t got =
        vgpu_receive(c->socket, &c->request, sizeof c->request, &c->request_fd, &fds, MSG_DONTWAIT);
    if (fds == 0)
        c->request_fd = -1;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return true;
    if (got < (ssize_t)sizeof *q || q->data_bytes != (size_t)got - sizeof *q)
        return false;
    c->held = (struct held){0};
    if (!c->witness) /* it only looks on */
        idle_stir();
    c->asks = c->process && passing_asks(c);
    if (c->process)
        host_store_called(c);
    if (c->asks)
        return true; /* serve_waiting goes on with it */
    order_look();
    request_handle(c);
    return c->wait || c->takes || answer(c);
}

static void answer_done(void)
{
    for (int i = connection_count - 1; i >= 0; i--) {
        struct connection *c = connections[i];
        if ((is_busy(c) || c->takes) && is_done(c) && !answer(c))
            drop(i);
    }
}

/* Those whose wait is over get their answer. */
static void serve_waiting(void)
{
    order_look();
    do
        answer_done();
    while (passing_step());
}

static bool any_waiting(void)
{
    for (int i = 0; i < connection_count; i++)
        if (is_busy(connections[i]))
            return true;
    return false;
}

void server_drain(const struct connection *except)
{
    for (int i = connection_count - 1; i >= 0; i--) {
        struct connection *c = connections[i];
        if (c == except || is_busy(c) || c->witness)
            continue;
        while (readable(c->socket) && !is_busy(c))
            if (!serve(c)) {
                drop(i);
                break;
            }
    }
}

/* Kernels wait for each other, and every host thread for them. */
static void end_deadlock(struct process *process, const char *why)
{
    char who[800], text[1000];
    order_describe(who, sizeof who);
    snprintf(text, sizeof text, "deadlock: %s, and no kernel can go on. %s", why, who);
    order_stalled(process, hazard_crowded);
    process_fail(process, VGPU_LAUNCH_TIMEOUT, text);
    order_abandon(process);
}

/* Threads may wait for each other without telling us (pthread_join): then only that nobody makes a
 * call, and no program uses the processor, says that they do. */
static void look_for_deadlock(void)
{
    static uint64_t steps;
    if (!any_waiting()) {
        idle_stir();
        return;
    }
    if (order_steps() != steps)
        idle_stir();
    steps = order_steps();
    const char *why = idle_hopeless(passing_all_wait());
    for (int i = 0; i < connection_count && why; i++)
        if (connections[i]->wait && connections[i]->process)
            end_deadlock(connections[i]->process, why);
    if (why)
        idle_stir();
}

static void accept_one(int listener)
{
    int socket = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (socket >= 0)
        server_add(socket);
}

/* How long there may be nothing to read. */
static double patience_ms(void)
{
    if (passing_patience_ms() > 0)
        return passing_patience_ms();
    if (any_waiting())
        return RETRY_MS;
    if (hostcall_pending())
        return IDLE_MS;
    return connection_count ? idle_patience_ms() : FIRST_CLIENT_MS;
}

static void nobody_calls(void)
{
    hostcall_push();
    if (!any_waiting() || order_any_stalled()) /* what it waits for may be what nobody asks for */
        idle_look();
}

/* Nothing is read from those who wait for us: of them only the end is of interest. */
static void watch_for_what_counts(void)
{
    for (int i = 0; i < connection_count; i++) {
        struct connection *c = connections[i];
        uint32_t events = is_busy(c) ? EPOLLRDHUP : EPOLLIN;
        if (events != c->events && watch(EPOLL_CTL_MOD, c->socket, events, c))
            c->events = events;
    }
}

/* How many events there are: 0 when nothing came for as long as there is patience. */
static int await_events(struct epoll_event *event)
{
    double ms = patience_ms();
    struct pollfd any = {.fd = watch_fd, .events = POLLIN};
    struct timespec patience = {(time_t)(ms / 1e3), (long)(fmod(ms, 1e3) * 1e6)};
    if (ms >= 0 && ppoll(&any, 1, &patience, NULL) == 0) /* epoll_wait knows milliseconds only */
        return 0;
    int count = epoll_wait(watch_fd, event, MAX_EVENTS, ms < 0 ? -1 : 0);
    return count > 0 ? count : 0;
}

static int number_of(const struct connection *c)
{
    for (int i = 0; i < connection_count; i++)
        if (connections[i] == c)
            return i;
    return -1;
}

/* What has come from `c`, which may be gone by now (drained). */
static void take(struct connection *c)
{
    int number = number_of(c);
    if (number >= 0 && (is_busy(c) ? hung_up(c->socket) : !serve(c)))
        drop(number_of(c));
}

/* One round: waits for something to read, reads it, lets waiting ones go on. */
static void serve_round(int *listener)
{
    struct epoll_event event[MAX_EVENTS];
    watch_for_what_counts();
    int count = await_events(event);
    if (count == 0)
        nobody_calls();
    vmm_export_reap();
    for (int i = 0; i < count; i++)
        if (event[i].data.ptr == listener)
            accept_one(*listener);
        else if (event[i].data.ptr)
            take(event[i].data.ptr);
    serve_waiting();
    look_for_deadlock();
}

void server_loop(int listener)
{
    if (listener >= 0) {
        vgpu_tell_sender(listener);
        if (!watch(EPOLL_CTL_ADD, listener, EPOLLIN, &listener)) {
            perror("vgpu-node: cannot wait for programs (epoll)");
            return;
        }
    }
    do
        serve_round(&listener);
    while (connection_count > 0 || vmm_export_any());
}
