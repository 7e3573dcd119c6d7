/* SPDX-License-Identifier: MIT
 * finding.c: see finding.h.
 */
#include "finding.h"

#include <stdio.h>

#include "bounds.h"
#include "explain.h"
#include "memory.h"
#include "process.h"
#include "trace.h"

static void stray(const struct op *op, const struct vgpu_stray *s)
{
    char text[768], whose[384];
    const char *kernel = op->u.kernel.name;
    explain_outside(op->process, s->address, whose, sizeof whose);
    snprintf(text, sizeof text,
             "finding: kernel %.64s on GPU %d (block (%u,%u,%u), thread (%u,%u,%u)%s%.90s) %s %u "
             "bytes at %#llx, %s\n"
             "      a GPU lets this pass, and %s; check the index against the size. "
             "VGPU_STRICT=1 makes it error 700 (cudaErrorIllegalAddress)",
             kernel, op->device, s->block.x, s->block.y, s->block.z, s->thread.x, s->thread.y,
             s->thread.z, s->where[0] ? ", " : "", s->where, s->write ? "wrote" : "read", s->bytes,
             (unsigned long long)s->address, whose,
             s->write ? "other data may be overwritten" : "the value read is anybody's");
    process_explain(op->process, text);
    trace_finding(op, kernel, s->where, process_device_of(s->address), s->bytes);
}

void finding_strays(const struct op *op, const struct vgpu_exec_reply *reply)
{
    for (uint32_t i = 0; i < reply->stray_count && i < VGPU_STRAYS; i++)
        stray(op, &reply->stray[i]);
}
