/* SPDX-License-Identifier: MIT
 * context_request.h: one request to a context's process, and its replies.
 */
#ifndef VGPU_CONTEXT_REQUEST_H
#define VGPU_CONTEXT_REQUEST_H

#include "protocol.h"

#define CONTEXT_TICK_MS 200 /* time limit of one read from the socket */

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

struct op;

/* Between these two, calls that wait long for the kernel of `op` are told how far it is
 * (owner_status). */
void context_run_begins(const struct op *op);
void context_run_ends(struct process *process);

/* For a context's process that has just been started and knows no doors yet. */
void context_close_doors(const struct context *c, struct process *process);

/* Sends a request and receives the replies up to the last one; passes printed output on to the
 * program. Returns 0, or -1 with the reason in `error`: then the caller must end the context. */
int context_exchange(struct context *c, struct process *process, union exec_request *q,
                     const int *fds, int fd_count, union exec_answer *answer, char *error,
                     int room);

/* The same for a request whose reply must be VGPU_OK. */
int context_command(struct context *c, struct process *process, union exec_request *q,
                    const int *fds, int fd_count, union exec_answer *answer, char *error, int room);

#endif
