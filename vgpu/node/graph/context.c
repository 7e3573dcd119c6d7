/* SPDX-License-Identifier: MIT
 * context.c: see context.h.
 */
#include "context.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "answer.h"
#include "chunk_cache.h"
#include "context_mapping.h"
#include "context_module.h"
#include "context_request.h"
#include "device_memory.h"
#include "machine.h"
#include "op.h"
#include "process.h"
#include "reserve.h"
#include "spawner.h"

static uint64_t cpus; /* CPUs that contexts may use, as bits */
static uint64_t next_run = 1;

void context_start(const char *path, uint64_t processors)
{
    cpus = processors;
    spawner_set_program(path);
}

void context_end(struct context *c)
{
    if (!c->pid)
        return;
    close(c->socket);
    spawner_end(c->pid);
    reserve_give(c->mapped);
    *c = (struct context){0};
}

static int spawn_context(struct context *c, struct process *process, char *error, int room)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
        snprintf(error, (size_t)room, "cannot make a socket for a context: %s", strerror(errno));
        return -1;
    }
    c->pid = spawner_start(pair[1]);
    int failed = errno;
    close(pair[1]);
    if (c->pid <= 0) {
        close(pair[0]);
        c->pid = 0;
        snprintf(error, (size_t)room, "cannot start vgpu-exec: %s; is the build complete?",
                 strerror(failed));
        return -1;
    }
    c->socket = pair[0];
    context_close_doors(c, process);
    const struct timeval tick = {.tv_usec = CONTEXT_TICK_MS * 1000};
    setsockopt(c->socket, SOL_SOCKET, SO_RCVTIMEO, &tick, sizeof tick);
    setsockopt(c->socket, SOL_SOCKET, SO_SNDTIMEO, &tick, sizeof tick);
    return 0;
}

static int attach_context(struct context *c, struct process *process, int device, char *error,
                          int room)
{
    const struct vgpu_device_info *info = &machine->info.device[device];
    int device_count = machine->info.device_count;
    union exec_request q = {
        .request = {.op = VGPU_EXEC_ATTACH,
                    .device = device,
                    .device_count = device_count,
                    .limits = {.sm_count = (uint32_t)info->sm_count,
                               .threads_per_sm = (uint32_t)info->max_threads_per_sm,
                               .blocks_per_sm = (uint32_t)info->max_blocks_per_sm,
                               .cc_major = (uint32_t)info->cc_major,
                               .shared_per_sm = info->shared_per_sm,
                               .shared_per_block = info->shared_per_block_optin,
                               .cpus = cpus,
                               .memory_bytes = memory_limit_bytes()}}};
    union exec_answer answer;
    int fds[VGPU_MAX_DEVICES + 2];
    for (int d = 0; d < device_count; d++)
        fds[d] = memory_of(d)->fd;
    fds[device_count] = process->memory.host_fd;
    fds[device_count + 1] = memory_control_fd();
    return context_command(c, process, &q, fds, device_count + 2, &answer, error, room);
}

/* Spawns the context if necessary, and updates its modules and mappings. */
static int update_context(struct context *c, struct process *process, int device, char *error,
                          int room)
{
    c->device = device;
    if (!c->pid && (spawn_context(c, process, error, room) != 0 ||
                    attach_context(c, process, device, error, room) != 0))
        return -1;
    for (; c->modules < process->module_count; c->modules++)
        if (context_load_module(c, process, (uint32_t)c->modules, error, room) != 0)
            return -1;
    if (c->map_version == process->memory.map_version)
        return 0;
    return context_remap(c, process, error, room);
}

/* If the update fails, the context is ended, since its modules and mappings are unknown. */
int context_prepare(struct process *process, int device, char *error, int room)
{
    struct context *c = &process->device[device].context;
    int rc = update_context(c, process, device, error, room);
    if (rc != 0)
        context_end(c);
    return rc;
}

/* The allocation that the address is in, if that has no other addresses: mapped memory, an image's
 * variables and registered memory may have. */
static bool find_allocation(const struct process *process, uint64_t address,
                            struct vgpu_pointed *found)
{
    struct pointee p;
    if (memory_find(address, &p)) {
        *found = (struct vgpu_pointed){p.base, p.base + p.bytes};
        return !p.mapping && !p.variables;
    }
    if (address < VGPU_HOST_VA || address >= VGPU_HOST_END)
        return false;
    const struct arena_range *r = arena_find(&process->memory.host, address - VGPU_HOST_VA);
    if (!r || r->user) /* not pinned memory */
        return false;
    found->first = VGPU_HOST_VA + r->offset;
    found->end = found->first + r->bytes;
    return true;
}

static void note_pointed(const struct op *op, struct vgpu_pointed to[VGPU_POINTED])
{
    const struct kernel_run *k = &op->u.kernel;
    int count = 0;
    for (uint32_t at = 0; at + sizeof(uint64_t) <= k->launch.args_bytes && count < VGPU_POINTED;
         at += sizeof(uint32_t)) {
        uint64_t value;
        struct vgpu_pointed found;
        bool known = false;
        memcpy(&value, k->args + at, sizeof value);
        if (!find_allocation(op->process, value, &found))
            continue;
        for (int i = 0; i < count && !known; i++)
            known = to[i].first == found.first;
        if (!known)
            to[count++] = found;
    }
}

int context_run(struct op *op, bool resume, struct vgpu_exec_reply *reply, char *error, int room)
{
    struct context *c = &op->process->device[op->device].context;
    struct kernel_run *k = &op->u.kernel;
    union exec_request q = {.request = {.op = resume ? VGPU_EXEC_RESUME : VGPU_EXEC_RUN}};
    if (context_prepare(op->process, op->device, error, room) != 0)
        return -1;
    if (!resume) {
        k->run = next_run++;
        context_run_begins(op);
        q.request.launch = k->launch;
        q.request.strict = op->process->strict;
        q.request.checks = op->process->checks;
        q.request.module = k->launch.module;
        q.request.weak_slot = op->check.weak_slot;
        q.request.weak_after = op->check.weak_after;
        q.request.data_bytes = k->launch.args_bytes;
        memcpy(q.request.data, k->args, k->launch.args_bytes);
        note_pointed(op, q.request.pointed);
    }
    q.request.run = k->run;
    chunk_cache_make_room(); /* a context cannot do this itself */
    answer_forget_spans();
    int rc = context_exchange(c, op->process, &q, NULL, 0, (union exec_answer *)reply, error, room);
    context_run_ends(op->process);
    if (rc != 0)
        context_end(c);
    return rc;
}

void context_abort(struct op *op)
{
    struct context *c = &op->process->device[op->device].context;
    union exec_request q = {.request = {.op = VGPU_EXEC_ABORT, .run = op->u.kernel.run}};
    union exec_answer answer;
    char why[512];
    if (c->pid && context_exchange(c, op->process, &q, NULL, 0, &answer, why, sizeof why) != 0)
        context_end(c);
}
