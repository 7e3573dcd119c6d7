/* SPDX-License-Identifier: MIT
 * connection.c: see connection.h.
 */
#include "connection.h"

#include <errno.h>
#include <linux/sock_diag.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "wire.h"

#define MAX_CONNECTIONS 1024

static int watch_fd; /* epoll instance: connections, the listener, exported descriptors */
static struct connection *connections[MAX_CONNECTIONS];
static int open_count;

bool connections_start(void)
{
    watch_fd = epoll_create1(EPOLL_CLOEXEC);
    return watch_fd >= 0;
}

bool connections_watch(int how, int fd, uint32_t events, void *what)
{
    struct epoll_event event = {.events = events, .data = {.ptr = what}};
    return epoll_ctl(watch_fd, how, fd, &event) == 0;
}

int connections_await(struct epoll_event *event, int most, double ms)
{
    struct pollfd any = {.fd = watch_fd, .events = POLLIN};
    struct timespec timeout = {(time_t)(ms / 1e3), (long)(fmod(ms, 1e3) * 1e6)};
    if (ms >= 0 && ppoll(&any, 1, &timeout, NULL) == 0) /* epoll_wait has a resolution of 1 ms */
        return 0;
    int got = epoll_wait(watch_fd, event, most, ms < 0 ? -1 : 0);
    return got > 0 ? got : 0;
}

bool connections_any_event(void)
{
    struct pollfd any = {.fd = watch_fd, .events = POLLIN};
    return poll(&any, 1, 0) > 0;
}

struct connection *connection_at(int number)
{
    return number < open_count ? connections[number] : NULL;
}

int connection_count(void)
{
    return open_count;
}

bool connections_are_full(void)
{
    return open_count == MAX_CONNECTIONS;
}

struct connection *connection_add(int socket, struct process *process)
{
    struct connection *c = open_count < MAX_CONNECTIONS ? calloc(1, sizeof *c) : NULL;
    if (!c || !connections_watch(EPOLL_CTL_ADD, socket, EPOLLIN, c)) {
        free(c);
        return NULL;
    }
    c->events = EPOLLIN;
    c->socket = socket;
    c->request_fd = -1;
    c->process = process;
    if (process)
        process->connections++;
    else /* who sends the first message says which process this is */
        vgpu_tell_sender(socket);
    connections[open_count++] = c;
    return c;
}

void connection_remove(int number)
{
    struct connection *c = connections[number];
    connections_watch(EPOLL_CTL_DEL, c->socket, 0, NULL);
    connections[number] = connections[--open_count];
    close(c->socket);
    if (c->process)
        owner_give_door(&c->process->memory, c->door);
    if (c->request_fd >= 0)
        close(c->request_fd);
    op_drop(c->wait.op);
    free(c);
}

/* Repeats the poll after a signal. */
static int poll_now(int socket, short events)
{
    struct pollfd p = {.fd = socket, .events = events};
    int got;
    do
        got = poll(&p, 1, 0);
    while (got < 0 && errno == EINTR);
    return got > 0 ? p.revents : 0;
}

bool socket_is_readable(int socket)
{
    return poll_now(socket, POLLIN) != 0;
}

bool socket_hung_up(int socket)
{
    return poll_now(socket, POLLRDHUP) & (POLLRDHUP | POLLHUP | POLLERR);
}

/* True if three quarters of the socket's buffer are free, which they are once the client has read
 * the last reply. */
bool socket_is_read(int socket)
{
    return poll_now(socket, POLLOUT) & POLLOUT;
}

bool socket_is_empty(int socket)
{
    uint32_t info[SK_MEMINFO_VARS] = {0};
    socklen_t bytes = sizeof info;
    return getsockopt(socket, SOL_SOCKET, SO_MEMINFO, info, &bytes) != 0 ||
           info[SK_MEMINFO_WMEM_ALLOC] == 0;
}

struct vgpu_usage *connection_usage(const struct connection *c)
{
    return c->process ? c->process->usage : usage_of_newcomers();
}

uint32_t connection_thread(struct connection *c)
{
    if (c->thread == 0)
        c->thread = ++c->process->server.threads;
    return c->thread;
}

bool connection_is_busy(const struct connection *c)
{
    return c->wait.op || c->time.asks || c->time.due;
}

bool connection_owes_answer(const struct connection *c)
{
    return connection_is_busy(c) || c->takes;
}

bool connections_any_busy(void)
{
    for (int i = 0; i < open_count; i++)
        if (connection_is_busy(connections[i]))
            return true;
    return false;
}

bool connections_any_witness(void)
{
    for (int i = 0; i < open_count; i++)
        if (connections[i]->witness)
            return true;
    return false;
}

bool connections_are_gone(const struct process *process)
{
    for (int i = 0; i < open_count; i++)
        if (connections[i]->process == process && !socket_hung_up(connections[i]->socket))
            return false;
    return true;
}
