/* SPDX-License-Identifier: MIT
 * hazard.c: see hazard.h.
 */
#include "hazard.h"

#include "device_image.h"
#include "grid.h"
#include "shared_memory.h"

#include <stdio.h>
#include <string.h>

enum { TOLD = 1024 }; /* a power of two */

static uint64_t told_hazards[TOLD]; /* a hash set, for the context's lifetime */

static uint64_t hazard_key(const struct hazard *h)
{
    uint64_t key = (h->first.pc * 0x9E3779B97F4A7C15ull ^ h->second.pc) * 0xBF58476D1CE4E5B9ull;
    key = (key ^ key >> 29) * 31 + (uint64_t)h->diagnosis;
    return key ? key : 1;
}

/* The slot of the key, or a free one for it; NULL: the table is full. */
static uint64_t *hazard_slot(uint64_t key)
{
    for (uint64_t i = 0; i < TOLD / 2; i++) {
        uint64_t *slot = &told_hazards[(key + i) % TOLD];
        if (!*slot || *slot == key)
            return slot;
    }
    return NULL;
}

bool hazard_is_told(const struct hazard *hazard)
{
    const uint64_t *slot = hazard_slot(hazard_key(hazard));
    return !slot || *slot;
}

static struct vgpu_dim3_ index_in(struct vgpu_dim3 shape, uint32_t number)
{
    uint32_t row = number / shape.x;
    return (struct vgpu_dim3_){number % shape.x, row % shape.y, row / shape.y};
}

static void put_side(struct vgpu_hazard_side *to, const struct hazard_side *from)
{
    const struct run *run = now.run;
    struct vgpu_dim3 block = run_block_index(run, from->block);
    to->thread = index_in(run->shape, from->thread);
    to->block = (struct vgpu_dim3_){block.x, block.y, block.z};
    to->known = from->pc != 0;
    to->others = from->others;
    to->write = from->write;
    to->mode = from->mode;
    image_place(from->pc, to->where, sizeof to->where);
}

static bool same_lines(const struct vgpu_hazard *a, const struct vgpu_hazard *b)
{
    const char *a1 = a->first.where, *a2 = a->second.where;
    const char *b1 = b->first.where, *b2 = b->second.where;
    return a2[0] && ((strcmp(a1, b1) == 0 && strcmp(a2, b2) == 0) ||
                     (strcmp(a1, b2) == 0 && strcmp(a2, b1) == 0));
}

/* A pair of lines is reported once, whatever the order and the number of accesses in them. The
 * widest finding is kept, since a barrier of the block also repairs a race within a warp. */
static void keep_hazard(struct run *run, const struct vgpu_hazard *hazard, uint32_t width)
{
    uint32_t i = 0;
    while (i < run->hazards.count && !same_lines(hazard, &run->hazards.list[i]))
        i++;
    if (i == VGPU_HAZARDS || (i < run->hazards.count && run->hazards.width[i] >= width))
        return;
    run->hazards.list[i] = *hazard;
    run->hazards.width[i] = width;
    run->hazards.count += i == run->hazards.count;
}

void hazard_note(const struct hazard *hazard)
{
    struct run *run = now.run;
    uint64_t key = hazard_key(hazard), *slot = hazard_slot(key);
    if (!slot || *slot)
        return;
    *slot = key;
    struct vgpu_hazard h = {.diagnosis = (int32_t)hazard->diagnosis,
                            .address = hazard->address,
                            .bytes = (uint32_t)hazard->bytes};
    put_side(&h.first, &hazard->first);
    put_side(&h.second, &hazard->second);
    h.object_bytes = shared_describe(hazard->address, &h.object_offset);
    keep_hazard(run, &h, hazard->width);
}

/* A load that came too early reads unwritten memory: its race with the store explains more. */
static bool is_said_by_another(const struct run *run, const struct vgpu_hazard *h)
{
    for (uint32_t i = 0; !h->first.known && i < run->hazards.count; i++) {
        const struct vgpu_hazard *race = &run->hazards.list[i];
        if (race->first.known && (strcmp(race->first.where, h->second.where) == 0 ||
                                  strcmp(race->second.where, h->second.where) == 0))
            return true;
    }
    return false;
}

void hazard_reply(struct run *run, struct vgpu_exec_reply *reply)
{
    for (uint32_t i = 0; i < run->hazards.count; i++)
        if (!is_said_by_another(run, &run->hazards.list[i]))
            reply->hazards[reply->hazard_count++] = run->hazards.list[i];
    run->hazards.count = 0;
}
