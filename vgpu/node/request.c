/* SPDX-License-Identifier: MIT
 * request.c: takes a request apart and gives it to its handler.
 */
#define _GNU_SOURCE
#include "request.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"
#include "conflict.h"
#include "finding.h"
#include "habits.h"
#include "happens.h"
#include "leaks.h"
#include "order.h"
#include "overtaken.h"
#include "process.h"
#include "sim.h"
#include "pace.h"
#include "tally.h"
#include "timeline.h"
#include "trace.h"

/* A program that has the node for itself begins at time 0, also where it is not the node's first:
 * it must not matter whether the node of the program before was quick to end. */
static void start_over(void)
{
    if (!process_any_alive() && !server_watched() && sim_restart())
        timeline_restart();
}

static void hello(struct connection *c)
{
    struct vgpu_request *q = &c->request.q;
    char error[256];
    if (q->u.hello.protocol != VGPU_PROTOCOL) {
        request_fail(c, VGPU_UNKNOWN,
                     "the program speaks protocol %u, the node %d: rebuild the program",
                     q->u.hello.protocol, VGPU_PROTOCOL);
        return;
    }
    q->u.hello.program[sizeof q->u.hello.program - 1] = '\0';
    start_over();
    c->process = process_new(q->u.hello.pid, q->u.hello.program, error, sizeof error);
    if (!c->process) {
        request_fail(c, VGPU_OUT_OF_MEMORY, "%s", error);
        return;
    }
    c->process->connections = 1;
    c->process->os_pid = c->sender;
    timeline_program(c->process, c->request_fd);
    c->process->strict = q->u.hello.strict;
    c->process->checks = q->u.hello.checks;
    if (c->process->checks & VGPU_CHECK_ORDER)
        happens_start();
    c->reply.r.u.hello.node_cpu = server_cpu();
    c->reply.r.u.hello.protocol = VGPU_PROTOCOL;
    c->reply_fd[0] = server_info_fd();
    c->reply_fd[1] = c->process->host_fd;
    c->reply_fds = 2;
}

static void thread(struct connection *c)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
        request_fail(c, VGPU_OUT_OF_MEMORY, "no connection for another host thread: %s",
                     strerror(errno));
        return;
    }
    if (!server_add_thread(pair[0], c->process, c->request.q.clock_ps)) {
        close(pair[1]);
        request_fail(c, VGPU_OUT_OF_MEMORY, "too many host threads use the node");
        return;
    }
    c->reply_fd[0] = pair[1];
    c->reply_fds = 1;
    c->reply_fd_ours = true;
}

static void witness(struct connection *c)
{
    c->witness = true;
    c->reply.r.value = (uint64_t)server_info()->device_count;
    c->reply_fd[0] = server_info_fd();
    c->reply_fds = 1;
}

static void print(struct connection *c)
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

/* What the program's own side of a call has found. */
static void finding(struct connection *c)
{
    const struct vgpu_request *q = &c->request.q;
    int length = q->data_bytes < 700 ? (int)q->data_bytes : 700;
    request_cost(c, 0);
    if (q->value < VGPU_DIAGNOSES)
        finding_tell(c->process, (enum vgpu_diagnosis)q->value, NULL, q->caller, "%.*s", length,
                     (const char *)q->data);
}

static void bye(struct connection *c)
{
    if (c->process->left)
        return; /* it asks for the rest of what we have to say */
    if (c->process->checks & VGPU_CHECK_ORDER)
        order_flush(c->process); /* what nobody waits for is compared, too */
    habits_end(c->process);
    leaks_tell(c->process);
    tally_tell(c->process);
    pace_tell(c->process);
    c->process->left = true;
    c->reply.r.value = overtaken_tell(c->process, c->request.q.value);
    timeline_write(c->process); /* it may be read as soon as the program has ended */
}

/* Which side may send what: programs, witnesses, anybody. */
enum speaker { ANYBODY, NEWCOMER, PROGRAM, WITNESS };

static const struct {
    request_handler handle, done;
    enum speaker speaker;
} handlers[] = {
    [VGPU_OP_HELLO] = {hello, NULL, NEWCOMER},
    [VGPU_OP_THREAD] = {thread, NULL, PROGRAM},
    [VGPU_OP_WITNESS] = {witness, NULL, NEWCOMER},
    [VGPU_OP_MODULE] = {request_module, NULL, PROGRAM},
    [VGPU_OP_MALLOC] = {request_malloc, NULL, PROGRAM},
    [VGPU_OP_FREE] = {request_free, request_free_done, PROGRAM},
    [VGPU_OP_HOST_ALLOC] = {request_host_alloc, NULL, PROGRAM},
    [VGPU_OP_HOST_FREE] = {request_host_free, request_host_free_done, PROGRAM},
    [VGPU_OP_STAGE_ALLOC] = {request_stage_alloc, NULL, PROGRAM},
    [VGPU_OP_STAGE_FREE] = {request_host_free, NULL, PROGRAM},
    [VGPU_OP_MEM_INFO] = {request_mem_info, NULL, PROGRAM},
    [VGPU_OP_POINTER] = {request_pointer, NULL, PROGRAM},
    [VGPU_OP_CONTEXT] = {request_context, NULL, PROGRAM},
    [VGPU_OP_CONTEXT_MADE] = {request_context_made, NULL, PROGRAM},
    [VGPU_OP_DEVICE_SYNC] = {request_device_sync, NULL, PROGRAM},
    [VGPU_OP_DEVICE_RESET] = {request_device_reset, request_device_reset_done, PROGRAM},
    [VGPU_OP_PEER_ENABLE] = {request_peer_enable, NULL, PROGRAM},
    [VGPU_OP_PEER_DISABLE] = {request_peer_disable, NULL, PROGRAM},
    [VGPU_OP_STREAM_CREATE] = {request_stream_create, NULL, PROGRAM},
    [VGPU_OP_STREAM_DESTROY] = {request_stream_destroy, NULL, PROGRAM},
    [VGPU_OP_STREAM_SYNC] = {request_stream_sync, NULL, PROGRAM},
    [VGPU_OP_STREAM_QUERY] = {request_stream_query, NULL, PROGRAM},
    [VGPU_OP_STREAM_WAIT] = {request_stream_wait, NULL, PROGRAM},
    [VGPU_OP_STREAM_INFO] = {request_stream_info, NULL, PROGRAM},
    [VGPU_OP_EVENT_CREATE] = {request_event_create, NULL, PROGRAM},
    [VGPU_OP_EVENT_DESTROY] = {request_event_destroy, NULL, PROGRAM},
    [VGPU_OP_EVENT_RECORD] = {request_event_record, NULL, PROGRAM},
    [VGPU_OP_EVENT_SYNC] = {request_event_sync, NULL, PROGRAM},
    [VGPU_OP_EVENT_QUERY] = {request_event_query, NULL, PROGRAM},
    [VGPU_OP_EVENT_ELAPSED] = {request_event_elapsed, NULL, PROGRAM},
    [VGPU_OP_COPY] = {request_copy, NULL, PROGRAM},
    [VGPU_OP_MEMSET] = {request_memset, NULL, PROGRAM},
    [VGPU_OP_LAUNCH] = {request_launch, NULL, PROGRAM},
    [VGPU_OP_POOL_CREATE] = {request_pool_create, NULL, PROGRAM},
    [VGPU_OP_POOL_EXPORT] = {request_pool_export, NULL, PROGRAM},
    [VGPU_OP_POOL_IMPORT] = {request_pool_import, NULL, PROGRAM},
    [VGPU_OP_POOL_EXPORT_PTR] = {request_pool_export_ptr, NULL, PROGRAM},
    [VGPU_OP_POOL_IMPORT_PTR] = {request_pool_import_ptr, NULL, PROGRAM},
    [VGPU_OP_POOL_DESTROY] = {request_pool_destroy, NULL, PROGRAM},
    [VGPU_OP_POOL_SET_ACCESS] = {request_pool_set_access, NULL, PROGRAM},
    [VGPU_OP_POOL_GET_ACCESS] = {request_pool_get_access, NULL, PROGRAM},
    [VGPU_OP_POOL_SET] = {request_pool_set, NULL, PROGRAM},
    [VGPU_OP_POOL_GET] = {request_pool_get, NULL, PROGRAM},
    [VGPU_OP_POOL_MALLOC] = {request_pool_malloc, NULL, PROGRAM},
    [VGPU_OP_POOL_FREE] = {request_pool_free, NULL, PROGRAM},
    [VGPU_OP_VAR] = {request_var, NULL, PROGRAM},
    [VGPU_OP_PRINTF] = {print, NULL, PROGRAM},
    [VGPU_OP_VMM_CREATE] = {request_vmm_create, NULL, PROGRAM},
    [VGPU_OP_VMM_RELEASE] = {request_vmm_release, NULL, PROGRAM},
    [VGPU_OP_VMM_INFO] = {request_vmm_info, NULL, PROGRAM},
    [VGPU_OP_VMM_RETAIN] = {request_vmm_retain, NULL, PROGRAM},
    [VGPU_OP_VMM_EXPORT] = {request_vmm_export, NULL, PROGRAM},
    [VGPU_OP_VMM_IMPORT] = {request_vmm_import, NULL, PROGRAM},
    [VGPU_OP_VMM_RESERVE] = {request_vmm_reserve, NULL, PROGRAM},
    [VGPU_OP_VMM_FREE] = {request_vmm_free, NULL, PROGRAM},
    [VGPU_OP_VMM_MAP] = {request_vmm_map, NULL, PROGRAM},
    [VGPU_OP_VMM_UNMAP] = {request_vmm_unmap, request_vmm_unmap_done, PROGRAM},
    [VGPU_OP_VMM_ACCESS] = {request_vmm_access, NULL, PROGRAM},
    [VGPU_OP_VMM_GET_ACCESS] = {request_vmm_get_access, NULL, PROGRAM},
    [VGPU_OP_IPC_EXPORT] = {request_ipc_export, NULL, PROGRAM},
    [VGPU_OP_IPC_OPEN] = {request_ipc_open, NULL, PROGRAM},
    [VGPU_OP_IPC_CLOSE] = {request_ipc_close, request_ipc_close_done, PROGRAM},
    [VGPU_OP_IPC_EVENT] = {request_ipc_event, NULL, PROGRAM},
    [VGPU_OP_IPC_EVENT_OPEN] = {request_ipc_event_open, NULL, PROGRAM},
    [VGPU_OP_HOST_FUNC] = {request_host_func, NULL, PROGRAM},
    [VGPU_OP_HOST_NEXT] = {request_host_next, NULL, PROGRAM},
    [VGPU_OP_GRAPH] = {request_graph, NULL, PROGRAM},
    [VGPU_OP_HOST_TOUCH] = {request_host_touch, NULL, PROGRAM},
    [VGPU_OP_HOST_KNOWN] = {request_host_known, NULL, PROGRAM},
    [VGPU_OP_FINDING] = {finding, NULL, PROGRAM},
    [VGPU_OP_BYE] = {bye, NULL, PROGRAM},
    [VGPU_OP_SUMMARY] = {request_summary, NULL, WITNESS},
    [VGPU_OP_TRACE] = {request_trace, NULL, WITNESS},
};

void request_cost(struct connection *c, uint64_t cost_ps)
{
    const struct vgpu_request *q = &c->request.q;
    const struct costs *cost = &server_topology()->cost;
    if (q->graph != VGPU_GRAPH_NONE)
        cost_ps = q->op == VGPU_OP_COPY ? cost->graph_copy_ps : 0;
    c->reply.r.clock_ps = c->request.q.clock_ps + cost_ps;
}

void request_fail(struct connection *c, int error, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    c->reply.r.error = error;
    vsnprintf(c->reply.r.explain, sizeof c->reply.r.explain, format, list);
    va_end(list);
}

bool request_device(struct connection *c, int device)
{
    if (device < 0 || device >= server_info()->device_count) {
        request_fail(c, VGPU_INVALID_DEVICE, "there is no GPU %d: the node has %d", device,
                     server_info()->device_count);
        return false;
    }
    c->reply.r.error = process_context(c->process, device);
    return c->reply.r.error == VGPU_SUCCESS;
}

void request_wait_until(struct connection *c, struct op *op, enum wait until)
{
    c->wait = op;
    c->until = until;
    op->awaited = true;
}

void request_wait(struct connection *c, struct op *mark)
{
    request_wait_until(c, mark, WAIT_END);
}

static bool allowed(const struct connection *c, enum speaker speaker)
{
    switch (speaker) {
    case NEWCOMER:
        return !c->process && !c->witness;
    case PROGRAM:
        return c->process != NULL;
    case WITNESS:
        return c->witness;
    default:
        return true;
    }
}

/* Two threads' requests may come in the other order than they were made. */
static void count_call(struct process *p, const struct vgpu_request *q)
{
    p->calls++;
    if (q->unheard >> 32 >= p->unheard >> 32 && q->unheard != p->unheard) {
        if ((uint32_t)q->unheard > (uint32_t)p->unheard && q->clock_ps > p->unheard_ps)
            p->unheard_ps = q->clock_ps;
        p->unheard = q->unheard;
        p->held = (struct held){0};
    }
}

void request_handle(struct connection *c)
{
    struct vgpu_request *q = &c->request.q;
    memset(&c->reply.r, 0, sizeof c->reply.r);
    c->reply_fds = 0;
    c->reply_fd_ours = false;
    trace_counts()->progress++;
    request_cost(c, server_topology()->cost.enqueue_ps);
    if (q->op >= sizeof handlers / sizeof *handlers || !handlers[q->op].handle ||
        !allowed(c, handlers[q->op].speaker)) {
        request_fail(c, VGPU_UNKNOWN, "the node does not take request %u here", q->op);
        return;
    }
    q->call[sizeof q->call - 1] = q->site[sizeof q->site - 1] = '\0';
    if (c->process)
        count_call(c->process, q);
    bool before = c->worked;
    c->worked |= c->process && q->op != VGPU_OP_THREAD && q->op != VGPU_OP_BYE;
    c->works |= c->worked;
    if (c->worked && !before)
        c->process->overtaken.workers++;
    handlers[q->op].handle(c);
}

/* The caller's clock when what it waited for has come. */
static uint64_t clock_after(const struct connection *c)
{
    uint64_t now_ps = c->reply.r.clock_ps, end_ps = c->wait->end_ps;
    if (c->until == WAIT_EFFECT || c->request.q.graph != VGPU_GRAPH_NONE)
        return now_ps; /* a launch of a graph waits for nothing */
    if (c->until == WAIT_HANDOVER)
        end_ps -= sim_path(c->wait)->handover_ps;
    else if (end_ps > now_ps)
        return end_ps + server_topology()->cost.wake_ps;
    else
        return now_ps + server_topology()->cost.wake_ps;
    return end_ps > now_ps ? end_ps : now_ps;
}

/* What was waited for was another process's, which ended or failed before it came to pass. */
static bool waited_in_vain(const struct connection *c)
{
    const struct process *p = c->wait->process;
    return c->process && p != c->process && (p->dead || p->sticky);
}

/* An asynchronous copy from pageable memory comes back when the memory is free again: the program
 * may not rely on more. */
static bool knows_it_over(const struct connection *c)
{
    const struct op *op = c->wait;
    return c->until == WAIT_END || op->kind != OP_COPY || op->u.copy.sync;
}

void request_finish(struct connection *c)
{
    struct vgpu_reply *r = &c->reply.r;
    if (c->wait) {
        if (waited_in_vain(c))
            request_fail(c, VGPU_LAUNCH_FAILURE,
                         "what was waited for is work of process %d, which ended or failed first",
                         (int)c->wait->process->pid);
        r->clock_ps = clock_after(c);
        if (knows_it_over(c))
            conflict_seen(c->wait);
        tally_waited(c);
        op_drop(c->wait);
        c->wait = NULL;
        if (handlers[c->request.q.op].done)
            handlers[c->request.q.op].done(c);
        if (!r->error && c->process)
            r->error = c->process->sticky;
    }
    if (!c->process)
        return;
    if (c->process->explain[0] && !r->explain[0]) {
        memcpy(r->explain, c->process->explain, sizeof r->explain);
        c->process->explain[0] = '\0';
    }
    r->learned = happens_learned();
    process_take_remarks(c->process, r->explain, sizeof r->explain);
    r->text_waiting = c->process->printed_bytes > 0;
}
