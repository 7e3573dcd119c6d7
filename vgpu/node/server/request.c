/* SPDX-License-Identifier: MIT
 * request.c: dispatches requests to their handlers.
 */
#include "request.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "counts.h"
#include "inject.h"
#include "cold.h"
#include "request_form.h"
#include "server.h"
#include "checks.h"
#include "misuse.h"
#include "late_issue.h"
#include "machine.h"
#include "observer.h"
#include "order.h"
#include "op_costs.h"
#include "process.h"
#include "reply.h"
#include "call_advice.h"

/* Unfinished operations of a process; each takes some KB. */
enum { MOST_OPERATIONS = 1 << 18 };

/* Who may send a request. */
enum speaker { ANYBODY, NEWCOMER, PROGRAM, WITNESS };

/* HANDLE: a request that is answered after at most one wait. ENDS: one that ends an object
 * (request_check). */
#define HANDLE(handler, speaker)                                                                   \
    {                                                                                              \
        NULL, handler, NULL, speaker                                                               \
    }
#define ENDS(name, speaker)                                                                        \
    {                                                                                              \
        name##_check, name##_begin, name##_end, speaker                                            \
    }

static const struct {
    request_check check;
    request_handler handle, end;
    enum speaker speaker;
} handlers[] = {
    [VGPU_OP_HELLO] = HANDLE(request_hello, NEWCOMER),
    [VGPU_OP_THREAD] = HANDLE(request_thread, PROGRAM),
    [VGPU_OP_WITNESS] = HANDLE(request_witness, NEWCOMER),
    [VGPU_OP_MODULE] = HANDLE(request_module, PROGRAM),
    [VGPU_OP_MALLOC] = HANDLE(request_malloc, PROGRAM),
    [VGPU_OP_FREE] = ENDS(request_free, PROGRAM),
    [VGPU_OP_HOST_ALLOC] = HANDLE(request_host_alloc, PROGRAM),
    [VGPU_OP_HOST_FREE] = ENDS(request_host_free, PROGRAM),
    [VGPU_OP_STAGE_ALLOC] = HANDLE(request_stage_alloc, PROGRAM),
    [VGPU_OP_STAGE_FREE] = HANDLE(request_stage_free, PROGRAM),
    [VGPU_OP_MEM_INFO] = HANDLE(request_mem_info, PROGRAM),
    [VGPU_OP_POINTER] = HANDLE(request_pointer, PROGRAM),
    [VGPU_OP_CONTEXT] = HANDLE(request_context, PROGRAM),
    [VGPU_OP_CONTEXT_MADE] = HANDLE(request_context_made, PROGRAM),
    [VGPU_OP_DEVICE_SYNC] = HANDLE(request_device_sync, PROGRAM),
    [VGPU_OP_DEVICE_RESET] = ENDS(request_device_reset, PROGRAM),
    [VGPU_OP_PEER_ENABLE] = HANDLE(request_peer_enable, PROGRAM),
    [VGPU_OP_PEER_DISABLE] = HANDLE(request_peer_disable, PROGRAM),
    [VGPU_OP_STREAM_CREATE] = HANDLE(request_stream_create, PROGRAM),
    [VGPU_OP_STREAM_DESTROY] = HANDLE(request_stream_destroy, PROGRAM),
    [VGPU_OP_STREAM_SYNC] = HANDLE(request_stream_sync, PROGRAM),
    [VGPU_OP_STREAM_QUERY] = HANDLE(request_stream_query, PROGRAM),
    [VGPU_OP_STREAM_WAIT] = HANDLE(request_stream_wait, PROGRAM),
    [VGPU_OP_STREAM_INFO] = HANDLE(request_stream_info, PROGRAM),
    [VGPU_OP_EVENT_CREATE] = HANDLE(request_event_create, PROGRAM),
    [VGPU_OP_EVENT_DESTROY] = HANDLE(request_event_destroy, PROGRAM),
    [VGPU_OP_EVENT_RECORD] = HANDLE(request_event_record, PROGRAM),
    [VGPU_OP_EVENT_SYNC] = HANDLE(request_event_sync, PROGRAM),
    [VGPU_OP_EVENT_QUERY] = HANDLE(request_event_query, PROGRAM),
    [VGPU_OP_EVENT_ELAPSED] = HANDLE(request_event_elapsed, PROGRAM),
    [VGPU_OP_COPY] = HANDLE(request_copy, PROGRAM),
    [VGPU_OP_MEMSET] = HANDLE(request_memset, PROGRAM),
    [VGPU_OP_LAUNCH] = HANDLE(request_launch, PROGRAM),
    [VGPU_OP_POOL_CREATE] = HANDLE(request_pool_create, PROGRAM),
    [VGPU_OP_POOL_EXPORT] = HANDLE(request_pool_export, PROGRAM),
    [VGPU_OP_POOL_IMPORT] = HANDLE(request_pool_import, PROGRAM),
    [VGPU_OP_POOL_EXPORT_PTR] = HANDLE(request_pool_export_ptr, PROGRAM),
    [VGPU_OP_POOL_IMPORT_PTR] = HANDLE(request_pool_import_ptr, PROGRAM),
    [VGPU_OP_POOL_DESTROY] = HANDLE(request_pool_destroy, PROGRAM),
    [VGPU_OP_POOL_SET_ACCESS] = HANDLE(request_pool_set_access, PROGRAM),
    [VGPU_OP_POOL_GET_ACCESS] = HANDLE(request_pool_get_access, PROGRAM),
    [VGPU_OP_POOL_SET] = HANDLE(request_pool_set, PROGRAM),
    [VGPU_OP_POOL_GET] = HANDLE(request_pool_get, PROGRAM),
    [VGPU_OP_POOL_MALLOC] = HANDLE(request_pool_malloc, PROGRAM),
    [VGPU_OP_POOL_FREE] = HANDLE(request_pool_free, PROGRAM),
    [VGPU_OP_VAR] = HANDLE(request_var, PROGRAM),
    [VGPU_OP_PRINTF] = HANDLE(request_print, PROGRAM),
    [VGPU_OP_VMM_CREATE] = HANDLE(request_vmm_create, PROGRAM),
    [VGPU_OP_VMM_RELEASE] = HANDLE(request_vmm_release, PROGRAM),
    [VGPU_OP_VMM_INFO] = HANDLE(request_vmm_info, PROGRAM),
    [VGPU_OP_VMM_RETAIN] = HANDLE(request_vmm_retain, PROGRAM),
    [VGPU_OP_VMM_EXPORT] = HANDLE(request_vmm_export, PROGRAM),
    [VGPU_OP_VMM_IMPORT] = HANDLE(request_vmm_import, PROGRAM),
    [VGPU_OP_VMM_RESERVE] = HANDLE(request_vmm_reserve, PROGRAM),
    [VGPU_OP_VMM_FREE] = HANDLE(request_vmm_free, PROGRAM),
    [VGPU_OP_VMM_MAP] = HANDLE(request_vmm_map, PROGRAM),
    [VGPU_OP_VMM_UNMAP] = ENDS(request_vmm_unmap, PROGRAM),
    [VGPU_OP_VMM_ACCESS] = HANDLE(request_vmm_access, PROGRAM),
    [VGPU_OP_VMM_GET_ACCESS] = HANDLE(request_vmm_get_access, PROGRAM),
    [VGPU_OP_IPC_EXPORT] = HANDLE(request_ipc_export, PROGRAM),
    [VGPU_OP_IPC_OPEN] = HANDLE(request_ipc_open, PROGRAM),
    [VGPU_OP_IPC_CLOSE] = ENDS(request_ipc_close, PROGRAM),
    [VGPU_OP_IPC_EVENT] = HANDLE(request_ipc_event, PROGRAM),
    [VGPU_OP_IPC_EVENT_OPEN] = HANDLE(request_ipc_event_open, PROGRAM),
    [VGPU_OP_HOST_FUNC] = HANDLE(request_host_func, PROGRAM),
    [VGPU_OP_HOST_NEXT] = HANDLE(request_host_next, PROGRAM),
    [VGPU_OP_GRAPH] = HANDLE(request_graph, PROGRAM),
    [VGPU_OP_HOST_TOUCH] = HANDLE(request_host_touch, PROGRAM),
    [VGPU_OP_HOST_KNOWN] = HANDLE(request_host_known, PROGRAM),
    [VGPU_OP_FINDING] = HANDLE(request_finding, PROGRAM),
    [VGPU_OP_RANGE] = HANDLE(request_range, PROGRAM),
    [VGPU_OP_BYE] = HANDLE(request_bye, PROGRAM),
    [VGPU_OP_SUMMARY] = HANDLE(request_summary, WITNESS),
    [VGPU_OP_TRACE] = HANDLE(request_trace, WITNESS),
    [VGPU_OP_SEAL] = HANDLE(request_seal, WITNESS),
    [VGPU_OP_LEAST_CHECKS] = HANDLE(request_least_checks, WITNESS),
    [VGPU_OP_PROGRAM] = HANDLE(request_program, NEWCOMER),
    [VGPU_OP_OBSERVE] = HANDLE(request_observe, NEWCOMER),
};

static bool may_send(const struct connection *c, enum speaker speaker)
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

/* Requests of two threads may arrive in an order other than that in which they were made. */
static void count_call(struct process *p, const struct vgpu_request *q)
{
    p->server.calls++;
    if (q->unregistered >> 32 >= p->server.unregistered >> 32 &&
        q->unregistered != p->server.unregistered) {
        if ((uint32_t)q->unregistered > (uint32_t)p->server.unregistered &&
            q->clock_ps > p->server.unregistered_ps)
            p->server.unregistered_ps = q->clock_ps;
        p->server.unregistered = q->unregistered;
        p->server.hold = (struct thread_hold){0};
    }
}

/* The program reports its threads' clocks itself. */
static void count_claims(const struct connection *c, const struct vgpu_request *q)
{
    bool waits =
        q->op == VGPU_OP_STREAM_SYNC || q->op == VGPU_OP_EVENT_SYNC || q->op == VGPU_OP_DEVICE_SYNC;
    bool costs = waits || request_form_queues(q);
    struct vgpu_summary *counts = &node_counts;
    counts->clocks_set_back += q->clock_ps < c->time.clock_ps;
    counts->unpaid += costs && (q->free || q->graph != VGPU_GRAPH_NONE);
}

static void start_reply(struct connection *c)
{
    memset(&c->reply.r, 0, sizeof c->reply.r);
    c->reply_fds = 0;
    c->reply_fd_ours = false;
}

bool request_enter(struct connection *c)
{
    struct vgpu_request *q = &c->request.q;
    char why[200];
    bool full = c->process && c->process->refs > MOST_OPERATIONS && request_form_queues(q);
    if (c->request_fd >= 0 && !request_form_takes_descriptor(q)) {
        close(c->request_fd);
        c->request_fd = -1;
    }
    if (request_form_check(q, machine->info.device_count, why, sizeof why) && !full)
        return true;
    start_reply(c);
    connection_usage(c)->malformed += !full;
    c->reply.r.full = full;
    if (full)
        request_fail(c, VGPU_OUT_OF_MEMORY,
                     "%d operations of this program are queued and have not ended, the most that "
                     "the node keeps: wait for some of them (cudaDeviceSynchronize)",
                     c->process->refs);
    else
        request_fail(c, VGPU_UNKNOWN, "the node does not take this request (%u): %s", q->op, why);
    return false;
}

/* VGPU_FAULT=process-dies. A process that is not visible here loses its connection to CUDA only. */
static void kill_process(struct connection *c)
{
    request_fail(c, VGPU_UNKNOWN, "this program is killed because VGPU_FAULT says so");
    if (c->process->os_pid > 0)
        kill(c->process->os_pid, SIGKILL);
}

/* True if VGPU_FAULT makes this call fail, or its process die. */
static bool fails_by_injection(struct connection *c)
{
    const struct vgpu_request *q = &c->request.q;
    if (inject_fails(q->call, q->op))
        request_fail(c, VGPU_UNKNOWN, "this call fails because VGPU_FAULT says so");
    else if (q->op != VGPU_OP_BYE && inject_dies(c->process->arrived))
        kill_process(c);
    else
        return false;
    return true;
}

void request_handle(struct connection *c)
{
    struct vgpu_request *q = &c->request.q;
    start_reply(c);
    node_counts.progress++;
    request_cost(c, machine->cost.enqueue_ps);
    if (q->op >= sizeof handlers / sizeof *handlers || !handlers[q->op].handle ||
        !may_send(c, handlers[q->op].speaker)) {
        request_fail(c, VGPU_UNKNOWN, "the node does not take request %u here", q->op);
        return;
    }
    if (c->process) {
        count_call(c->process, q);
        count_claims(c, q);
    }
    if (c->process && inject_wanted && fails_by_injection(c))
        return;
    bool before = c->worked;
    c->worked |= c->process && q->op != VGPU_OP_THREAD && q->op != VGPU_OP_BYE;
    c->works |= c->worked;
    if (c->worked && !before)
        late_issue_worker(c->process);
    c->wait.waited = false;
    if (!handlers[q->op].check || handlers[q->op].check(c))
        handlers[q->op].handle(c);
    cold_contexts(c);
}

/* The caller's clock after its wait. */
static uint64_t clock_after(const struct connection *c)
{
    uint64_t now_ps = c->reply.r.clock_ps, end_ps = c->wait.op->end_ps;
    if (c->wait.until == WAIT_EFFECT || c->request.q.graph != VGPU_GRAPH_NONE)
        return now_ps; /* a graph launch waits for nothing */
    if (c->wait.until == WAIT_HANDOVER)
        end_ps -= copy_model(machine, c->wait.op)->handover_ps;
    else if (end_ps > now_ps)
        return end_ps + machine->cost.wake_ps;
    else
        return now_ps + machine->cost.found_ps;
    return end_ps > now_ps ? end_ps : now_ps;
}

/* True if the operation waited for belongs to another process that ended or failed first. */
static bool waited_for_dead_process(const struct connection *c)
{
    return c->process && c->wait.op->process != c->process && op_is_lost(c->wait.op);
}

/* True if the host knows afterwards that the operation is over. An asynchronous copy from pageable
 * memory returns when the memory can be reused, and the program may rely on nothing more. */
static bool host_knows_end(const struct connection *c)
{
    const struct op *op = c->wait.op;
    return c->wait.until == WAIT_END || op->kind != OP_COPY || op->u.copy.sync;
}

/* Ends the request's object after the wait. It may have been ended, or the process may have failed,
 * in the meantime. */
static void end_object(struct connection *c)
{
    uint32_t op = c->request.q.op;
    if (!handlers[op].end)
        return;
    order_flush(c->process->order);
    c->wait.waited = true;
    if (handlers[op].check(c))
        handlers[op].end(c);
}

void request_finish(struct connection *c)
{
    struct vgpu_reply *r = &c->reply.r;
    if (c->wait.op) {
        if (waited_for_dead_process(c))
            request_fail(c, VGPU_LAUNCH_FAILURE,
                         "the call waited for work of process %d, which ended or failed before "
                         "that work was done",
                         (int)c->wait.op->process->pid);
        r->clock_ps = clock_after(c);
        if (host_knows_end(c)) {
            op_seen(c->wait.op);
            node_counts.completion_checks++;
        }
        if (c->process)
            advise_waited(c->process, &c->request.q, c->wait.op,
                          r->clock_ps - c->request.q.clock_ps);
        op_drop(c->wait.op);
        c->wait.op = NULL;
        end_object(c);
        if (!r->error && c->process)
            r->error = c->process->sticky;
    }
    if (!c->process)
        return;
    if (c->process->explain[0] && !r->explain[0]) {
        memcpy(r->explain, c->process->explain, sizeof r->explain);
        c->process->explain[0] = '\0';
    }
    r->learned = checks_learned(server_state.checks);
    if (c->process->remarks)
        process_take_remarks(c->process, r->explain, sizeof r->explain);
    r->text_waiting = c->process->printed_bytes > 0;
}
