/* SPDX-License-Identifier: MIT
 * explain.c: see explain.h.
 */
#include "explain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bounds.h"
#include "codes.h"
#include "device_memory.h"
#include "image.h"
#include "process.h"
#include "vmm.h"

static char explanation[1024];

int explain_fault_code(int kind)
{
    switch (kind) {
    case VGPU_FAULT_ADDRESS:
        return VGPU_ILLEGAL_ADDRESS;
    case VGPU_FAULT_MISALIGNED:
        return VGPU_MISALIGNED_ADDRESS;
    case VGPU_FAULT_ASSERT:
        return VGPU_DEVICE_ASSERT;
    case VGPU_FAULT_STACK:
        return VGPU_HARDWARE_STACK_ERROR;
    case VGPU_FAULT_INSTRUCTION:
        return VGPU_ILLEGAL_INSTRUCTION;
    case VGPU_FAULT_HANG:
        return VGPU_LAUNCH_TIMEOUT;
    case VGPU_FAULT_MEMORY: /* host memory has run out; hardware has no such fault */
        return VGPU_OUT_OF_MEMORY;
    default:
        return VGPU_LAUNCH_FAILURE;
    }
}

const char *explain_commit_limit(const char *call)
{
    snprintf(
        explanation, sizeof explanation,
        "%s: the virtual node has used %llu MiB of this computer's memory, its limit is %llu MiB; "
        "use smaller buffers, or raise VGPU_MEMORY_LIMIT (as 8G)",
        call, (unsigned long long)(memory_held_bytes() >> 20),
        (unsigned long long)(memory_limit_bytes() >> 20));
    return explanation;
}

void explain_allocation(const struct pointee *p, char *out, size_t room)
{
    int used = snprintf(out, room, "an allocation of %llu bytes on GPU %d",
                        (unsigned long long)p->bytes, p->device);
    if (p->caller && used > 0 && (size_t)used + 20 < room)
        snprintf(out + used, room - (size_t)used, EXPLAIN_MARK_FORMAT,
                 (unsigned long long)p->caller);
}

void explain_outside(const struct process *process, uint64_t address, char *out, size_t room)
{
    struct pointee p;
    char whose[160];
    bool freed = bounds_freed(address, &p) && p.owner == &process->memory;
    bool before = !freed && bounds_before(&process->memory, address, &p);
    if (freed || before)
        explain_allocation(&p, whose, sizeof whose);
    if (freed)
        snprintf(out, room, "byte %llu of %s that was freed",
                 (unsigned long long)(address - p.base), whose);
    else if (before && address - p.base < p.bytes)
        snprintf(out, room, "from byte %llu on across the end of %s",
                 (unsigned long long)(address - p.base), whose);
    else if (before)
        snprintf(out, room, "%llu bytes past the end of %s",
                 (unsigned long long)(address - p.base - p.bytes), whose);
    else
        snprintf(out, room, "where nothing is allocated on GPU %d", memory_device_of(address));
}

void explain_unmark(char *at)
{
    char *to = at;
    for (; *at; at++)
        if (*at != '\1' && *at != '\3')
            *to++ = *at;
        else
            while (at[1] && *at != '\2')
                at++;
    *to = '\0';
}

/* Describes an address as seen from a kernel on op->device, and what to do about it. */
static void explain_address(const struct op *op, const struct vgpu_exec_reply *reply, char *out,
                            size_t room)
{
    uint64_t address = reply->fault.address;
    struct pointee p;
    const struct vmm_mapping *m = vmm_address(address) ? vmm_first(address) : NULL;
    unsigned long long a = (unsigned long long)address;
    if (address < 0x10000) {
        snprintf(out, room, "a null pointer; was the memory allocated, and the call checked?");
    } else if (m && m->va <= address && m->shown_on >= 0) {
        snprintf(out, room,
                 "memory of another process that was opened while GPU %d was current, and GPU %d "
                 "has no access to it: call cudaIpcOpenMemHandle while GPU %d is current too",
                 m->shown_on, op->device, op->device);
    } else if (vmm_address(address) && !vmm_range(&op->process->memory, address, 0)) {
        snprintf(
            out, room,
            "an address that is no longer mapped: memory that cudaIpcCloseMemHandle closed, or "
            "a range that cuMemAddressFree gave back?");
    } else if (vmm_address(address)) {
        snprintf(out, room,
                 "an address from cuMemAddressReserve where GPU %d may not do that: cuMemMap puts "
                 "memory there, cuMemSetAccess with location GPU %d allows it",
                 op->device, op->device);
    } else if (memory_find(address, &p) && p.owner == &op->process->memory && p.pool &&
               p.device != op->device) {
        char whose[160];
        explain_allocation(&p, whose, sizeof whose);
        snprintf(out, room,
                 "memory of a pool of GPU %d (byte %llu of %s), which GPU %d may not access: peer "
                 "access does not count for pools; call cudaMemPoolSetAccess with GPU %d and "
                 "cudaMemAccessFlagsProtReadWrite",
                 p.device, (unsigned long long)(address - p.base), whose, op->device, op->device);
    } else if (memory_find(address, &p) && p.owner == &op->process->memory &&
               p.device != op->device) {
        char whose[160];
        explain_allocation(&p, whose, sizeof whose);
        snprintf(out, room,
                 "memory of GPU %d (byte %llu of %s), and GPU %d has no peer access "
                 "to GPU %d: call cudaDeviceEnablePeerAccess(%d, 0) while GPU %d is current",
                 p.device, (unsigned long long)(address - p.base), whose, op->device, p.device,
                 p.device, op->device);
    } else if (memory_find(address, &p) && p.owner != &op->process->memory) {
        snprintf(out, room, "memory of another process on GPU %d, which only IPC can share",
                 p.device);
    } else if (address >= VGPU_ARENA_VA && address < VGPU_ARENA_END) {
        char whose[256];
        explain_outside(op->process, address, whose, sizeof whose);
        snprintf(out, room,
                 "memory of GPU %d that is not allocated: %s; was it freed too early, or is an "
                 "index too large?",
                 memory_device_of(address), whose);
    } else if (address >= VGPU_HOST_VA && address < VGPU_HOST_END) {
        snprintf(out, room, "pinned host memory that is not allocated: freed already?");
    } else if (address >= VGPU_SHARED_VA && address < VGPU_SHARED_VA + VGPU_DEVICE_STRIDE) {
        snprintf(out, room,
                 "past the end of a block's shared memory, or in that of a block of the cluster "
                 "that has ended: let all of its blocks meet after the last such access");
    } else {
        snprintf(out, room,
                 "%#llx is not memory of a GPU: ordinary host memory (malloc, a variable, the "
                 "stack) does "
                 "not exist on a GPU; copy it with cudaMemcpy, or allocate it with cudaMallocHost",
                 a);
    }
}

static void format_fault_place(const struct vgpu_exec_reply *r, char *out, size_t room)
{
    snprintf(out, room, "block (%u,%u,%u), thread (%u,%u,%u)%s%s", r->fault.block.x,
             r->fault.block.y, r->fault.block.z, r->fault.thread.x, r->fault.thread.y,
             r->fault.thread.z, r->fault.where[0] ? ", " : "", r->fault.where);
}

/* Writes ", byte 1 of an allocation ..." for a misaligned address; nothing if it is in no
 * allocation. */
static void explain_misaligned(const struct vgpu_exec_reply *r, char *out, size_t room)
{
    struct pointee p;
    char whose[160];
    out[0] = '\0';
    if (r->fault.kind != VGPU_FAULT_MISALIGNED || !memory_find(r->fault.address, &p))
        return;
    explain_allocation(&p, whose, sizeof whose);
    snprintf(out, room, ", byte %llu of %s", (unsigned long long)(r->fault.address - p.base),
             whose);
}

const char *explain_wait(const char *said)
{
    static const char before[] = "for a change of 0x";
    static char about[256];
    const char *found = strstr(said, before);
    struct pointee p;
    char whose[160];
    about[0] = '\0';
    uint64_t address = found ? strtoull(found + sizeof before - 1, NULL, 16) : 0;
    if (!memory_find(address, &p))
        return about;
    explain_allocation(&p, whose, sizeof whose);
    snprintf(about, sizeof about, "; 0x%llx is byte %llu of %s", (unsigned long long)address,
             (unsigned long long)(address - p.base), whose);
    return about;
}

const char *explain_fault(const struct op *op, const struct vgpu_exec_reply *reply)
{
    char place[192], what[512];
    format_fault_place(reply, place, sizeof place);
    if (reply->fault.kind == VGPU_FAULT_ADDRESS) {
        explain_address(op, reply, what, sizeof what);
        snprintf(explanation, sizeof explanation, "kernel %.64s on GPU %d (%s) %s %#llx: %s",
                 op->u.kernel.name, op->device, place,
                 reply->fault.write ? "wrote to" : "read from",
                 (unsigned long long)reply->fault.address, what);
    } else if (reply->fault.kind == VGPU_FAULT_MEMORY && !reply->text[0]) {
        explain_commit_limit(op->u.kernel.name);
    } else {
        explain_misaligned(reply, what, sizeof what);
        snprintf(explanation, sizeof explanation, "kernel %.64s on GPU %d (%s): %.256s%s",
                 op->u.kernel.name, op->device, place, reply->text, what);
    }
    return explanation;
}

const char *explain_wrapping(const struct op *op)
{
    const struct vgpu_memset *m = &op->u.memset;
    snprintf(explanation, sizeof explanation,
             "%s" EXPLAIN_AT_FORMAT
             ": %llu bytes from %#llx on end past the last possible address; no CUDA call checks "
             "that, and GPU %d accessed memory that it does not have (a negative length?)",
             op->call, (unsigned long long)op->caller, (unsigned long long)m->wraps,
             (unsigned long long)m->dst, op->device);
    return explanation;
}
