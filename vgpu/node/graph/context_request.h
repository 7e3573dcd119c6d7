/* SPDX-License-Identifier: MIT
 * context_request.h: one request to a context's process, and its answer.
 */
#ifndef VGPU_CONTEXT_REQUEST_H
#define VGPU_CONTEXT_REQUEST_H

#include "protocol.h"

#define CONTEXT_TICK_MS 200 /* how long one read of the socket waits */

struct context;
struct process;

union exec_request {
    struct vgpu_exec_request request;
    char room[VGPU_MSG_MAX];
};

union exec_answer {
    struct vgpu_exec_reply reply;
    char room[VGPU_MSG_MAX];
};

/* Sends a request, and receives replies up to the last one; what kernels print on the way is handed
 * to the program. 0, or -1 with a sentence in `error`: the caller ends the context. */
int context_exchange(struct context *c, struct process *process, union exec_request *q,
                     const int *fds, int fd_count, union exec_answer *answer, char *error,
                     int room);

/* A request whose answer must be VGPU_OK. */
int context_command(struct context *c, struct process *process, union exec_request *q,
                    const int *fds, int fd_count, union exec_answer *answer, char *error, int room);

#endif
