/* SPDX-License-Identifier: MIT
 * hazard.c: see hazard.h. A message says what is wrong, then names both accesses, then how to
 * correct it.
 */
#include "hazard.h"

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "explain.h"
#include "finding.h"
#include "device_memory.h"
#include "observer.h"
#include "process.h"

static const struct words {
    enum vgpu_diagnosis diagnosis;
    const char *what, *next;
} all_words[] = {
    {VGPU_DIAGNOSIS_kernels_shared_race,
     "two threads of a block use the same shared memory, and no __syncthreads orders them",
     "put __syncthreads() where all threads pass between the two lines (in a loop also before the "
     "next iteration)"},
    {VGPU_DIAGNOSIS_kernels_warp_race,
     "two lanes of a warp use the same memory, and no __syncwarp orders them: lanes do not run in "
     "step, volatile does not help",
     "put __syncwarp() between the two; what one lane writes after it, the other lanes must have "
     "read before it"},
    {VGPU_DIAGNOSIS_kernels_block_race,
     "two threads of a block use the same memory, and no __syncthreads orders them",
     "put __syncthreads() where all threads pass between the two lines"},
    {VGPU_DIAGNOSIS_kernels_grid_race,
     "two blocks use the same memory, and nothing orders blocks of one kernel",
     "let each block write its own part, use an atomic, or split the kernel where all must have "
     "finished"},
    {VGPU_DIAGNOSIS_kernels_scope,
     "an atomic whose scope is one block (atomic..._block) is used together with another block's",
     "use the form without _block"},
    {VGPU_DIAGNOSIS_kernels_unwritten,
     "it reads memory that was never written (a fresh allocation and __shared__ memory are not "
     "zero)",
     "fill it first (cudaMemset, a copy, a store); if something does, order this kernel after it"},
};

static const struct words *words_of(int32_t diagnosis)
{
    for (size_t i = 0; i < sizeof all_words / sizeof *all_words; i++)
        if ((int32_t)all_words[i].diagnosis == diagnosis)
            return &all_words[i];
    return NULL;
}

/* Writes "volatile store by thread (1,0,0) of block (0,0,0) at a.cu:12". */
static void side_text(const struct vgpu_hazard_side *s, char *out, size_t room)
{
    static const char *const mode[] = {"", "volatile ", "atomic ", "atomic (of a block's scope) "};
    char by[64];
    if (s->others)
        snprintf(by, sizeof by, "another thread");
    else
        snprintf(by, sizeof by, "thread (%u,%u,%u) of block (%u,%u,%u)", s->thread.x, s->thread.y,
                 s->thread.z, s->block.x, s->block.y, s->block.z);
    snprintf(out, room, "%s%s by %s%s%.80s", mode[s->mode & 3], s->write ? "store" : "load", by,
             s->where[0] ? " at " : "", s->where);
}

/* Writes "bytes 4 to 7 of a __shared__ array of 1024 bytes". */
static void object_text(const struct vgpu_hazard *h, char *out, size_t room)
{
    struct pointee p;
    char whose[160] = "memory";
    uint64_t offset = h->object_offset;
    if (h->object_bytes) {
        snprintf(whose, sizeof whose, "__shared__ memory of %u bytes", h->object_bytes);
    } else if (memory_find(h->address, &p)) {
        offset = h->address - p.base;
        explain_allocation(&p, whose, sizeof whose);
    } else {
        offset = h->address;
    }
    snprintf(out, room, "bytes %llu to %llu of %s", (unsigned long long)offset,
             (unsigned long long)(offset + h->bytes - 1), whose);
}

static void report_hazard(const struct op *op, const struct vgpu_hazard *h)
{
    char text[900], first[200], second[200], object[240];
    const struct words *words = words_of(h->diagnosis);
    if (!words)
        return;
    side_text(&h->first, first, sizeof first);
    side_text(&h->second, second, sizeof second);
    object_text(h, object, sizeof object);
    snprintf(text, sizeof text, "finding: kernel %.64s on GPU %d: %s\n      %s%s%s: %s\n      %s",
             op->u.kernel.name, op->device, words->what, h->first.known ? first : "",
             h->first.known ? ", then " : "", second, object, words->next);
    vgpu_diagnosis_sign(words->diagnosis, text, sizeof text);
    process_explain(op->process, text);
    tell_found(&(struct finding){.process = op->process,
                                 .op = op,
                                 .name = vgpu_diagnosis_code(words->diagnosis),
                                 .site = h->second.where,
                                 .memory = memory_device_of(h->address),
                                 .bytes = h->bytes});
}

void hazards_tell(const struct op *op, const struct vgpu_exec_reply *reply)
{
    for (uint32_t i = 0; i < reply->hazard_count && i < VGPU_HAZARDS; i++)
        report_hazard(op, &reply->hazards[i]);
}

/* A line of the kernel's text: "NAME: SENTENCE [CODE; ...]"; what has no code is no finding. */
static void report_line(const struct op *op, const char *line)
{
    static const enum vgpu_diagnosis codes[] = {VGPU_DIAGNOSIS_kernels_barrier,
                                                VGPU_DIAGNOSIS_kernels_mask};
    char text[1200];
    bool found = false;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        if (!strstr(line, vgpu_diagnosis_code(codes[i])))
            continue;
        found = true;
        tell_found(&(struct finding){.process = op->process,
                                     .op = op,
                                     .name = vgpu_diagnosis_code(codes[i]),
                                     .site = "",
                                     .memory = op->device});
    }
    snprintf(text, sizeof text, "%s%s", found ? "finding: kernel " : "", line);
    process_explain(op->process, text);
}

void hazard_text(const struct op *op, const char *text)
{
    char line[1100];
    for (size_t length; *text; text += length + (text[length] == '\n')) {
        length = strcspn(text, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, text);
        if (line[0])
            report_line(op, line);
    }
}

void hazard_spin(const struct op *op, const char *where)
{
    finding_tell(op->process, VGPU_DIAGNOSIS_kernels_spin, op, op->caller,
                 "kernel %.64s%s%s never leaves a loop that uses no memory, so no store of another "
                 "thread can end it: a variable that it waits for was read once, before the loop; "
                 "make it volatile, or read it with an atomic; if it waits for nothing, its "
                 "condition never comes true",
                 op->u.kernel.name, *where ? " at " : "", where);
}

void hazard_crowded(const struct op *op)
{
    const struct kernel_run *k = &op->u.kernel;
    char at[48] = "";
    if (op->kind != OP_KERNEL || k->blocks_left == 0)
        return;
    if (op->caller)
        snprintf(at, sizeof at, EXPLAIN_AT_FORMAT, (unsigned long long)op->caller);
    finding_tell(op->process, VGPU_DIAGNOSIS_kernels_residency, op, op->caller,
                 "kernel %.64s%s waits for ever, and %llu of its blocks have not begun: GPU %d "
                 "holds %llu of them at once, and a block that waits makes no room for the next; "
                 "launch no more than fit (cudaOccupancyMaxActiveBlocksPerMultiprocessor), each "
                 "for several parts of the work, or with cudaLaunchCooperativeKernel, which "
                 "refuses a grid that does not fit",
                 k->name, at, (unsigned long long)k->blocks_left, op->device,
                 (unsigned long long)k->blocks_fit);
}
