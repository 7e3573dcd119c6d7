/* SPDX-License-Identifier: MIT
 * message.c: see message.h.
 */
#include "message.h"

#include <string.h>
#include <unistd.h>

#include "wire.h"

static union {
    struct vgpu_exec_reply reply;
    uint8_t room[VGPU_MSG_MAX];
} piece;

struct vgpu_exec_reply *message_piece(void)
{
    memset(&piece, 0, sizeof piece.reply);
    return &piece.reply;
}

void message_send(const struct vgpu_exec_reply *reply)
{
    if (vgpu_send(NODE_SOCKET, reply, sizeof *reply + reply->data_bytes, NULL, 0) != 0)
        _exit(0); /* the node has closed the socket */
}
