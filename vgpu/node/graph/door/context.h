/* SPDX-License-Identifier: MIT
 * context.h: CUDA contexts. A context is an address space: one vgpu-exec process for each pair of
 * process and device.
 *
 * The vgpu-exec process is spawned at the first kernel. It maps exactly the memory that the program
 * may access from this device, and is ended after a kernel has faulted in it.
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
    int memory; /* device; -1: host */
    int writable;
};

struct context {
    pid_t pid; /* 0: not spawned */
    int device;
    int socket;
    int modules;            /* number of the process's modules it has loaded */
    struct mapping *mapped; /* sorted by va */
    int mapped_count;
    /* Version of the process's memory for which `mapped` was made. */
    uint64_t map_version;
};

/* Starts or resumes the kernel of `op`. Returns 0 with the context's reply in `reply` (a buffer of
 * VGPU_MSG_MAX bytes), or -1 with the reason in `error` if there is no context to run it. */
int context_run(struct op *op, bool resume, struct vgpu_exec_reply *reply, char *error,
                int error_room);
/* Ends the stalled kernel of `op` in its context. */
void context_abort(struct op *op);

/* Spawns the context and loads all modules, so that their variables have addresses. Returns 0 or
 * -1. */
int context_prepare(struct process *process, int device, char *error, int error_room);

/* Ends the context's process. */
void context_end(struct context *context);

/* Sets the path of vgpu-exec and the CPUs (of the first 64) that contexts may use, as bits. */
void context_start(const char *exec_path, uint64_t processors);

#endif
