/* SPDX-License-Identifier: MIT
 * exchange.c: one message to the node and its reply.
 */
#include "core.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "number.h"
#include "wire.h"

#define SILENCE_LIMIT_S 60
/* So long a reply is awaited at the thread's door, and then by the socket. */
#define DOOR_MS 20
/* So long a thread watches its door before it sleeps; and if the node may have to be woken first,
 * on another processor. */
#define WATCH_US 25
#define WAKE_US 100

/* After so long a call says what it waits for. */
static int silence_seconds(void)
{
    uint64_t seconds;
    const char *text = getenv("VGPU_WAIT_SECONDS");
    return text && vgpu_number(text, 1, 86400, &seconds) ? (int)seconds : SILENCE_LIMIT_S;
}

static bool node_lost(const char *call, const char *what)
{
    if (!atomic_exchange(&vgpu__process.lost, true))
        vgpu__message(call,
                      "the virtual node is gone (%s): this and all later calls fail with "
                      "cudaErrorUnknown (999); run the program again, and if it happens again look "
                      "at what vgpu-node prints",
                      what);
    return false;
}

void vgpu__limit_silence(int fd)
{
    struct timeval limit = {.tv_sec = silence_seconds()};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
}

void vgpu__allow_silence(int fd)
{
    struct timeval never = {0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &never, sizeof never);
}

static bool would_block(ssize_t got)
{
    return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

/* True if a whole reply has arrived; otherwise marks the connection as failed, with a message. */
static bool reply_is_whole(const struct vgpu_request *request, struct vgpu_reply *reply,
                           ssize_t got)
{
    if (got <= 0)
        return node_lost(request->call, got == 0 ? "it closed the connection" : strerror(errno));
    size_t head = offsetof(struct vgpu_reply, data);
    if ((size_t)got < head || (size_t)got - head < reply->data_bytes)
        return node_lost(request->call, "its reply was cut short");
    reply->explain[sizeof reply->explain - 1] = '\0';
    return true;
}

/* Says what is waited for: the node has written what the kernel that runs has done so far. */
static void tell_wait(const char *call)
{
    char status[512] = "";
    ssize_t got = pread(vgpu__process.host_fd, status, sizeof status - 1,
                        (off_t)(VGPU_STATUS_VA - VGPU_HOST_VA));
    status[got > 0 ? got : 0] = '\0';
    vgpu__message(call, "still waiting for the virtual node after %d s%s%s", silence_seconds(),
                  status[0] ? ": " : "", status);
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
            tell_wait(request->call);
    } while (would_block(got));
    return got;
}

/* The thread is about to sleep: it is moved to the node's CPU (cpu_affinity.c) or stays there. */
static void prepare_sleep(struct vgpu__doors *doors, struct vgpu__affinity *own)
{
    if (!own->pinned && !(doors && vgpu__is_near_node() && vgpu__staying_begins(&doors->staying)))
        vgpu__affinity_to_node(own);
}

/* Receives a reply, at `door` or by the socket. */
static bool receive_reply(int fd, struct vgpu_door *door, const struct vgpu_request *request,
                          struct vgpu_reply *reply, int *fds, int *fd_count)
{
    ssize_t got = door ? vgpu_door_take(door, reply, VGPU_MSG_MAX, DOOR_MS) : -1;
    if (got < 0)
        got = wait_for_reply(fd, request, reply, fds, fd_count);
    return reply_is_whole(request, reply, got);
}

/* Sends the request, without descriptors, and watches the door. False: the request could not be
 * sent. */
static bool send_watching(int fd, struct vgpu__doors *doors, const struct vgpu_request *request)
{
    const size_t bytes = sizeof *request + request->data_bytes;
    vgpu_door_watch(doors->replies);
    bool put = vgpu_door_put(doors->requests, request, bytes);
    if (!put && vgpu_send(fd, request, bytes, NULL, 0) != 0)
        return false;
    if (vgpu_door_stare(doors->replies, put ? WATCH_US : WAKE_US))
        vgpu__watching_succeeded(&doors->watching);
    else
        vgpu__watching_failed(&doors->watching);
    return true;
}

bool vgpu__exchange(int fd, struct vgpu__doors *doors, const struct vgpu_request *request,
                    int send_fd, struct vgpu_reply *reply, int *fds, int *fd_count)
{
    struct vgpu__affinity own = {.pinned = false};
    /* descriptors come by the socket */
    struct vgpu_door *door = doors && !fd_count ? doors->replies : NULL;
    bool ok = false, sent;
    if (door && send_fd < 0 && vgpu__watching_begins(&doors->watching)) {
        sent = send_watching(fd, doors, request);
    } else {
        if (door)
            vgpu_door_open(door);
        if (!vgpu__is_near_node())
            vgpu__affinity_to_node(&own);
        sent = vgpu_send(fd, request, sizeof *request + request->data_bytes, &send_fd,
                         send_fd >= 0) == 0;
    }
    if (sent && (!door || vgpu_door_is_quiet(door)))
        prepare_sleep(doors, &own);
    if (sent)
        ok = receive_reply(fd, door, request, reply, fds, fd_count);
    else if (errno ==
             EPIPE) /* before it closed the connection, the node may have sent the reason */
        ok =
            reply_is_whole(request, reply, vgpu_receive(fd, reply, VGPU_MSG_MAX, fds, fd_count, 0));
    else
        node_lost(request->call, strerror(errno));
    vgpu__affinity_restore(&own);
    if (doors)
        vgpu__staying_ends(&doors->staying);
    if (door)
        vgpu__watching_ends(&doors->watching);
    return ok;
}
