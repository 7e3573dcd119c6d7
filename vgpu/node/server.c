/* SPDX-License-Identifier: MIT
 * server.c: see server.h. One thread; a request is answered at once or its connection waits.
 */
#define _GNU_SOURCE
#include "server.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "codes.h"
#include "hostcall.h"
#include "idle.h"
#include "order.h"
#include "process.h"
#include "sim.h"
#include "vmm_export.h"
#include "wire.h"

#define MAX_CONNECTIONS 1024
#define MAX_EXPORTS 256 /* that are watched; the rest is looked at whenever there is work */
#define RETRY_MS 5
#define IDLE_MS 2             /* then host functions are called that nobody waits for */
#define FIRST_CLIENT_MS 30000 /* whoever started the node must have died */
#define SILENT_S 0.05         /* a thread that has made no call for so long may wait, too */

_Static_assert(offsetof(struct vgpu_reply, data) % 8 == 0, "replies carry structs in data");

static const struct topology *topology;
static int info_fd, node_cpu;
static struct connection *connections[MAX_CONNECTIONS];
static int connection_count;

void server_start(const struct topology *t, int info, int cpu)
{
    topology = t;
    info_fd = info;
    node_cpu = cpu;
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

static struct connection *add(int socket, struct process *process)
{
    struct connection *c = connection_count < MAX_CONNECTIONS ? calloc(1, sizeof *c) : NULL;
    if (!c) {
        close(socket);
        return NULL;
    }
    c->socket = socket;
    c->request_fd = -1;
    c->process = process;
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

bool server_add_thread(int socket, struct process *process)
{
    return add(socket, process) != NULL;
}

static void drop(int index)
{
    struct connection *c = connections[index];
    idle_stir();
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

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
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
    c->answered = seconds();
    if (!c->witness)
        idle_stir();
    return sent == 0;
}

static bool readable(int socket)
{
    struct pollfd p = {.fd = socket, .events = POLLIN};
    return poll(&p, 1, 0) > 0;
}

/* A thread that makes no call may be about to, or may wait for another one that waits for us, in
 * pthread_join, say: nobody tells us. After this long it counts as waiting. */
static bool is_silent(const struct connection *c)
{
    return seconds() - c->answered > SILENT_S && !readable(c->socket);
}

/* Whether every host thread waits for us, or may do so. */
static bool all_wait(bool or_may)
{
    for (int i = 0; i < connection_count; i++) {
        const struct connection *c = connections[i];
        if (c->works && !c->wait && !c->takes && !(or_may && is_silent(c)))
            return false;
    }
    return true;
}

/* Lets time pass until what `c` waits for is finished. */
static bool finish(const struct connection *c)
{
    while (sim_finish(c->wait) != PROGRESS_DONE)
        if (!all_wait(true) || !sim_pass_by())
            return false;
    return true;
}

/* Lets the operation that `c` waits for happen. True when the reply can go. */
static bool advance(struct connection *c)
{
    if (c->takes) {
        c->takes = !hostcall_next(c->process, &c->reply.r.value);
        return !c->takes;
    }
    if (!c->wait)
        return true;
    return order_carry_out(c->wait) == PROGRESS_DONE && (c->until == WAIT_EFFECT || finish(c));
}

/* Reads and handles one request. False: the connection is over. */
static bool serve(struct connection *c)
{
    int fds = 1;
    struct vgpu_request *q = &c->request.q;
    ssize_t got =
        vgpu_receive(c->socket, &c->request, sizeof c->request, &c->request_fd, &fds, MSG_DONTWAIT);
    if (fds == 0)
        c->request_fd = -1;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return true;
    if (got < (ssize_t)sizeof *q || q->data_bytes != (size_t)got - sizeof *q)
        return false;
    order_look();
    request_handle(c);
    if (!c->witness) /* it only looks on */
        idle_stir();
    return !advance(c) || answer(c);
}

/* Those whose wait is over get their answer. */
static void serve_waiting(void)
{
    order_look();
    for (int i = connection_count - 1; i >= 0; i--)
        if ((connections[i]->wait || connections[i]->takes) &&
            (hung_up(connections[i]->socket) ||
             (advance(connections[i]) && !answer(connections[i]))))
            drop(i);
}

static bool any_waiting(void)
{
    for (int i = 0; i < connection_count; i++)
        if (connections[i]->wait)
            return true;
    return false;
}

void server_drain(const struct connection *except)
{
    for (int i = connection_count - 1; i >= 0; i--) {
        struct connection *c = connections[i];
        if (c == except || c->wait || c->witness)
            continue;
        while (readable(c->socket) && !c->wait)
            if (!serve(c)) {
                drop(i);
                break;
            }
    }
}

/* Kernels wait for each other, and every host thread for them. */
static void end_deadlock(struct process *process, const char *why)
{
    char who[400], text[600];
    order_describe(who, sizeof who);
    snprintf(text, sizeof text, "deadlock: %s, and no kernel can go on. %s", why, who);
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
    const char *why = idle_hopeless(all_wait(false));
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
static int patience_ms(void)
{
    if (any_waiting())
        return RETRY_MS;
    if (hostcall_pending())
        return IDLE_MS;
    return connection_count ? idle_patience_ms() : FIRST_CLIENT_MS;
}

static void nobody_calls(void)
{
    hostcall_push();
    if (!any_waiting())
        idle_look();
}

/* One round: waits for something to read, reads it, lets waiting ones go on. */
static void serve_round(int listener)
{
    static struct pollfd polled[MAX_CONNECTIONS + 1 + MAX_EXPORTS];
    static struct connection *asked[MAX_CONNECTIONS];
    int n = 0;
    for (int i = 0; i < connection_count; i++)
        if (!connections[i]->wait) {
            asked[n] = connections[i];
            polled[n++] = (struct pollfd){.fd = connections[i]->socket, .events = POLLIN};
        }
    polled[n] = (struct pollfd){.fd = listener, .events = POLLIN};
    int exported = vmm_export_poll(polled + n + 1, MAX_EXPORTS);
    if (poll(polled, (nfds_t)(n + 1 + exported), patience_ms()) == 0)
        nobody_calls();
    vmm_export_reap();
    for (int i = 0; i < n; i++) {
        if (!polled[i].revents)
            continue;
        for (int k = 0; k < connection_count; k++) /* it may be gone by now (drained) */
            if (connections[k] == asked[i]) {
                if (!serve(asked[i]))
                    drop(k);
                break;
            }
    }
    if (polled[n].revents)
        accept_one(listener);
    serve_waiting();
    look_for_deadlock();
}

void server_loop(int listener)
{
    do
        serve_round(listener);
    while (connection_count > 0 || vmm_export_any());
}
