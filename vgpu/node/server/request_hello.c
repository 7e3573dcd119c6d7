/* SPDX-License-Identifier: MIT
 * request_hello.c: the beginning and end of programs and witnesses, and findings of the program's
 * side.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"
#include "counts.h"
#include "feature_list.h"
#include "late_issue.h"
#include "machine.h"
#include "order.h"
#include "process.h"
#include "reply.h"
#include "request.h"
#include "server.h"
#include "checks.h"
#include "sim.h"
#include "trace.h"
#include "time_bound.h"

/* Restarts virtual time at 0 for a program that has the node to itself, so that its times do not
 * depend on whether the node of the previous program has already ended. */
static void start_over(void)
{
    if (!process_any_alive() && !connections_any_witness() && sim_restart(server_state.sim))
        trace_restart(server_state.trace);
}

static uint32_t least_checks; /* by the first witness */

void request_least_checks(struct connection *c)
{
    if (!c->first_witness || process_first())
        request_fail(c, VGPU_INVALID_VALUE,
                     "only the first witness chooses which findings are looked for, and only "
                     "before the first program");
    else
        least_checks = (uint32_t)c->request.q.value & VGPU_CHECK_ALL;
}

void request_hello(struct connection *c)
{
    struct vgpu_request *q = &c->request.q;
    char error[256];
    if (q->u.hello.protocol != VGPU_PROTOCOL) {
        request_fail(c, VGPU_UNKNOWN,
                     "the program uses protocol %u, the node %d: rebuild the program",
                     q->u.hello.protocol, VGPU_PROTOCOL);
        return;
    }
    start_over();
    c->process =
        process_new(server_state.order, q->u.hello.pid, q->u.hello.program, error, sizeof error);
    if (!c->process) {
        request_fail(c, VGPU_OUT_OF_MEMORY, "%s", error);
        return;
    }
    c->process->connections = 1;
    c->process->os_pid = c->sender;
    trace_program(server_state.trace, c->process, c->request_fd);
    c->process->strict = q->u.hello.strict;
    c->process->checks = q->u.hello.checks | least_checks;
    if (c->process->checks & VGPU_CHECK_ORDER)
        checks_start_races(server_state.checks);
    c->reply.r.u.hello.node_cpu = server_state.node_cpu;
    c->reply.r.u.hello.protocol = VGPU_PROTOCOL;
    c->reply.r.u.hello.checks = c->process->checks;
    c->reply_fd[0] = server_state.info_fd;
    c->reply_fd[1] = c->process->memory.host_fd;
    c->reply_fds = 2;
}

/* A further connection, whose other end is sent with the reply; NULL: the request has failed. */
static struct connection *hand_out_connection(struct connection *c, const char *whom)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
        request_fail(c, VGPU_OUT_OF_MEMORY, "no connection for another %s: %s", whom,
                     strerror(errno));
        return NULL;
    }
    struct connection *other = connection_add(pair[0], c->process);
    if (!other) {
        close(pair[0]);
        close(pair[1]);
        request_fail(c, VGPU_OUT_OF_MEMORY, "too many %ss use the node", whom);
        return NULL;
    }
    other->handed_out = VGPU_PROGRAMS_MAX; /* it hands out none itself */
    time_bound_answered(other, c->request.q.clock_ps);
    c->reply_fd[0] = pair[1];
    c->reply_fds = 1;
    c->reply_fd_ours = true;
    return other;
}

void request_thread(struct connection *c)
{
    struct connection *other = hand_out_connection(c, "host thread");
    if (!other)
        return;
    other->works = true;
    other->door = owner_take_door(&c->process->memory);
    c->reply.r.value = other->door ? VGPU_DOOR_VA(other->door) : 0;
}

void request_program(struct connection *c)
{
    if (c->handed_out == VGPU_PROGRAMS_MAX)
        request_fail(c, VGPU_OUT_OF_MEMORY, "all connections for processes are taken");
    else if (hand_out_connection(c, "process"))
        c->handed_out++;
}

void request_witness(struct connection *c)
{
    static bool came;
    c->witness = true;
    c->first_witness = !came;
    came = true;
    c->reply.r.value = (uint64_t)machine->info.device_count;
    c->reply_fd[0] = server_state.info_fd;
    c->reply_fds = 1;
}

void request_print(struct connection *c)
{
    struct process *p = c->process;
    uint32_t room = sizeof c->reply - sizeof c->reply.r;
    uint32_t bytes = p->printed_bytes < room ? p->printed_bytes : room;
    request_cost(c, 0);
    if (bytes == 0)
        return;
    memcpy(c->reply.r.data, p->printed, bytes);
    memmove(p->printed, p->printed + bytes, p->printed_bytes - bytes);
    p->printed_bytes -= bytes;
    c->reply.r.data_bytes = bytes;
}

/* A finding of the runtime in the program's process. */
void request_finding(struct connection *c)
{
    const struct vgpu_request *q = &c->request.q;
    int length = q->data_bytes < 700 ? (int)q->data_bytes : 700;
    request_cost(c, 0);
    if (q->value < VGPU_DIAGNOSES)
        checks_program_found(c->process, (enum vgpu_diagnosis)q->value, q->caller,
                             (const char *)q->data, length);
}

void request_range(struct connection *c)
{
    const struct vgpu_request *q = &c->request.q;
    request_cost(c, 0);
    trace_call(server_state.trace, c->process, connection_thread(c), q, q->clock_ps);
}

/* True if the program has measured time between events, read its own clock, or requested a trace.
 */
static bool looked_at_times(const struct connection *c)
{
    return c->request.q.value || c->process->times_read || c->process->trace.timeline_fd >= 0;
}

void request_bye(struct connection *c)
{
    if (c->process->left)
        return; /* a repeated request, for the rest of the texts */
    node_counts.features |= c->request.q.ptr & VGPU_FEATURES_ALL;
    if (c->process->checks & VGPU_CHECK_ORDER)
        /* Compares operations that nothing waits for, too. */
        order_flush(c->process->order);
    checks_tell_end(c->process);
    c->process->left = true;
    c->reply.r.value = looked_at_times(c) && late_issue_tell(c->process);
    /* Written before the program ends, which may then read it. */
    trace_write(server_state.trace, c->process);
}
