/* SPDX-License-Identifier: MIT
 * message.c: see message.h.
 */
#include "message.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "door.h"
#include "wire.h"

/* So long a context without work waits at its door, and then at the socket. */
#define DOOR_MS 100

static struct vgpu_door *asked, *answers; /* NULL: not used */

static union {
    struct vgpu_exec_reply reply;
    uint8_t room[VGPU_MSG_MAX];
} piece;

struct vgpu_exec_reply *message_piece(void)
{
    memset(&piece, 0, sizeof piece.reply);
    return &piece.reply;
}

void message_use_doors(int host_fd, int device)
{
    uint64_t first = VGPU_DOOR_VA(2 * device) - VGPU_HOST_VA;
    char *at =
        mmap(NULL, 2 * VGPU_DOOR_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, host_fd, (off_t)first);
    if (at == MAP_FAILED || !vgpu_door_may_wake((void *)at))
        return;
    asked = (void *)(at + VGPU_DOOR_ASKED * VGPU_DOOR_BYTES);
    answers = (void *)(at + VGPU_DOOR_ANSWERS * VGPU_DOOR_BYTES);
}

void message_listen(void)
{
    if (asked)
        vgpu_door_open(asked);
}

ssize_t message_receive(void *request, size_t room, int *fds, int *fd_count)
{
    ssize_t got = asked ? vgpu_door_take(asked, request, room, DOOR_MS) : -1;
    if (got < 0)
        return vgpu_receive(NODE_SOCKET, request, room, fds, fd_count, 0);
    *fd_count = 0;
    return got;
}

void message_send(const struct vgpu_exec_reply *reply)
{
    size_t bytes = sizeof *reply + reply->data_bytes;
    if (answers && vgpu_door_put(answers, reply, bytes))
        return;
    if (vgpu_send(NODE_SOCKET, reply, bytes, NULL, 0) != 0)
        _exit(0); /* the node has closed the socket */
}
