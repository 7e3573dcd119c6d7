/* SPDX-License-Identifier: MIT
 * message.h: replies to the node.
 */
#ifndef VGPU_EXEC_MESSAGE_H
#define VGPU_EXEC_MESSAGE_H

#include "protocol.h"

#define NODE_SOCKET 3

/* An empty reply with status VGPU_OK and room for 4 KiB of data, to be sent before the final reply.
 * There is only one. */
struct vgpu_exec_reply *message_piece(void);

/* Sends a reply with its data; ends the process if the node has closed the socket. */
void message_send(const struct vgpu_exec_reply *reply);

#endif
