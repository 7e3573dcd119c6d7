/* SPDX-License-Identifier: MIT
 * call.c: one request and its reply; what every call does before and after its own work.
 */
#define _GNU_SOURCE
#include "guard.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "carry.h"
#include "text.h"
#include "wire.h"

#define SILENCE_LIMIT_S 60

/* ---- messages ---- */

static bool node_is_gone(const char *call, const char *what)
{
    if (!atomic_exchange(&vgpu__process.lost, true))
        vgpu__say(call,
                  "the virtual node is gone (%s): this and all later calls fail with "
                  "cudaErrorUnknown (999); run the program again, and if it happens again look "
                  "at what vgpu-node prints",
                  what);
    return false;
}

void vgpu__limit_silence(int fd)
{
    struct timeval limit = {.tv_sec = SILENCE_LIMIT_S};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
}

void vgpu__speak_when_asked(int fd)
{
    struct timeval never = {0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &never, sizeof never);
}

static bool would_block(ssize_t got)
{
    return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

/* What came, or did not: sentences about it. */
static bool is_whole(const struct vgpu_request *request, struct vgpu_reply *reply, ssize_t got)
{
    if (got <= 0)
        return node_is_gone(request->call, got == 0 ? "it closed the connection" : strerror(errno));
    size_t head = offsetof(struct vgpu_reply, data);
    if ((size_t)got < head || (size_t)got - head < reply->data_bytes)
        return node_is_gone(request->call, "its reply was cut short");
    reply->explain[sizeof reply->explain - 1] = '\0';
    return true;
}

static ssize_t wait_for_reply(int fd, const struct vgpu_request *request, struct vgpu_reply *reply,
                              int *fds, int *fd_count)
{
    ssize_t got;
    int room = fd_count ? *fd_count : 0;
    do {
        if (fd_count)
            *fd_count = room;
        got = vgpu_receive(fd, reply, VGPU_MSG_MAX, fds, fd_count, 0);
        if (would_block(got))
            vgpu__say(request->call, "still waiting for the virtual node after %d s",
                      SILENCE_LIMIT_S);
    } while (would_block(got));
    return got;
}

/* On the node's CPU the node runs when something is sent, or when the sender makes way: most
 * replies are there then, and nobody need sleep and be woken up. */
static ssize_t take_quick_reply(int fd, struct vgpu_reply *reply, int *fds, int *fd_count)
{
    int room = fd_count ? *fd_count : 0;
    ssize_t got = vgpu_receive(fd, reply, VGPU_MSG_MAX, fds, fd_count, MSG_DONTWAIT);
    if (!would_block(got))
        return got;
    sched_yield();
    if (fd_count)
        *fd_count = room;
    got = vgpu_receive(fd, reply, VGPU_MSG_MAX, fds, fd_count, MSG_DONTWAIT);
    if (fd_count && would_block(got))
        *fd_count = room;
    return got;
}

/* A thread that has to wait does so on the node's CPU (pin.c). */
static bool receive(int fd, const struct vgpu_request *request, struct vgpu_reply *reply, int *fds,
                    int *fd_count, struct vgpu__pin *pin)
{
    bool waits = pin->pinned || !vgpu__is_near_node();
    ssize_t got = 0;
    if (!waits) {
        got = take_quick_reply(fd, reply, fds, fd_count);
        waits = would_block(got);
        if (waits)
            vgpu__pin(pin);
    }
    if (waits)
        got = wait_for_reply(fd, request, reply, fds, fd_count);
    return is_whole(request, reply, got);
}

bool vgpu__exchange(int fd, const struct vgpu_request *request, int send_fd,
                    struct vgpu_reply *reply, int *fds, int *fd_count)
{
    struct vgpu__pin pin = {.pinned = false};
    bool ok = false;
    if (!vgpu__is_near_node())
        vgpu__pin(&pin);
    if (vgpu_send(fd, request, sizeof *request + request->data_bytes, &send_fd, send_fd >= 0) != 0)
        node_is_gone(request->call, strerror(errno));
    else
        ok = receive(fd, request, reply, fds, fd_count, &pin);
    vgpu__unpin(&pin);
    return ok;
}

/* ---- before a call ---- */

cudaError_t vgpu__enter(void)
{
    cudaError_t error = vgpu__start();
    if (error == cudaSuccess)
        vgpu__clock_set(vgpu__self.clock_ps + vgpu__process.info->issue_ps);
    return error;
}

static cudaError_t ready(void)
{
    cudaError_t error = vgpu__start();
    if (error != cudaSuccess)
        return error;
    if (atomic_load(&vgpu__process.forked))
        return cudaErrorInitializationError;
    if (vgpu__self.in_host_function)
        return cudaErrorNotPermitted;
    return vgpu__wire() ? cudaSuccess : cudaErrorUnknown;
}

struct vgpu_request *vgpu__begin(const char *call, uint32_t op)
{
    if (vgpu__record(ready()) != cudaSuccess)
        return NULL;
    if (atomic_load_explicit(&vgpu__capturing, memory_order_relaxed) &&
        vgpu__capture_gate(call, op) != cudaSuccess)
        return NULL;
    vgpu__context_used();
    struct vgpu_request *request = (struct vgpu_request *)vgpu__self.wire->request;
    *request = (struct vgpu_request){.op = op,
                                     .device = vgpu__process.physical[vgpu__self.device],
                                     .peer = -1,
                                     .graph = vgpu__self.graph,
                                     .unheard = vgpu__threads_unheard(),
                                     .caller = vgpu__caller(),
                                     .clock_ps = vgpu__self.clock_ps};
    vgpu_text_copy(request->call, sizeof request->call, call);
    vgpu__blame_call(call);
    return request;
}

cudaError_t vgpu__failed(void)
{
    return vgpu__self.last_error;
}

/* ---- the call ---- */

struct vgpu_reply *vgpu__aside(struct vgpu_request *request)
{
    struct vgpu__wire *wire = vgpu__wire();
    struct vgpu_reply *reply = wire ? (struct vgpu_reply *)wire->text : NULL;
    request->peer = -1;
    request->unheard = vgpu__threads_unheard();
    request->free = true;
    request->clock_ps = vgpu__self.clock_ps;
    if (!wire || atomic_load(&vgpu__process.lost) ||
        !vgpu__exchange(wire->fd, request, -1, reply, NULL, NULL))
        return NULL;
    if (reply->explain[0])
        vgpu__explain(request->call, reply->explain);
    return reply;
}

/* What kernels printed goes to stdout, in the order in which the node has it. */
static void print_text(void)
{
    struct vgpu_request request = {.op = VGPU_OP_PRINTF, .call = "printf of kernels"};
    const struct vgpu_reply *text;
    do {
        text = vgpu__aside(&request);
        if (!text)
            return;
        fwrite(text->data, 1, text->data_bytes, stdout);
    } while (text->text_waiting && text->data_bytes > 0);
    fflush(stdout);
}

static void keep_time(uint64_t clock_ps)
{
    vgpu__clock_set(clock_ps);
    uint64_t latest = atomic_load_explicit(&vgpu__process.latest_ps, memory_order_relaxed);
    while (latest < clock_ps &&
           !atomic_compare_exchange_weak(&vgpu__process.latest_ps, &latest, clock_ps))
        ;
}

/* The next finding in `text`, or its end. */
static char *next_finding(char *text)
{
    char *at = text;
    while ((at = strchr(at, '\n')))
        if (strncmp(++at, "finding: ", 9) == 0 || strncmp(at, "advice: ", 8) == 0)
            return at;
    return text + strlen(text);
}

void vgpu__explain(const char *call, const char *explain)
{
    char text[2800];
    if (vgpu__quiet())
        return;
    vgpu__unmark(explain, text, sizeof text);
    for (char *at = text, *next; *at; at = next) {
        next = next_finding(at);
        if (next[-1] == '\n')
            next[-1] = '\0';
        vgpu__say(call, "%s", at);
    }
}

static cudaError_t ask(int fd, bool free_of_charge, const struct vgpu_reply **out, int *fds,
                       int *fd_count)
{
    struct vgpu__wire *wire = vgpu__self.wire;
    struct vgpu_request *request = (struct vgpu_request *)wire->request;
    struct vgpu_reply *reply = (struct vgpu_reply *)wire->reply;
    request->free = free_of_charge || vgpu__self.graph;
    vgpu__guard_before_call();
    if (atomic_load(&vgpu__process.lost) ||
        !vgpu__exchange(wire->fd, request, fd, reply, fds, fd_count))
        return cudaErrorUnknown;
    if (!free_of_charge)
        keep_time(reply->clock_ps);
    if (reply->explain[0])
        vgpu__explain(request->call, reply->explain);
    vgpu__guard_after_call(request, reply);
    if (reply->text_waiting)
        print_text();
    if (out)
        *out = reply;
    return (cudaError_t)reply->error;
}

cudaError_t vgpu__ask(int fd, bool free_of_charge, const struct vgpu_reply **out)
{
    return ask(fd, free_of_charge, out, NULL, NULL);
}

cudaError_t vgpu__ask_fds(int *fds, int *count)
{
    return vgpu__record(ask(-1, false, NULL, fds, count));
}

cudaError_t vgpu__end(const struct vgpu_reply **reply)
{
    return vgpu__record(vgpu__ask(-1, false, reply));
}
