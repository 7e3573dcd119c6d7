/* SPDX-License-Identifier: MIT
 * wire.h: sends and receives one message, with descriptors, on a SEQPACKET socket.
 */
#ifndef VGPU_WIRE_H
#define VGPU_WIRE_H

#include <stddef.h>
#include <sys/types.h>

#define VGPU_WIRE_FDS 32

/* Sends `bytes` of `message` and `fd_count` descriptors (which stay the caller's). 0, or -1 with
 * errno. */
int vgpu_send(int socket, const void *message, size_t bytes, const int *fds, int fd_count);
/* The same, and EAGAIN where it would have to wait for the other side to read. */
int vgpu_send_now(int socket, const void *message, size_t bytes, const int *fds, int fd_count);

/* Receives one message of at most `room` bytes. Received descriptors (close-on-exec) go to
 * fds[0..*fd_count-1] and are the caller's; *fd_count holds the room on entry. fds may be NULL:
 * then any that come are closed. Returns the message's bytes, 0 when the other side has closed, -1
 * with errno. A message that was cut (too long) is -1 with EMSGSIZE. */
ssize_t vgpu_receive(int socket, void *message, size_t room, int *fds, int *fd_count, int flags);

/* From now on the socket (or those that this listener accepts) learns who sends a message: the
 * process of the next one that has come, by our number; 0: none has, or it is not known. */
void vgpu_tell_sender(int socket);
pid_t vgpu_sender(int socket);

#endif
