/* SPDX-License-Identifier: MIT
 * context_request.c: see context_request.h.
 */
#include "context_request.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "context.h"
#include "device_memory.h"
#include "door.h"
#include "kernel_timeout.h"
#include "op.h"
#include "process.h"
#include "quiescence.h"
#include "spawner.h"
#include "wire.h"

/* So long a context's answer is awaited at its door, and then by the socket. */
#define CONTEXT_DOOR_MS 10
/* Seconds beyond VGPU_KERNEL_SECONDS without a reply or use of the processor. */
#define SILENT_S 5
/* Times VGPU_KERNEL_SECONDS, after which reported progress is no longer accepted: the context may
 * be lying. */
#define BELIEVED 20

/* Observations of a context whose reply is awaited. Made at the first look, since most replies
 * arrive at once. */
struct reply_watch {
    double now;    /* time of the last message, or of the last wait without one */
    double looked; /* time of the last look */
    bool begun;
    double since; /* time of the last progress or use of the processor */
    double used;  /* CPU seconds at the last progress */
    double first; /* CPU seconds at the first look */
    double seen;  /* CPU seconds at the last look */
    uint64_t progress;
};

/* ---- what it has done so far ---- */

static struct {
    char name[64];
    uint64_t blocks;
    int device;
    double since;
    bool shown; /* in owner_status */
} running;

void context_run_begins(const struct op *op)
{
    const struct vgpu_launch *l = &op->u.kernel.launch;
    struct vgpu_control *control = memory_control();
    snprintf(running.name, sizeof running.name, "%s", op->u.kernel.name);
    running.blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
    running.device = op->device;
    running.since = wall_seconds();
    control->blocks_done = 0;
    control->careful[0] = '\0';
}

void context_run_ends(struct process *process)
{
    if (running.shown)
        owner_status(&process->memory)[0] = '\0';
    running.shown = false;
    running.blocks = 0;
}

/* For the program's call that waits for it. */
static void show_run(struct process *process)
{
    struct vgpu_control *control = memory_control();
    char why[sizeof control->careful];
    if (running.blocks == 0)
        return;
    running.shown = true;
    memcpy(why, control->careful, sizeof why);
    why[sizeof why - 1] = '\0';
    snprintf(
        owner_status(&process->memory), VGPU_STATUS_BYTES,
        "kernel %s on GPU %d runs: %llu of its %llu blocks are done after %.0f s; fewer blocks "
        "or a smaller size end sooner%s%s",
        running.name, running.device, (unsigned long long)control->blocks_done,
        (unsigned long long)running.blocks, wall_seconds() - running.since,
        why[0] ? ", and it does not run in the fast form: " : "", why);
}

/* True if the context has neither replied nor used the processor for too long. A debugger may stop
 * it, so with VGPU_DEBUGGER there is no limit. */
static bool is_context_silent(struct reply_watch *w, double now, double cpu, bool further)
{
    if (further || cpu != w->seen || getenv("VGPU_DEBUGGER"))
        w->since = now;
    w->seen = cpu;
    return now - w->since > vgpu_kernel_seconds() + SILENT_S;
}

/* Called every CONTEXT_TICK_MS, also while messages arrive. Ends a kernel that uses processor time
 * without progress, or for too long with progress that only the context reports. Not 0: it does not
 * end, or its program has ended. */
static int check_progress(const struct context *c, struct reply_watch *w, struct process *process,
                          char *error, int room)
{
    int timeout = vgpu_kernel_seconds();
    double now = w->now, cpu = quiescence_cpu_seconds(c->pid);
    uint64_t progress = memory_control()->progress;
    bool further = !w->begun || progress != w->progress;
    w->looked = now;
    show_run(process);
    if (process_is_gone(process)) {
        snprintf(error, (size_t)room, "the program has ended");
        return -1;
    }
    if (memory_overrun(&process->memory, error, room))
        return -1;
    if (!w->begun)
        w->first = cpu;
    w->begun = true;
    if (is_context_silent(w, now, cpu, further)) {
        snprintf(error, (size_t)room,
                 "the context of GPU %d has neither answered nor computed for %d seconds",
                 c->device, (int)(now - w->since));
        return -1;
    }
    if (further && cpu - w->first <= BELIEVED * timeout) {
        w->used = cpu;
        w->progress = progress;
    } else if (cpu - w->used > timeout + 2) {
        snprintf(error, (size_t)room, "a kernel ran for %d CPU seconds without any progress",
                 timeout);
        return -1;
    } else if (cpu - w->used > timeout) {
        spawner_hang(c->pid);
    }
    return 0;
}

/* Receives the context's next message: at `door`, if it was asked at one, for a short time, so that
 * its end is noticed; by the socket each read has a time limit, set when it was spawned. A message
 * shorter than a reply is an error, described in `error`. */
static ssize_t await_reply(const struct context *c, struct vgpu_door *door,
                           struct reply_watch *watch, struct process *process,
                           union exec_answer *answer, char *error, int room)
{
    ssize_t put = door ? vgpu_door_take(door, answer, sizeof *answer, CONTEXT_DOOR_MS) : -1;
    if (put > 0)
        return put;
    for (;;) {
        ssize_t got = vgpu_receive(c->socket, answer, sizeof *answer, NULL, NULL, 0);
        bool late = got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
        int failed = errno;
        watch->now = wall_seconds();
        if ((late || watch->now - watch->looked > CONTEXT_TICK_MS / 1e3) &&
            check_progress(c, watch, process, error, room) != 0)
            return -1;
        if (late)
            continue;
        if (got <= 0)
            snprintf(error, (size_t)room, "the context of GPU %d ended unexpectedly (%s)",
                     c->device, got < 0 ? strerror(failed) : "its process died");
        return got;
    }
}

/* No correct context sends such a reply, so the program's device code must have sent it, and
 * further replies must not be trusted. */
static void refuse_answer(struct process *process, const char *why, char *error, int room)
{
    process->usage->bad_answers++;
    snprintf(error, (size_t)room,
             "the device code's process (vgpu-exec) sent the node an impossible answer: %s. A "
             "kernel has overwritten memory of that process, or sends messages in its place",
             why);
}

/* Checks every CONTEXT_TICK_MS, for all contexts together. */
static bool check_memory(const struct process *process, double now, char *error, int room)
{
    static double looked;
    if (now - looked < CONTEXT_TICK_MS / 1e3)
        return false;
    looked = now;
    return memory_overrun(&process->memory, error, room);
}

/* Receives replies up to the last one, the first perhaps at a door, and passes printed output on.
 */
static int receive_replies(struct context *c, struct vgpu_door *door, struct process *process,
                           const struct vgpu_exec_request *asked, union exec_answer *answer,
                           char *error, int room)
{
    struct answer_due due = {.asked = asked};
    const double begun = wall_seconds();
    struct reply_watch watch = {.looked = begun, .now = begun};
    char why[200];
    for (bool last = false; !last;) {
        ssize_t got = await_reply(c, door, &watch, process, answer, error, room);
        if (got <= 0)
            return -1;
        door = NULL;
        if (!answer_check(&due, &answer->reply, (size_t)got, &last, why, sizeof why)) {
            refuse_answer(process, why, error, room);
            return -1;
        }
        process_print(process, answer->reply.data, answer->reply.printf_bytes);
        answer_take_spans(&answer->reply);
    }
    return check_memory(process, watch.now, error, room) ? -1 : 0;
}

static struct vgpu_door *context_door(const struct context *c, struct process *process, int which)
{
    return owner_door(&process->memory, 2 * c->device + which);
}

void context_close_doors(const struct context *c, struct process *process)
{
    vgpu_door_close(context_door(c, process, VGPU_DOOR_ASKED));
    vgpu_door_close(context_door(c, process, VGPU_DOOR_ANSWERS));
}

/* Sends by the socket, which must be empty before a request, since a context answers each request
 * exactly once. */
static int ask_by_socket(struct context *c, struct process *process, const union exec_request *q,
                         const int *fds, int fd_count, char *error, int room)
{
    size_t bytes = sizeof q->request + q->request.data_bytes;
    struct pollfd early = {.fd = c->socket, .events = POLLIN};
    if (poll(&early, 1, 0) > 0 && (early.revents & POLLIN) && !(early.revents & POLLHUP)) {
        refuse_answer(process, "it sent an answer before it was asked", error, room);
        return -1;
    }
    vgpu_door_knock(context_door(c, process, VGPU_DOOR_ASKED));
    if (vgpu_send(c->socket, q, bytes, fds, fd_count) == 0)
        return 0;
    bool full = errno == EAGAIN || errno == EWOULDBLOCK;
    bool ended = errno == EPIPE || errno == ECONNRESET;
    snprintf(error, (size_t)room, "the context of GPU %d %s: %s", c->device,
             ended ? "ended unexpectedly" : "cannot be reached",
             full    ? "it does not read its requests"
             : ended ? "its process died"
                     : strerror(errno));
    return -1;
}

/* A context that waits at its door for a request may answer at the other one. */
int context_exchange(struct context *c, struct process *process, union exec_request *q,
                     const int *fds, int fd_count, union exec_answer *answer, char *error, int room)
{
    struct vgpu_door *answers = context_door(c, process, VGPU_DOOR_ANSWERS);
    vgpu_door_open(answers);
    bool put = fd_count == 0 && vgpu_door_put(context_door(c, process, VGPU_DOOR_ASKED), q,
                                              sizeof q->request + q->request.data_bytes);
    if (!put) {
        vgpu_door_close(answers);
        answers = NULL;
        if (ask_by_socket(c, process, q, fds, fd_count, error, room) != 0)
            return -1;
    }
    return receive_replies(c, answers, process, &q->request, answer, error, room);
}

int context_command(struct context *c, struct process *process, union exec_request *q,
                    const int *fds, int fd_count, union exec_answer *answer, char *error, int room)
{
    if (context_exchange(c, process, q, fds, fd_count, answer, error, room) != 0)
        return -1;
    if (answer->reply.status == VGPU_OK)
        return 0;
    snprintf(error, (size_t)room, "the context of GPU %d refused: %s", c->device,
             answer->reply.text);
    return -1;
}
