/* SPDX-License-Identifier: MIT
 * context.c: see context.h.
 */
#include "context.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "answer.h"
#include "quiescence.h"
#include "inject.h"
#include "machine.h"
#include "device_memory.h"
#include "op.h"
#include "kernel_timeout.h"
#include "pool.h"
#include "process.h"
#include "reserve.h"
#include "chunk_cache.h"
#include "spawner.h"
#include "vmm.h"
#include "wire.h"

#define TICK_MS 200
#define SILENT_S 5  /* beyond VGPU_KERNEL_SECONDS: neither an answer nor work */
#define BELIEVED 20 /* times VGPU_KERNEL_SECONDS: progress is only what the context says */

static int device_count;
static uint64_t cpus; /* that contexts may use */
static uint64_t next_run = 1;

union exec_request {
    struct vgpu_exec_request request;
    char room[VGPU_MSG_MAX];
};

union exec_answer {
    struct vgpu_exec_reply reply;
    char room[VGPU_MSG_MAX];
};

void context_start(const char *path, int devices, uint64_t processors)
{
    cpus = processors;
    spawner_set_program(path);
    device_count = devices;
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

static double wall_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* What is known of a context whose answer is awaited. Asked for at the first look: most answer at
 * once. */
struct watch {
    double looked; /* when it was last looked at, or asked */
    bool begun;
    double since; /* when it was last seen to get further, or to use the processor */
    double used;  /* CPU seconds when it was last seen to get further */
    double first; /* CPU seconds at the first look */
    double seen;  /* and at the last one */
    uint64_t progress;
};

/* It has neither answered nor computed for too long; one that a debugger has stopped may. */
static bool is_silent(struct watch *w, double now, double cpu, bool further)
{
    if (further || cpu != w->seen || getenv("VGPU_HALT"))
        w->since = now;
    w->seen = cpu;
    return now - w->since > vgpu_kernel_seconds() + SILENT_S;
}

/* Every TICK_MS, also while messages come. Ends a kernel that uses CPU time without progress; what
 * a context says of its progress is believed for so long only. Not 0: it does not end, or its
 * program is gone. */
static int look_at(const struct context *c, struct watch *w, const struct process *process,
                   char *error, int room)
{
    int patience = vgpu_kernel_seconds();
    double now = wall_seconds(), cpu = quiescence_cpu_seconds(c->pid);
    uint64_t progress = memory_control()->progress;
    bool further = !w->begun || progress != w->progress;
    w->looked = now;
    if (process_is_gone(process)) {
        snprintf(error, (size_t)room, "the program is gone");
        return -1;
    }
    if (memory_overrun(&process->memory, error, room))
        return -1;
    if (!w->begun)
        w->first = cpu;
    w->begun = true;
    if (is_silent(w, now, cpu, further)) {
        snprintf(error, (size_t)room,
                 "the context of GPU %d has neither answered nor computed for %d seconds",
                 c->device, (int)(now - w->since));
        return -1;
    }
    if (further && cpu - w->first <= BELIEVED * patience) {
        w->used = cpu;
        w->progress = progress;
    } else if (cpu - w->used > patience + 2) {
        snprintf(error, (size_t)room, "a kernel ran for %d CPU seconds without any progress",
                 patience);
        return -1;
    } else if (cpu - w->used > patience) {
        spawner_hang(c->pid);
    }
    return 0;
}

/* The context's next message; spawn has limited how long one read waits. Less than a reply: an
 * error, told. */
static ssize_t await(const struct context *c, struct watch *watch, const struct process *process,
                     union exec_answer *answer, char *error, int room)
{
    for (;;) {
        ssize_t got = vgpu_receive(c->socket, answer, sizeof *answer, NULL, NULL, 0);
        bool late = got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
        int failed = errno;
        if ((late || wall_seconds() - watch->looked > TICK_MS / 1e3) &&
            look_at(c, watch, process, error, room) != 0)
            return -1;
        if (late)
            continue;
        if (got <= 0)
            snprintf(error, (size_t)room, "the context of GPU %d ended unexpectedly (%s)",
                     c->device, got < 0 ? strerror(failed) : "its process died");
        return got;
    }
}

/* It answers what no context of ours would: it is the program's device code that speaks, and
 * nothing that it says counts any more. */
static void refuse_answer(struct process *process, const char *why, char *error, int room)
{
    process->usage->bad_answers++;
    snprintf(error, (size_t)room,
             "the device code's process (vgpu-exec) answered the node with what cannot be: %s. "
             "Something in a kernel has written over its process, or speaks in its place",
             why);
}

/* Looked at every TICK_MS, whichever contexts have run since. */
static bool took_memory(const struct process *process, char *error, int room)
{
    static double looked;
    double now = wall_seconds();
    if (now - looked < TICK_MS / 1e3)
        return false;
    looked = now;
    return memory_overrun(&process->memory, error, room);
}

/* Takes replies up to the last one; hands over what kernels printed on the way. */
static int receive(struct context *c, struct process *process,
                   const struct vgpu_exec_request *asked, union exec_answer *answer, char *error,
                   int room)
{
    struct answer_due due = {.asked = asked};
    struct watch watch = {.looked = wall_seconds()};
    char why[200];
    for (bool last = false; !last;) {
        ssize_t got = await(c, &watch, process, answer, error, room);
        if (got <= 0)
            return -1;
        if (!answer_check(&due, &answer->reply, (size_t)got, &last, why, sizeof why)) {
            refuse_answer(process, why, error, room);
            return -1;
        }
        process_print(process, answer->reply.data, answer->reply.printf_bytes);
        answer_take_spans(&answer->reply);
    }
    return took_memory(process, error, room) ? -1 : 0;
}

/* Nothing is in the socket when a context is asked: it reads each request, and answers each once.
 */
static int exchange(struct context *c, struct process *process, union exec_request *q,
                    const int *fds, int fd_count, union exec_answer *answer, char *error, int room)
{
    size_t bytes = sizeof q->request + q->request.data_bytes;
    struct pollfd early = {.fd = c->socket, .events = POLLIN};
    if (poll(&early, 1, 0) > 0 && (early.revents & POLLIN) && !(early.revents & POLLHUP)) {
        refuse_answer(process, "it answers before it is asked", error, room);
        return -1;
    }
    if (vgpu_send(c->socket, q, bytes, fds, fd_count) != 0) {
        bool full = errno == EAGAIN || errno == EWOULDBLOCK;
        bool ended = errno == EPIPE || errno == ECONNRESET;
        snprintf(error, (size_t)room, "the context of GPU %d %s: %s", c->device,
                 ended ? "ended unexpectedly" : "cannot be reached",
                 full    ? "it does not read what it is asked"
                 : ended ? "its process died"
                         : strerror(errno));
        return -1;
    }
    return receive(c, process, &q->request, answer, error, room);
}

/* A request whose answer must be VGPU_OK. */
static int command(struct context *c, struct process *process, union exec_request *q,
                   const int *fds, int fd_count, union exec_answer *answer, char *error, int room)
{
    if (exchange(c, process, q, fds, fd_count, answer, error, room) != 0)
        return -1;
    if (answer->reply.status == VGPU_OK)
        return 0;
    snprintf(error, (size_t)room, "the context of GPU %d refused: %s", c->device,
             answer->reply.text);
    return -1;
}

static int spawn(struct context *c, char *error, int room)
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
    const struct timeval tick = {.tv_usec = TICK_MS * 1000};
    setsockopt(c->socket, SOL_SOCKET, SO_RCVTIMEO, &tick, sizeof tick);
    setsockopt(c->socket, SOL_SOCKET, SO_SNDTIMEO, &tick, sizeof tick);
    return 0;
}

static int attach(struct context *c, struct process *process, int device, char *error, int room)
{
    const struct vgpu_device_info *info = &machine_info()->device[device];
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
    return command(c, process, &q, fds, device_count + 2, &answer, error, room);
}

/* ---- what is mapped ---- */

struct wanted {
    struct mapping *item;
    int count, room, memory;
};

static void want(struct wanted *w, struct mapping m)
{
    if (w->count == w->room) {
        size_t had = (size_t)w->room * sizeof *w->item;
        w->room = w->room ? 2 * w->room : 32;
        w->item = reserve_grow(w->item, had, (size_t)w->room * sizeof *w->item);
    }
    w->item[w->count++] = m;
}

/* Whose point of view a visit of blocks has. */
struct view {
    struct wanted *wanted;
    int device;
    uint32_t peers;
};

static void want_block(const struct block *b, void *context)
{
    const struct view *v = context;
    bool peer = b->pool ? pool_reaches(b->pool, v->device) : v->peers >> b->device & 1;
    if (b->device != v->device && !peer)
        return;
    want(v->wanted,
         (struct mapping){.va = VGPU_DEVICE_VA(b->device) + b->offset,
                          .bytes = b->bytes,
                          .offset = b->offset,
                          .memory = b->device,
                          .writable = inject_drops(v->device, b->device)   ? VGPU_MAP_LOSES_STORES
                                      : inject_tears(v->device, b->device) ? VGPU_MAP_TEARS_STORES
                                                                           : 1});
}

static void want_mapped(const struct process *process, int device, struct wanted *w)
{
    for (const struct vmm_mapping *m = vmm_first(VGPU_VMM_VA); m; m = m->next)
        if (m->handle->owner == &process->memory && m->mode[device])
            want(w, (struct mapping){.va = m->va,
                                     .bytes = m->bytes,
                                     .offset = m->handle->allocation->offset,
                                     .memory = m->handle->allocation->device,
                                     .writable = m->mode[device] > 1});
}

static int by_address(const void *a, const void *b)
{
    const struct mapping *first = a, *second = b;
    return first->va < second->va ? -1 : 1;
}

static struct wanted wanted_by(struct process *process, int device)
{
    struct wanted w = {0};
    struct view view = {&w, device, process->device[device].peers};
    for (int d = 0; d < device_count; d++)
        memory_each_block(&process->memory, d, want_block, &view);
    want_mapped(process, device, &w);
    for (int i = 0; i < process->memory.host.count; i++) {
        const struct arena_range *r = &process->memory.host.range[i];
        const struct host_alias *alias = host_alias(r);
        if (r->user != &host_staging)
            want(&w, (struct mapping){.va = alias ? alias->va : VGPU_HOST_VA + r->offset,
                                      .bytes = (r->bytes + 4095) / 4096 * 4096,
                                      .offset = r->offset,
                                      .memory = -1,
                                      .writable = 1});
    }
    if (w.count)
        qsort(w.item, (size_t)w.count, sizeof *w.item, by_address);
    return w;
}

static int tell(struct context *c, struct process *process, uint32_t op, const struct mapping *m,
                char *error, int room)
{
    union exec_request q = {.request = {.op = op,
                                        .va = m->va,
                                        .bytes = m->bytes,
                                        .offset = m->offset,
                                        .memory = m->memory,
                                        .writable = m->writable}};
    union exec_answer answer;
    return command(c, process, &q, NULL, 0, &answer, error, room);
}

static bool same(const struct mapping *a, const struct mapping *b)
{
    return a->va == b->va && a->bytes == b->bytes && a->memory == b->memory &&
           a->offset == b->offset && a->writable == b->writable;
}

/* Both lists are sorted by address: unmaps what is no longer wanted, then maps what is new. */
static int remap(struct context *c, struct process *process, struct wanted *w, char *error,
                 int room)
{
    int failed = 0;
    for (int i = 0, j = 0; i < c->mapped_count && !failed; i++) {
        while (j < w->count && w->item[j].va < c->mapped[i].va)
            j++;
        if (j == w->count || !same(&c->mapped[i], &w->item[j]))
            failed = tell(c, process, VGPU_EXEC_UNMAP, &c->mapped[i], error, room);
    }
    for (int j = 0, i = 0; j < w->count && !failed; j++) {
        while (i < c->mapped_count && c->mapped[i].va < w->item[j].va)
            i++;
        if (i == c->mapped_count || !same(&c->mapped[i], &w->item[j]))
            failed = tell(c, process, VGPU_EXEC_MAP, &w->item[j], error, room);
    }
    if (failed) { /* what is mapped is not known: whoever called ends the context */
        reserve_give(w->item);
        return failed;
    }
    reserve_give(c->mapped);
    c->mapped = w->item;
    c->mapped_count = w->count;
    return 0;
}

/* ---- images ---- */

/* Puts device memory under the image's variables, and remembers where each one is. */
static int place_variables(struct context *c, struct process *process, int device, uint32_t module,
                           const struct vgpu_exec_reply *loaded, char *error, int room)
{
    struct vgpu_exec_reply reply = *loaded;
    uint64_t va = memory_take_variables(&process->memory, device, reply.var_bytes);
    if (!va || !memory_view(va, reply.var_bytes)) {
        snprintf(error, (size_t)room, "no device memory for %llu bytes of __device__ variables",
                 (unsigned long long)reply.var_bytes);
        return -1;
    }
    process->variables[device][module] = va;
    union exec_request q = {.request = {.op = VGPU_EXEC_MAP,
                                        .va = reply.var_base,
                                        .bytes = reply.var_bytes,
                                        .offset = va - VGPU_DEVICE_VA(device),
                                        .memory = device,
                                        .writable = 1,
                                        .fixed = 1}};
    union exec_answer answer;
    return command(c, process, &q, NULL, 0, &answer, error, room);
}

/* The variables that had no room in the reply to the module itself. */
static int learn_rest(struct context *c, struct process *process, uint32_t module, uint32_t known,
                      uint32_t count, char *error, int room)
{
    while (known < count) {
        union exec_request q = {.request = {.op = VGPU_EXEC_MODULE, .module = module, .va = known}};
        union exec_answer answer;
        if (command(c, process, &q, NULL, 0, &answer, error, room) != 0)
            return -1;
        uint32_t more = answer_variables(&answer.reply);
        if (answer.reply.var_count != count || more == 0) {
            snprintf(error, (size_t)room, "module %u: %u of %u __device__ variables were told",
                     module, known, count);
            return -1;
        }
        process_learn_variables(process, module, known, answer.reply.data, answer.reply.data_bytes);
        known += more;
    }
    return 0;
}

static int load_module(struct context *c, struct process *process, int device, uint32_t module,
                       char *error, int room)
{
    union exec_request q = {.request = {.op = VGPU_EXEC_MODULE, .module = module}};
    union exec_answer answer;
    int fd = process->module_fd[module];
    if (command(c, process, &q, &fd, 1, &answer, error, room) != 0)
        return -1;
    c->kernels[module] = answer.reply.kernel_count;
    process_learn_variables(process, module, 0, answer.reply.data, answer.reply.data_bytes);
    uint32_t known = answer_variables(&answer.reply);
    if (learn_rest(c, process, module, known, answer.reply.var_count, error, room) != 0)
        return -1;
    if (answer.reply.var_bytes)
        return place_variables(c, process, device, module, &answer.reply, error, room);
    return 0;
}

static int bring_up_to_date(struct context *c, struct process *process, int device, char *error,
                            int room)
{
    c->device = device;
    if (!c->pid && (spawn(c, error, room) != 0 || attach(c, process, device, error, room) != 0))
        return -1;
    for (; c->modules < process->module_count; c->modules++)
        if (load_module(c, process, device, (uint32_t)c->modules, error, room) != 0)
            return -1;
    if (c->map_version == process->memory.map_version)
        return 0;
    struct wanted w = wanted_by(process, device);
    c->map_version = process->memory.map_version;
    return remap(c, process, &w, error, room);
}

/* Spawns the context if need be, and brings modules and mappings up to date. One that did not do
 * what it was asked is ended: in which state it is nobody knows. */
static int prepare(struct process *process, int device, char *error, int room)
{
    struct context *c = &process->device[device].context;
    int rc = bring_up_to_date(c, process, device, error, room);
    if (rc != 0)
        context_end(c);
    return rc;
}

int context_prepare(struct process *process, int device, char *error, int room)
{
    return prepare(process, device, error, room);
}

int context_run(struct op *op, bool resume, struct vgpu_exec_reply *reply, char *error, int room)
{
    struct context *c = &op->process->device[op->device].context;
    struct kernel_run *k = &op->u.kernel;
    union exec_request q = {.request = {.op = resume ? VGPU_EXEC_RESUME : VGPU_EXEC_RUN}};
    if (prepare(op->process, op->device, error, room) != 0)
        return -1;
    if (!resume) {
        k->run = next_run++;
        q.request.launch = k->launch;
        q.request.strict = op->process->strict;
        q.request.checks = op->process->checks;
        q.request.module = k->launch.module;
        q.request.data_bytes = k->launch.args_bytes;
        memcpy(q.request.data, k->args, k->launch.args_bytes);
    }
    q.request.run = k->run;
    chunk_cache_make_room(); /* a context cannot */
    answer_forget_spans();
    int rc = exchange(c, op->process, &q, NULL, 0, (union exec_answer *)reply, error, room);
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
    if (c->pid && exchange(c, op->process, &q, NULL, 0, &answer, why, sizeof why) != 0)
        context_end(c);
}
