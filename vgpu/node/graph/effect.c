/* SPDX-License-Identifier: MIT
 * effect.c: see effect.h. Operations of a process that is dead or failed have no effect.
 */
#include "effect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "codes.h"
#include "context.h"
#include "counts.h"
#include "explain.h"
#include "inject.h"
#include "ipc.h"
#include "device_memory.h"
#include "move.h"
#include "observer.h"
#include "kernel_timeout.h"
#include "process.h"
#include "reserve.h"
#include "vmm.h"

static void out_of_host_memory(struct process *process, const char *call)
{
    process_fail(process, VGPU_OUT_OF_MEMORY, explain_commit_limit(call));
}

/* True for a copy lost by VGPU_FAULT=peer-drop. */
static bool is_dropped(const struct op *op)
{
    return inject_wanted && op->direct && inject_drops(op->from, op->to);
}

static void note_moved(struct op *op, enum moved how, uint64_t rows)
{
    char text[256];
    if (how == MOVED_NO_MEMORY)
        out_of_host_memory(op->process, op->call);
    if (how != MOVED_TOO_LONG)
        return;
    snprintf(text, sizeof text,
             "%s: %llu rows kept the virtual node busy for %d s (VGPU_KERNEL_SECONDS): use fewer "
             "and longer rows, or a kernel, which take less time",
             op->call, (unsigned long long)rows, vgpu_kernel_seconds());
    process_fail(op->process, VGPU_LAUNCH_TIMEOUT, text);
}

/* VGPU_FAULT=link-damage: one bit in the middle of the first row, where there is no mapping. */
static void damage_copy(const struct op *op)
{
    const struct vgpu_copy *c = &op->u.copy;
    uint8_t *byte = c->bytes ? memory_view(c->dst + c->bytes / 2, 1) : NULL;
    if (byte)
        *byte ^= 1;
}

static void apply_copy(struct op *op)
{
    op->process->usage->rows += op->u.copy.rows;
    if (!is_dropped(op))
        note_moved(op, move_copy(&op->process->memory, &op->u.copy), op->u.copy.rows);
    if (inject_wanted && inject_damages(op->from, op->to))
        damage_copy(op);
}

/* Makes the whole process fail, as any fault of a GPU does. */
static void fail_process(struct process *process, int code, const char *text)
{
    struct vgpu_summary *counts = &node_counts;
    counts->faults++;
    strncpy(counts->last_fault, text, sizeof counts->last_fault - 1);
    explain_unmark(counts->last_fault);
    process_fail(process, code, text);
}

static void apply_fill(struct op *op)
{
    op->process->usage->rows += op->u.memset.rows;
    enum moved how = move_fill(&op->process->memory, &op->u.memset);
    note_moved(op, how, op->u.memset.rows);
    if (how == MOVED && op->u.memset.wraps)
        fail_process(op->process, VGPU_ILLEGAL_ADDRESS, explain_wrapping(op));
}

/* ---- kernels ---- */

union answer {
    struct vgpu_exec_reply reply;
    char room[VGPU_MSG_MAX];
};

static void note_fault(struct op *op, const struct vgpu_exec_reply *reply)
{
    const char *text = explain_fault(op, reply);
    fail_process(op->process, explain_fault_code(reply->fault.kind), text);
}

/* The GPU whose memory the kernel accessed through mappings (VMM, IPC). A context counts accesses
 * by address, from which that is not known: it is taken from the last argument that points to
 * another GPU's memory; without one, it is the kernel's own GPU. */
static int mapped_device(const struct op *op)
{
    const struct kernel_run *k = &op->u.kernel;
    int device = op->device;
    for (uint32_t at = 0; at + sizeof(uint64_t) <= k->launch.args_bytes; at += 4) {
        uint64_t value;
        memcpy(&value, k->args + at, sizeof value);
        const struct vmm_mapping *m = vmm_at(value);
        if (m && m->handle->allocation->device != op->device)
            device = m->handle->allocation->device;
    }
    return device;
}

static bool used_mappings(const struct vgpu_run_counts *c)
{
    uint64_t bytes = 0;
    for (int w = VGPU_MAX_GPUS; w < VGPU_MAX_DEVICES; w++)
        bytes |= c->read_bytes[w] | c->write_bytes[w] | c->read_moved[w] | c->write_moved[w];
    return bytes > 0;
}

/* Adds the counts of mapped memory to those of the GPU that the memory is on. */
static void fold_mappings(const struct op *op, struct vgpu_run_counts *c)
{
    if (!used_mappings(c))
        return;
    int device = mapped_device(op);
    for (int w = VGPU_MAX_GPUS; w < VGPU_MAX_DEVICES; w++) {
        c->read_bytes[device] += c->read_bytes[w];
        c->write_bytes[device] += c->write_bytes[w];
        c->read_moved[device] += c->read_moved[w];
        c->write_moved[device] += c->write_moved[w];
        c->read_bytes[w] = c->write_bytes[w] = c->read_moved[w] = c->write_moved[w] = 0;
    }
}

static void keep_counts(struct op *op, const struct vgpu_run_counts *counts)
{
    op->counts = reserve_take(sizeof *op->counts);
    *op->counts = *counts;
}

static enum effect run_kernel(struct op *op, bool resume)
{
    union answer answer;
    char error[512] = "";
    if (context_run(op, resume, &answer.reply, error, sizeof error) != 0) {
        op->u.kernel.stalled = false;
        process_fail(op->process, VGPU_UNKNOWN, error);
        return EFFECT_DONE;
    }
    op->u.kernel.stalled = answer.reply.status == VGPU_STALLED;
    fold_mappings(op, &answer.reply.counts);
    tell_ran(op, &(struct kernel_report){.reply = &answer.reply,
                                         .span = answer_spans(),
                                         .spans = answer_span_count(),
                                         .resumed = resume});
    switch (answer.reply.status) {
    case VGPU_STALLED:
        free(op->u.kernel.stall_text);
        op->u.kernel.stall_text = strdup(answer.reply.text);
        op->u.kernel.blocks_left = answer.reply.blocks_left;
        op->u.kernel.blocks_fit = answer.reply.blocks_fit;
        return answer.reply.moved ? EFFECT_MOVED : EFFECT_STALLED;
    case VGPU_FAULTED:
        note_fault(op, &answer.reply);
        keep_counts(op, &answer.reply.counts);
        return EFFECT_DONE;
    case VGPU_RAN:
        keep_counts(op, &answer.reply.counts);
        return EFFECT_DONE;
    default:
        process_fail(op->process, VGPU_UNKNOWN, answer.reply.text);
        return EFFECT_DONE;
    }
}

static enum effect call_host(struct op *op)
{
    if (op->u.host.state == HOST_WAITS)
        op->u.host.state = HOST_WANTED;
    return op->u.host.state == HOST_DONE ? EFFECT_DONE : EFFECT_STALLED;
}

/* Carries out cudaFreeAsync, for memory of the process or imported with a pool. */
static void apply_free(struct process *process, uint64_t address)
{
    if (ipc_close(&process->memory, address))
        return;
    ipc_freed(&process->memory, address);
    memory_give(&process->memory, address);
}

static void lose_copy(struct op *op)
{
    char text[160];
    snprintf(text, sizeof text,
             "GPU %d has fallen off the bus (VGPU_FAULT=gpu-lost): none of its queued work will be "
             "done; end this process, since only others can go on without that GPU",
             op->device);
    process_fail(op->process, VGPU_UNKNOWN, text);
}

enum effect effect_apply(struct op *op)
{
    if (op->process->dead || op->process->sticky)
        return EFFECT_DONE;
    if (inject_wanted && inject_lost(op->device)) {
        lose_copy(op);
        return EFFECT_DONE;
    }
    tell_begins(op);
    if (op->kind == OP_COPY)
        apply_copy(op);
    else if (op->kind == OP_MEMSET)
        apply_fill(op);
    else if (op->kind == OP_FREE)
        apply_free(op->process, op->u.free);
    else if (op->kind == OP_KERNEL)
        return run_kernel(op, false);
    else if (op->kind == OP_HOST)
        return call_host(op);
    tell_done(op);
    return EFFECT_DONE;
}

enum effect effect_resume(struct op *op)
{
    if (op->process->dead || op->process->sticky)
        return EFFECT_DONE;
    tell_resumes(op);
    return op->kind == OP_HOST ? call_host(op) : run_kernel(op, true);
}

void effect_abandon(struct op *op)
{
    if (op->kind != OP_KERNEL)
        return;
    if (op->u.kernel.stalled && !op->process->dead)
        context_abort(op);
    op->u.kernel.stalled = false;
}

const char *effect_stall_text(const struct op *op)
{
    return op->u.kernel.stall_text ? op->u.kernel.stall_text : "";
}
