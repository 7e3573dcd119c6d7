/* SPDX-License-Identifier: MIT
 * context.h: a CUDA context is an address space: one vgpu-exec process for each (process, device).
 *
 * The vgpu-exec process is spawned at the first kernel. It maps exactly the memory that the program
 * may touch from this device, and is ended when a kernel faulted in it.
 */
#ifndef VGPU_CONTEXT_H
#define VGPU_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "protocol.h"

struct process;
struct op;

struct mapping {
    uint64_t va, bytes, offset;
    int memory; /* device, or -1: host */
    int writable;
};

struct context {
    pid_t pid; /* 0: not spawned */
    int device;
    int socket;
    int modules;            /* how many of the process's modules it has loaded */
    struct mapping *mapped; /* sorted by va */
    int mapped_count;
    uint64_t map_version; /* of the process, that `mapped` was made for */
};

/* Runs or goes on with the kernel of `op`. 0 with the context's answer in `reply` (with
 * VGPU_MSG_MAX bytes of room), or -1 with a sentence in `error` when there is no context to
 * run it. */
int context_run(struct op *op, bool resume, struct vgpu_exec_reply *reply, char *error,
                int error_room);
void context_abort(struct op *op);

/* Spawns the context and loads all modules, so that variables have their places. 0 or -1. */
int context_prepare(struct process *process, int device, char *error, int error_room);

/* Ends the context's process. */
void context_end(struct context *context);

/* Where vgpu-exec is, and the processors (of the first 64) that contexts may use. */
void context_start(const char *exec_path, uint64_t processors);

#endif
