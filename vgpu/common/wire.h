/* SPDX-License-Identifier: MIT
 * wire.h: sends and receives one message, with descriptors, on a SEQPACKET socket.
 */
#ifndef VGPU_WIRE_H
#define VGPU_WIRE_H

#include <stddef.h>
#include <sys/types.h>

#define VGPU_WIRE_FDS 32

/* Sends `bytes` of `message` and `fd_count` descriptors, which remain the caller's. Returns 0, or
 * -1 with errno. */
int vgpu_send(int socket, const void *message, size_t bytes, const int *fds, int fd_count);
/* The same without blocking: fails with EAGAIN if the receiver's queue is full. */
int vgpu_send_now(int socket, const void *message, size_t bytes, const int *fds, int fd_count);

/* Receives one message of at most `room` bytes. Received descriptors (close-on-exec) are stored in
 * fds[0..*fd_count-1] and owned by the caller; *fd_count is the capacity before the call. If `fds`
 * is NULL, received descriptors are closed. Returns the size of the message, 0 if the peer has
 * closed the connection, -1 with errno on failure: EMSGSIZE if the message was longer than `room`.
 */
ssize_t vgpu_receive(int socket, void *message, size_t room, int *fds, int *fd_count, int flags);

/* vgpu_tell_sender makes a socket (or those that a listener accepts) report the sender of each
 * message. vgpu_sender returns the process id, in this process's pid namespace, of the sender of
 * the next message that has arrived; 0: none has arrived, or unknown. */
void vgpu_tell_sender(int socket);
pid_t vgpu_sender(int socket);

#endif
