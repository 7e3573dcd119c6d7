/* SPDX-License-Identifier: MIT
 * wire.c: one message, one call; see wire.h.
 */
#include "wire.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

union control {
    char room[CMSG_SPACE(sizeof(int) * VGPU_WIRE_FDS) + CMSG_SPACE(sizeof(struct ucred))];
    struct cmsghdr align;
};

static int send_message(int socket, const void *message, size_t bytes, const int *fds, int fd_count,
                        int flags)
{
    struct iovec part = {(void *)message, bytes};
    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
    union control control;
    if (fd_count > VGPU_WIRE_FDS) {
        errno = EINVAL;
        return -1;
    }
    if (fd_count > 0) {
        memset(&control, 0, sizeof control);
        header.msg_control = control.room;
        header.msg_controllen = CMSG_SPACE(sizeof(int) * (size_t)fd_count);
        struct cmsghdr *rights = CMSG_FIRSTHDR(&header);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(sizeof(int) * (size_t)fd_count);
        memcpy(CMSG_DATA(rights), fds, sizeof(int) * (size_t)fd_count);
    }
    ssize_t sent;
    do
        sent = sendmsg(socket, &header, MSG_NOSIGNAL | flags);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)bytes ? 0 : -1;
}

int vgpu_send(int socket, const void *message, size_t bytes, const int *fds, int fd_count)
{
    return send_message(socket, message, bytes, fds, fd_count, 0);
}

int vgpu_send_now(int socket, const void *message, size_t bytes, const int *fds, int fd_count)
{
    return send_message(socket, message, bytes, fds, fd_count, MSG_DONTWAIT);
}

/* Stores the descriptors of one control message; those that do not fit are closed. */
static void take_fds(struct cmsghdr *rights, int *fds, int *count, int room)
{
    int got = (int)((rights->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    for (int i = 0; i < got; i++) {
        int fd;
        memcpy(&fd, CMSG_DATA(rights) + sizeof(int) * (size_t)i, sizeof fd);
        if (fds && *count < room)
            fds[(*count)++] = fd;
        else
            close(fd);
    }
}

/* If a peer closes the connection with unread messages, the socket reports a reset once, before the
 * messages that the peer had sent, which can still be read. So a reset is retried once. */
static ssize_t receive_message(int socket, struct msghdr *header, int flags)
{
    ssize_t got;
    bool again, reset = false;
    do {
        got = recvmsg(socket, header, flags);
        again = got < 0 && (errno == EINTR || (errno == ECONNRESET && !reset));
        reset |= got < 0 && errno == ECONNRESET;
    } while (again);
    return got;
}

pid_t vgpu_sender(int socket)
{
    union {
        char room[CMSG_SPACE(sizeof(struct ucred))];
        struct cmsghdr align;
    } control;
    struct msghdr header = {.msg_control = control.room, .msg_controllen = sizeof control.room};
    struct ucred sender = {0};
    if (receive_message(socket, &header, MSG_PEEK | MSG_DONTWAIT | MSG_CMSG_CLOEXEC) < 0)
        return 0;
    struct cmsghdr *c = CMSG_FIRSTHDR(&header);
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS)
        memcpy(&sender, CMSG_DATA(c), sizeof sender);
    return sender.pid;
}

void vgpu_tell_sender(int socket)
{
    int on = 1;
    setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
}

ssize_t vgpu_receive(int socket, void *message, size_t room, int *fds, int *fd_count, int flags)
{
    struct iovec part = {message, room};
    union control control;
    struct msghdr header = {.msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = control.room,
                            .msg_controllen = sizeof control.room};
    ssize_t got = receive_message(socket, &header, MSG_CMSG_CLOEXEC | flags);
    int count = 0, limit = fds ? *fd_count : 0;
    if (got >= 0)
        for (struct cmsghdr *c = CMSG_FIRSTHDR(&header); c; c = CMSG_NXTHDR(&header, c))
            if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
                take_fds(c, fds, &count, limit);
    if (fd_count)
        *fd_count = count;
    if (got > 0 && (header.msg_flags & MSG_TRUNC)) {
        errno = EMSGSIZE;
        return -1;
    }
    return got;
}
