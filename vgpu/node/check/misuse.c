/* SPDX-License-Identifier: MIT
 * misuse.c: see misuse.h.
 */
#include "misuse.h"

#include <stdio.h>

#include "explain.h"
#include "finding.h"
#include "ipc.h"
#include "device_memory.h"
#include "process.h"

void misuse_wait_unrecorded(struct event *event, const struct vgpu_request *q)
{
    if (event->check.waited)
        return;
    event->check.waited = true;
    event->check.waited_at = q->caller;
    snprintf(event->check.waiter, sizeof event->check.waiter, "%s", q->call);
}

void misuse_event_ends(const struct event *event)
{
    if (!event->check.waited || event->shared->recorded)
        return;
    finding_tell(event->process, VGPU_DIAGNOSIS_api_event_unrecorded, NULL, event->check.waited_at,
                 "%s" EXPLAIN_AT_FORMAT
                 " waits for an event that was never recorded, so it returns at once; call "
                 "cudaEventRecord before the wait, in the stream whose work must be done",
                 event->check.waiter, (unsigned long long)event->check.waited_at);
}

void misuse_mismatch(struct process *process, const struct vgpu_request *q, const char *what,
                     int owner, int stream_of)
{
    finding_tell(process, VGPU_DIAGNOSIS_api_wrong_device, NULL, q->caller,
                 "%s" EXPLAIN_AT_FORMAT
                 " uses %s of GPU %d with a stream of GPU %d: call cudaSetDevice(%d) before you "
                 "create either of them, or before this call if the stream is the default stream",
                 q->call, (unsigned long long)q->caller, what, owner, stream_of, owner);
}

/* Recorded: 10 of 324,066 random programs crashed in this call with signal 11. */
void misuse_handle_elsewhere(struct process *process, const struct vgpu_request *q,
                             const struct event *event)
{
    if (q->device == event->device)
        return;
    finding_tell(process, VGPU_DIAGNOSIS_api_wrong_device, NULL, q->caller,
                 "%s" EXPLAIN_AT_FORMAT
                 " asks for the handle of an event of GPU %d while GPU %d is current: drivers of "
                 "real GPUs sometimes crash in this call; call cudaSetDevice(%d) before it",
                 q->call, (unsigned long long)q->caller, event->device, q->device, event->device);
}

static void report_one_way_peer(const struct op *op, int owner)
{
    finding_tell(op->process, VGPU_DIAGNOSIS_api_peer_one_way, op, op->caller,
                 "kernel %.64s on GPU %d" EXPLAIN_AT_FORMAT
                 " uses memory of GPU %d, but peer access "
                 "is enabled from GPU %d to GPU %d only: each direction is enabled on its own; "
                 "call cudaDeviceEnablePeerAccess(%d, 0) while GPU %d is current",
                 op->u.kernel.name, op->device, (unsigned long long)op->caller, owner, owner,
                 op->device, owner, op->device);
}

static void report_wrong_device(const struct op *op, const struct pointee *p)
{
    char whose[160];
    explain_allocation(p, whose, sizeof whose);
    finding_tell(op->process, VGPU_DIAGNOSIS_api_wrong_device, op, op->caller,
                 "kernel %.64s" EXPLAIN_AT_FORMAT " runs on GPU %d, the current one at its launch, "
                 "and uses %s: call cudaSetDevice(%d) before the launch, or let GPU %d reach the "
                 "memory (cudaDeviceEnablePeerAccess)",
                 op->u.kernel.name, (unsigned long long)op->caller, op->device, whose, p->device,
                 op->device);
}

void misuse_foreign_memory(const struct op *op, uint64_t address)
{
    struct pointee p;
    if (!memory_find(address, &p) || p.owner != &op->process->memory || p.mapping || p.pool ||
        p.device == op->device)
        return;
    if (op->process->device[p.device].peers >> op->device & 1)
        report_one_way_peer(op, p.device);
    else
        report_wrong_device(op, &p);
}

void misuse_free_while_open(struct process *process, const struct vgpu_request *q, uint64_t address)
{
    int others = ipc_opened_by_others(&process->memory, address);
    struct pointee p;
    char whose[160];
    if (others == 0 || !memory_find(address, &p))
        return;
    explain_allocation(&p, whose, sizeof whose);
    finding_tell(
        process, VGPU_DIAGNOSIS_api_free_while_open, NULL, q->caller,
        "%s" EXPLAIN_AT_FORMAT
        " frees %s while %d other process%s it open: what they read there is undefined; free it "
        "only after each of them has called cudaIpcCloseMemHandle and has told this process so",
        q->call, (unsigned long long)q->caller, whose, others, others == 1 ? " has" : "es have");
}

void misuse_process_ends(struct process *process)
{
    for (const struct event *e = process->events; e; e = e->next)
        misuse_event_ends(e);
}
