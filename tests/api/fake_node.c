/* SPDX-License-Identifier: MIT
 * fake_node.c: see fake_node.h.
 */
#include "fake_node.h"

#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "expect.h"
#include "wire.h"

#define SOCKETS 8

static struct pollfd sockets[SOCKETS];
static int socket_count;
static fake_handler handler;

static int memory_file(const void *content, size_t bytes)
{
    int fd = memfd_create("fake", MFD_CLOEXEC);
    EXPECT(fd >= 0 && ftruncate(fd, (off_t)bytes) == 0);
    EXPECT(!content || write(fd, content, bytes) == (ssize_t)bytes);
    return fd;
}

static void add_socket(int fd)
{
    EXPECT(socket_count < SOCKETS);
    sockets[socket_count++] = (struct pollfd){.fd = fd, .events = POLLIN};
}

static int hello(union fake_reply *reply, int *fds)
{
    struct vgpu_node_info info = {.device_count = 2, .driver_version = 13000};
    for (int d = 0; d < 2; d++)
        info.device[d] = (struct vgpu_device_info){.sm_count = 2,
                                                   .max_threads_per_sm = 2048,
                                                   .max_blocks_per_sm = 32,
                                                   .shared_per_block = 49152,
                                                   .shared_per_block_optin = 101376,
                                                   .shared_per_sm = 102400};
    reply->r.u.hello.protocol = VGPU_PROTOCOL;
    reply->r.u.hello.node_cpu = -1;
    fds[0] = memory_file(&info, sizeof info);
    fds[1] = memory_file(NULL, 64 << 20);
    return 2;
}

static int another_thread(int *fds)
{
    int pair[2];
    EXPECT(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
    add_socket(pair[0]);
    fds[0] = pair[1];
    return 1;
}

static bool serve(int socket)
{
    union {
        struct vgpu_request q;
        unsigned char room[VGPU_MSG_MAX];
    } request;
    union fake_reply reply;
    int got_fd = -1, got = 1, fds[2], count = 0;
    ssize_t bytes = vgpu_receive(socket, &request, sizeof request, &got_fd, &got, 0);
    if (bytes <= 0)
        return false;
    memset(&reply, 0, sizeof reply);
    if (request.q.op == VGPU_OP_HELLO)
        count = hello(&reply, fds);
    else if (request.q.op == VGPU_OP_THREAD)
        count = another_thread(fds);
    else if (request.q.op != VGPU_OP_BYE && !handler(&request.q, got ? got_fd : -1, &reply))
        return false;
    return vgpu_send(socket, &reply, sizeof reply.r + reply.r.data_bytes, fds, count) == 0;
}

static void serve_all(void)
{
    for (;;) {
        poll(sockets, (nfds_t)socket_count, -1);
        for (int i = 0; i < socket_count; i++)
            if (sockets[i].revents && !serve(sockets[i].fd))
                _exit(0);
    }
}

void fake_node_start(fake_handler handle)
{
    int pair[2];
    char text[16];
    EXPECT(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) == 0);
    handler = handle;
    if (fork() == 0) {
        close(pair[1]);
        add_socket(pair[0]);
        serve_all();
    }
    close(pair[0]);
    snprintf(text, sizeof text, "%d", pair[1]);
    setenv("VGPU_NODE_FD", text, 1);
}
