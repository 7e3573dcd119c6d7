/* SPDX-License-Identifier: MIT
 * finding.c: see finding.h.
 */
#include "finding.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "bounds.h"
#include "check.h"
#include "explain.h"
#include "device_memory.h"
#include "observer.h"
#include "process.h"

static void report_stray(const struct op *op, const struct vgpu_stray *s)
{
    char text[768], whose[384];
    const char *kernel = op->u.kernel.name;
    struct pointee freed;
    enum vgpu_diagnosis diagnosis =
        bounds_freed(s->address, &freed) && freed.owner == &op->process->memory
            ? VGPU_DIAGNOSIS_kernels_freed
            : VGPU_DIAGNOSIS_kernels_bounds;
    explain_outside(op->process, s->address, whose, sizeof whose);
    snprintf(text, sizeof text,
             "finding: kernel %.64s on GPU %d (block (%u,%u,%u), thread (%u,%u,%u)%s%.90s) %s %u "
             "bytes at %#llx, %s\n"
             "      a real GPU does not report this, and %s; check the index against the size. "
             "VGPU_STRICT=1 makes it error 700 (cudaErrorIllegalAddress)",
             kernel, op->device, s->block.x, s->block.y, s->block.z, s->thread.x, s->thread.y,
             s->thread.z, s->where[0] ? ", " : "", s->where, s->write ? "wrote" : "read", s->bytes,
             (unsigned long long)s->address, whose,
             s->write ? "other data may be overwritten" : "the value read is undefined");
    vgpu_diagnosis_sign(diagnosis, text, sizeof text);
    process_explain(op->process, text);
    tell_found(&(struct finding){.process = op->process,
                                 .op = op,
                                 .name = kernel,
                                 .site = s->where,
                                 .memory = memory_device_of(s->address),
                                 .bytes = s->bytes});
}

void finding_strays(const struct op *op, const struct vgpu_exec_reply *reply)
{
    for (uint32_t i = 0; i < reply->stray_count && i < VGPU_STRAYS; i++)
        report_stray(op, &reply->stray[i]);
}

/* True once for each diagnosis and key. When the table is full, further findings are dropped. */
static bool is_new_finding(struct process *process, uint64_t key)
{
    for (uint32_t i = 0; i < process->check.told_count; i++)
        if (process->check.told[i] == key)
            return false;
    if (process->check.told_count == FINDINGS_TOLD)
        return false;
    process->check.told[process->check.told_count++] = key;
    return true;
}

void finding_tell(struct process *process, enum vgpu_diagnosis diagnosis, const struct op *op,
                  uint64_t key, const char *format, ...)
{
    char text[900];
    va_list list;
    int head = snprintf(text, sizeof text,
                        "%s: ", vgpu_diagnosis_is_advice(diagnosis) ? "advice" : "finding");
    if (!(process->checks & vgpu_diagnosis_check(diagnosis)) || process->dead ||
        !is_new_finding(process, key * 64 + (uint64_t)diagnosis))
        return;
    va_start(list, format);
    vsnprintf(text + head, sizeof text - (size_t)head, format, list);
    va_end(list);
    vgpu_diagnosis_sign(diagnosis, text, sizeof text);
    process_remark(process, text);
    tell_found(&(struct finding){.process = process,
                                 .op = op,
                                 .name = vgpu_diagnosis_code(diagnosis),
                                 .site = "",
                                 .memory = op ? op->device : 0,
                                 .advice = vgpu_diagnosis_is_advice(diagnosis)});
}
