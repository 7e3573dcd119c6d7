/* SPDX-License-Identifier: MIT
 * bounds.c: accesses to unallocated memory that the MMU permits: past the end of an allocation that
 * shares its 2 MiB with others, or after a cudaFree.
 *
 * GPUs permit them, and so does this: each place in the code is recorded once, and the node
 * explains it. With VGPU_STRICT=1 the first one ends the kernel like an access to unmapped memory.
 */
#include "bounds.h"

#include <string.h>

#include "bounds_table.h"
#include "device_image.h"
#include "fault.h"

enum { PLACES = 256 }; /* a power of two */

static uint64_t told_strays[PLACES]; /* a hash set, for the context's lifetime */

/* True once for each pc; always false when the table is full. */
static bool is_new_stray(uint64_t pc)
{
    for (uint64_t i = 0, at = pc * 0x9E3779B97F4A7C15ull >> 56; i < PLACES; i++, at++) {
        uint64_t *place = &told_strays[at % PLACES];
        if (*place == pc)
            return false;
        if (*place)
            continue;
        *place = pc;
        return true;
    }
    return false;
}

static struct vgpu_dim3_ plain_dim3(struct vgpu_dim3 from)
{
    return (struct vgpu_dim3_){from.x, from.y, from.z};
}

/* A line that reads and writes, or that was duplicated by unrolling, counts as one place. */
static bool told_before(const struct run *run, const struct vgpu_stray *stray)
{
    for (uint32_t i = 0; i < run->strays.count; i++)
        if (stray->where[0] && strcmp(stray->where, run->strays.list[i].where) == 0)
            return true;
    return false;
}

void bounds_stray(uint64_t address, uint64_t bytes, bool write, uint64_t pc)
{
    struct run *run = now.run;
    if (run->strict)
        fault_raise(VGPU_FAULT_ADDRESS, address, write, pc,
                    "%s of %llu bytes at 0x%llx, where nothing is allocated",
                    write ? "a store" : "a load", (unsigned long long)bytes,
                    (unsigned long long)address);
    if (run->strays.count == VGPU_STRAYS || !is_new_stray(pc))
        return;
    struct vgpu_stray *stray = &run->strays.list[run->strays.count];
    *stray =
        (struct vgpu_stray){.address = address, .pc = pc, .bytes = (uint32_t)bytes, .write = write};
    if (now.thread) {
        stray->thread = plain_dim3(now.thread->idx);
        stray->block = plain_dim3(now.thread->block->idx);
    }
    image_place(pc, stray->where, sizeof stray->where);
    if (!told_before(run, stray))
        run->strays.count++;
}

void bounds_clear(struct run *run)
{
    run->strays.count = 0;
}

void bounds_merge(struct run *run, const struct vgpu_stray *stray, uint32_t count)
{
    for (uint32_t i = 0; i < count && run->strays.count < VGPU_STRAYS; i++)
        if (is_new_stray(stray[i].pc) && !told_before(run, &stray[i]))
            run->strays.list[run->strays.count++] = stray[i];
}

static uint64_t next_of(uint64_t address, uint64_t step)
{
    return (address / step + 1) * step;
}

bool bounds_hold(uint64_t address, uint64_t end)
{
    while (address < end) {
        if (!bounds_partial(address)) {
            address = next_of(address, VGPU_CHUNK_BYTES);
            continue;
        }
        uint64_t next = next_of(address, VGPU_GRANULE_BYTES);
        if ((end < next ? end : next) - (next - VGPU_GRANULE_BYTES) > bounds_granule(address))
            return false;
        address = next;
    }
    return true;
}

void bounds_check(uint64_t address, uint64_t bytes, bool write, uint64_t pc)
{
    uint64_t end = address + bytes;
    for (uint64_t at = address; at < end;) {
        uint64_t next = (at / VGPU_GRANULE_BYTES + 1) * VGPU_GRANULE_BYTES;
        if (!bounds_partial(at))
            next = (at / VGPU_CHUNK_BYTES + 1) * VGPU_CHUNK_BYTES;
        else if ((end < next ? end : next) - (next - VGPU_GRANULE_BYTES) > bounds_granule(at)) {
            bounds_stray(at, end - at, write, pc);
            return;
        }
        at = next;
    }
}
