/* SPDX-License-Identifier: MIT
 * message.h: requests of the node, and replies to it.
 */
#ifndef VGPU_EXEC_MESSAGE_H
#define VGPU_EXEC_MESSAGE_H

#include <stddef.h>
#include <sys/types.h>

#include "protocol.h"

#define NODE_SOCKET 3

/* Uses the doors of this context (door.h) in the host memory of descriptor `host_fd`, if they can
 * be mapped and this process may wake others. */
void message_use_doors(int host_fd, int device);

/* Receives the next request as vgpu_receive does, at the door or by the socket. */
ssize_t message_receive(void *request, size_t room, int *fds, int *fd_count);

/* Call it before the last reply to a request: the node may put the next one into the door. */
void message_listen(void);

/* An empty reply with status VGPU_OK and room for 4 KiB of data, to be sent before the final reply.
 * There is only one. */
struct vgpu_exec_reply *message_piece(void);

/* Sends a reply with its data; ends the process if the node has closed the socket. */
void message_send(const struct vgpu_exec_reply *reply);

#endif
