/* SPDX-License-Identifier: MIT
 * context.c: see context.h.
 */
#define _GNU_SOURCE
#include "context.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "answer.h"
#include "inject.h"
#include "memory.h"
#include "op.h"
#include "patience.h"
#include "pool.h"
#include "process.h"
#include "server.h"
#include "vmm.h"
#include "wire.h"

#define TICK_MS 200

extern char **environ;

static const char *exec_path;
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
    exec_path = path;
    device_count = devices;
}

void context_end(struct context *c)
{
    if (!c->pid)
        return;
    close(c->socket);
    kill(c->pid, SIGKILL);
    waitpid(c->pid, NULL, 0);
    free(c->mapped);
    *c = (struct context){0};
}

/* CPU time of a process in seconds, from /proc. */
static double cpu_seconds(pid_t pid)
{
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    unsigned long user = 0, system = 0;
    const char *end = fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    if (end)
        sscanf(end + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system);
    fclose(file);
    return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

/* What is known of a context that has not answered for a while. */
struct watch {
    bool begun;
    double used; /* CPU seconds when it was last seen to get further */
    uint64_t progress;
};

/* Nothing has come for TICK_MS. Ends a kernel that uses CPU time without progress; not 0: it does
 * not end, or its program is gone. */
static int look_at(const struct context *c, struct watch *w, const struct process *process,
                   char *error, int room)
{
    if (server_is_gone(process)) {
        snprintf(error, (size_t)room, "the program is gone");
        return -1;
    }
    double now = cpu_seconds(c->pid);
    if (!w->begun || memory_control()->progress != w->progress) {
        *w = (struct watch){true, now, memory_control()->progress};
    } else if (now - w->used > vgpu_kernel_seconds() + 2) {
        snprintf(error, (size_t)room, "a kernel ran for %d CPU seconds without any progress",
                 vgpu_kernel_seconds());
        return -1;
    } else if (now - w->used > vgpu_kernel_seconds()) {
        kill(c->pid, VGPU_EXEC_HANG_SIGNAL);
    }
    return 0;
}

/* The context's next message; spawn has limited how long one read waits. Less than a reply: an
 * error, told. */
static ssize_t await(const struct context *c, struct process *process, union exec_answer *answer,
                     char *error, int room)
{
    struct watch watch = {false};
    for (;;) {
        ssize_t got = vgpu_receive(c->socket, answer, sizeof *answer, NULL, NULL, 0);
        bool late = got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
        if (late && look_at(c, &watch, process, error, room) == 0)
            continue;
        if (!late && got < (ssize_t)sizeof answer->reply)
            snprintf(error, (size_t)room, "the context of GPU ended unexpectedly (%s)",
                     got < 0 ? strerror(errno) : "its process died");
        return got;
    }
}

/* Takes replies up to the last one; hands over what kernels printed on the way. */
static int receive(struct context *c, struct process *process, union exec_answer *answer,
                   char *error, int room)
{
    for (;;) {
        ssize_t got = await(c, process, answer, error, room);
        if (got < (ssize_t)sizeof answer->reply)
            return -1;
        answer_tame(&answer->reply, (size_t)got);
        process_print(process, answer->reply.data, answer->reply.printf_bytes);
        answer_take_spans(&answer->reply);
        if (!(answer->reply.status == VGPU_OK &&
              (answer->reply.printf_bytes || answer->reply.span_count)))
            return 0;
    }
}

static int exchange(struct context *c, struct process *process, union exec_request *q,
                    const int *fds, int fd_count, union exec_answer *answer, char *error, int room)
{
    size_t bytes = sizeof q->request + q->request.data_bytes;
    if (vgpu_send(c->socket, q, bytes, fds, fd_count) != 0) {
        snprintf(error, (size_t)room, "cannot reach a context: %s", strerror(errno));
        return -1;
    }
    return receive(c, process, answer, error, room);
}

/* A request whose answer must be VGPU_OK. */
static int command(struct context *c, struct process *process, union exec_request *q,
                   const int *fds, int fd_count, union exec_answer *answer, char *error, int room)
{
    if (exchange(c, process, q, fds, fd_count, answer, error, room) != 0)
        return -1;
    if (answer->reply.status == VGPU_OK)
        return 0;
    snprintf(error, (size_t)room, "a context refused: %s", answer->reply.text);
    return -1;
}

#define LAUNCHER_WORDS 8

/* How a context is started: VGPU_EXEC_LAUNCHER, a word a line, stands before the program (a sandbox
 * for device code; its PID must become the program's). Caller frees argv[0] when it is not
 * exec_path. */
static void launch_words(char *argv[LAUNCHER_WORDS + 2])
{
    const char *launcher = getenv("VGPU_EXEC_LAUNCHER");
    char *rest = launcher && *launcher ? strdup(launcher) : NULL;
    int count = 0;
    for (char *word = rest ? strtok_r(rest, "\n", &rest) : NULL; word && count < LAUNCHER_WORDS;
         word = strtok_r(NULL, "\n", &rest))
        argv[count++] = word;
    argv[count++] = (char *)exec_path;
    argv[count] = NULL;
}

static int spawn(struct context *c, char *error, int room)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
        snprintf(error, (size_t)room, "cannot make a socket for a context: %s", strerror(errno));
        return -1;
    }
    char *argv[LAUNCHER_WORDS + 2];
    launch_words(argv);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, pair[1], 3);
    int failed = posix_spawn(&c->pid, argv[0], &actions, NULL, argv, environ);
    if (argv[0] != exec_path)
        free(argv[0]);
    posix_spawn_file_actions_destroy(&actions);
    close(pair[1]);
    if (failed) {
        close(pair[0]);
        c->pid = 0;
        snprintf(error, (size_t)room, "cannot start %s: %s; is the build complete?", exec_path,
                 strerror(failed));
        return -1;
    }
    c->socket = pair[0];
    const struct timeval tick = {.tv_usec = TICK_MS * 1000};
    setsockopt(c->socket, SOL_SOCKET, SO_RCVTIMEO, &tick, sizeof tick);
    return 0;
}

static int attach(struct context *c, struct process *process, int device, char *error, int room)
{
    const struct vgpu_device_info *info = &server_info()->device[device];
    union exec_request q = {
        .request = {.op = VGPU_EXEC_ATTACH,
                    .device = device,
                    .device_count = device_count,
                    .limits = {.sm_count = (uint32_t)info->sm_count,
                               .threads_per_sm = (uint32_t)info->max_threads_per_sm,
                               .blocks_per_sm = (uint32_t)info->max_blocks_per_sm,
                               .shared_per_sm = info->shared_per_sm,
                               .shared_per_block = info->shared_per_block_optin,
                               .cpus = cpus}}};
    union exec_answer answer;
    int fds[VGPU_MAX_DEVICES + 2];
    for (int d = 0; d < device_count; d++)
        fds[d] = memory_of(d)->fd;
    fds[device_count] = process->host_fd;
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
        w->room = w->room ? 2 * w->room : 32;
        w->item = realloc(w->item, (size_t)w->room * sizeof *w->item);
        if (!w->item)
            abort();
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
        if (m->handle->owner == process && m->mode[device])
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
        memory_each_block(process, d, want_block, &view);
    want_mapped(process, device, &w);
    for (int i = 0; i < process->host.count; i++) {
        const struct arena_range *r = &process->host.range[i];
        const struct host_alias *alias = host_alias(r);
        if (r->user != &host_staging)
            want(&w, (struct mapping){.va = alias ? alias->va : VGPU_HOST_VA + r->offset,
                                      .bytes = (r->bytes + 4095) / 4096 * 4096,
                                      .offset = r->offset,
                                      .memory = -1,
                                      .writable = 1});
    }
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
    free(c->mapped);
    c->mapped = w->item;
    c->mapped_count = w->count;
    return failed;
}

/* ---- images ---- */

/* Puts device memory under the image's variables, and remembers where each one is. */
static int place_variables(struct context *c, struct process *process, int device, uint32_t module,
                           const struct vgpu_exec_reply *loaded, char *error, int room)
{
    struct vgpu_exec_reply reply = *loaded;
    uint64_t va = memory_take_variables(process, device, reply.var_bytes);
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
        uint32_t more = answer.reply.data_bytes / (uint32_t)sizeof(struct vgpu_exec_var);
        if (more == 0) {
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
    uint32_t known = answer.reply.data_bytes / (uint32_t)sizeof(struct vgpu_exec_var);
    if (learn_rest(c, process, module, known, answer.reply.var_count, error, room) != 0)
        return -1;
    if (answer.reply.var_bytes)
        return place_variables(c, process, device, module, &answer.reply, error, room);
    return 0;
}

/* Spawns the context if need be, and brings modules and mappings up to date. */
static int prepare(struct process *process, int device, char *error, int room)
{
    struct context *c = &process->device[device].context;
    if (!c->pid && (spawn(c, error, room) != 0 || attach(c, process, device, error, room) != 0))
        return -1;
    for (; c->modules < process->module_count; c->modules++)
        if (load_module(c, process, device, (uint32_t)c->modules, error, room) != 0)
            return -1;
    if (c->map_version == process->map_version)
        return 0;
    struct wanted w = wanted_by(process, device);
    c->map_version = process->map_version;
    return remap(c, process, &w, error, room);
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
    answer_forget_spans();
    return exchange(c, op->process, &q, NULL, 0, (union exec_answer *)reply, error, room);
}

void context_abort(struct op *op)
{
    struct context *c = &op->process->device[op->device].context;
    union exec_request q = {.request = {.op = VGPU_EXEC_ABORT, .run = op->u.kernel.run}};
    union exec_answer answer;
    char why[128];
    if (c->pid)
        exchange(c, op->process, &q, NULL, 0, &answer, why, sizeof why);
}
