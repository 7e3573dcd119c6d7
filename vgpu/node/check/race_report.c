/* SPDX-License-Identifier: MIT
 * race_report.c: see race_report.h.
 */
#include "race_report.h"

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "explain.h"
#include "finding.h"
#include "device_memory.h"
#include "process.h"
#include "vector_clock.h"

enum { NAME = 240 };

static const char *access_verb(const struct access *a)
{
    if (a->op->kind == OP_FREE)
        return "frees";
    if (a->count == 0)
        return "uses";
    return a->use == VGPU_USE_READ ? "reads" : a->use == VGPU_USE_WRITE ? "writes" : "updates";
}

static bool is_touch(const struct access *a)
{
    return a->op->kind == OP_TOUCH;
}

/* Writes "kernel add on stream 2 of GPU 0 at ring.cu:44", for a message to `reader`'s user. */
static void name_op(const struct op *op, const struct process *reader, char *out)
{
    char stream[32] = "the default stream", where[48] = "";
    if (op->on_stream)
        snprintf(stream, sizeof stream, "stream %u", op->on_stream);
    if (op->process != reader)
        snprintf(where, sizeof where, " in process %d (%.20s)", (int)op->process->pid,
                 op->process->program);
    else if (op->caller)
        snprintf(where, sizeof where, EXPLAIN_AT_FORMAT, (unsigned long long)op->caller);
    if (op->kind == OP_TOUCH) {
        snprintf(out, NAME, "host code%s", where);
        return;
    }
    snprintf(out, NAME, "%s%.64s on %s of GPU %d%s", op->kind == OP_KERNEL ? "kernel " : "",
             op->kind == OP_KERNEL ? op->u.kernel.name : op->call, stream, op->device, where);
}

static void name_size(uint64_t bytes, char *out, size_t room)
{
    if (bytes && bytes % (1 << 20) == 0)
        snprintf(out, room, "%llu MiB", (unsigned long long)(bytes >> 20));
    else
        snprintf(out, room, "%llu", (unsigned long long)bytes);
}

/* Writes "bytes 0 to 1 MiB of an allocation of ...". */
static void name_bytes(const struct access *a, const struct access *b, const struct place *place,
                       const struct process *reader, char *out, size_t room)
{
    uint64_t low = a->low > b->low ? a->low : b->low, end = a->end < b->end ? a->end : b->end;
    char to[32], whose[160];
    struct pointee p;
    name_size(end, to, sizeof to);
    snprintf(whose, sizeof whose, "%llu bytes of %s memory", (unsigned long long)place->bytes,
             place->managed ? "managed" : "pinned");
    if (!place->host_of && memory_find(place->home, &p)) {
        p.caller = p.owner == &reader->memory ? p.caller : 0;
        explain_allocation(&p, whose, sizeof whose);
    }
    if (is_touch(a) || is_touch(b))
        snprintf(out, room, "byte %llu of %s", (unsigned long long)low, whose);
    else
        snprintf(out, room, "bytes %llu to %s of %s", (unsigned long long)low, to, whose);
}

static bool is_on_non_blocking_stream(const struct op *op)
{
    for (int d = 0; d < VGPU_MAX_DEVICES; d++)
        for (const struct stream *s = op->process->device[d].streams; s; s = s->next)
            if (s->id == op->stream)
                return s->flags & STREAM_NON_BLOCKING;
    return false;
}

static bool is_atomic_access(const struct access *a)
{
    return a->count && (a->use == VGPU_USE_ATOMIC || a->use == VGPU_USE_ATOMIC_SYSTEM);
}

static enum vgpu_diagnosis diagnose_race(const struct access *a, const struct access *b)
{
    const struct op *first = a->op, *second = b->op;
    if (is_touch(a) || is_touch(b))
        return VGPU_DIAGNOSIS_order_host;
    if (is_atomic_access(a) && is_atomic_access(b))
        return VGPU_DIAGNOSIS_order_scope;
    if (vclocks_unfenced(first, second))
        return VGPU_DIAGNOSIS_order_fence;
    if (first->kind == OP_FREE || second->kind == OP_FREE)
        return VGPU_DIAGNOSIS_order_free;
    if (first->process != second->process)
        return VGPU_DIAGNOSIS_order_processes;
    if (first->device != second->device)
        return VGPU_DIAGNOSIS_order_gpus;
    if ((first->stream == VGPU_STREAM_LEGACY && is_on_non_blocking_stream(second)) ||
        (second->stream == VGPU_STREAM_LEGACY && is_on_non_blocking_stream(first)))
        return VGPU_DIAGNOSIS_order_default_stream;
    return VGPU_DIAGNOSIS_order_streams;
}

static const char *correction_text(enum vgpu_diagnosis diagnosis)
{
    switch (diagnosis) {
    case VGPU_DIAGNOSIS_order_host:
        return "wait for the GPU (cudaStreamSynchronize, cudaEventSynchronize) before host code "
               "uses the memory";
    case VGPU_DIAGNOSIS_order_default_stream:
        return "a stream made with cudaStreamNonBlocking and the default stream do not wait for "
               "each other: put both into one stream, or an event between them";
    case VGPU_DIAGNOSIS_order_processes:
        return "wait for the first (cudaStreamSynchronize) before the other process is told to go "
               "on, or share an event (cudaIpcGetEventHandle)";
    case VGPU_DIAGNOSIS_order_fence:
        return "there is a flag, and no __threadfence_system() before it (__threadfence() reaches "
               "only its own GPU): call it after the data is stored and before the flag is";
    case VGPU_DIAGNOSIS_order_scope:
        return "an atomic without _system is one only towards its own GPU: use the form with "
               "_system (atomicAdd_system) on both";
    case VGPU_DIAGNOSIS_order_free:
        return "free it in the stream that uses it last, or record an event after the use and "
               "make the freeing stream wait for it";
    default:
        return "record an event after the first (cudaEventRecord) and make the second's stream "
               "wait "
               "for it (cudaStreamWaitEvent)";
    }
}

static void send_race_report(const struct access *a, const struct access *b,
                             const struct place *place, struct process *reader)
{
    char first[NAME], second[NAME], bytes[256];
    enum vgpu_diagnosis diagnosis = diagnose_race(a, b);
    name_op(a->op, reader, first);
    name_op(b->op, reader, second);
    name_bytes(a, b, place, reader, bytes, sizeof bytes);
    uint64_t key = a->op->caller * 31 + b->op->caller;
    const struct op *own = a->op->process == reader ? a->op : b->op;
    finding_tell(reader, diagnosis, own, key, "%s %s %s; %s %s %s; nothing orders the two: %s",
                 first, access_verb(a), bytes, second, access_verb(b),
                 b->op->kind == OP_FREE || is_touch(b) ? "it" : "them", correction_text(diagnosis));
}

void race_report(const struct access *a, const struct access *b, const struct place *place)
{
    bool in_turn = is_touch(b) || (!is_touch(a) && a->op->seq < b->op->seq);
    const struct access *first = in_turn ? a : b, *second = in_turn ? b : a;
    send_race_report(first, second, place, a->op->process);
    if (b->op->process != a->op->process && (b->op->process->checks & VGPU_CHECK_ORDER))
        send_race_report(first, second, place, b->op->process);
}
