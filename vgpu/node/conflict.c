/* SPDX-License-Identifier: MIT
 * conflict.c: see conflict.h.
 */
#include "conflict.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "clash.h"
#include "happens.h"
#include "memory.h"
#include "order.h"
#include "process.h"
#include "span.h"

enum { REGIONS = 1024 /* a power of two */, KEPT = 256 };

struct region { /* an allocation */
    uint64_t home;
    const struct process *host_of; /* whose pinned memory; NULL: device memory */
    struct access *newest;
    int count;
    struct region *next;
};

static struct region *regions[REGIONS];
static uint64_t kept; /* accesses */

/* ---- where ---- */

static struct region **slot(const struct process *host_of, uint64_t home)
{
    struct region **at = &regions[home * 0x9E3779B97F4A7C15ull >> 54];
    while (*at && ((*at)->home != home || (*at)->host_of != host_of))
        at = &(*at)->next;
    return at;
}

/* The allocation around `address` of op's process, and how far the address is from its home; false:
 * none, or one that is not looked at. */
static bool locate(const struct op *op, uint64_t address, struct place *out)
{
    struct pointee p;
    if (memory_find(address, &p)) {
        *out = (struct place){NULL, p.home, p.bytes, address - p.base, false};
        return true;
    }
    if (address < VGPU_HOST_VA || address >= VGPU_HOST_END)
        return false;
    const struct arena_range *r = arena_find(&op->process->host, address - VGPU_HOST_VA);
    if (!r || r->user == &host_staging)
        return false;
    uint64_t base = VGPU_HOST_VA + r->offset;
    *out = (struct place){op->process, base, r->bytes, address - base, r->user == &host_managed};
    return true;
}

static struct region *region_of(const struct place *place)
{
    struct region **at = slot(place->host_of, place->home);
    if (!*at) {
        *at = calloc(1, sizeof **at);
        if (*at)
            (*at)->home = place->home, (*at)->host_of = place->host_of;
    }
    return *at;
}

/* ---- keeping ---- */

static void drop(struct region *region, struct access **at)
{
    struct access *gone = *at;
    *at = gone->older;
    region->count--;
    kept--;
    op_drop(gone->op);
    free(gone);
}

static bool same_bytes(const struct access *a, const struct access *b)
{
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->span[i].address != b->span[i].address || a->span[i].bytes != b->span[i].bytes ||
            a->span[i].stride != b->span[i].stride || a->span[i].count != b->span[i].count)
            return false;
    return true;
}

static bool covers(const struct access *a, const struct access *b)
{
    bool solid = a->count == 1 && a->span[0].count == 1;
    return (solid && a->low <= b->low && a->end >= b->end) || same_bytes(a, b);
}

/* Whoever clashes with `old` clashes with `now`, too. */
static bool stands_for(const struct access *now, const struct access *old)
{
    return (now->use == VGPU_USE_WRITE || now->use == old->use) &&
           happens_before(old->op, now->op) && covers(now, old);
}

static void keep(struct region *region, struct access *now)
{
    for (struct access **at = &region->newest; *at;)
        if ((*at)->op != now->op && stands_for(now, *at))
            drop(region, at);
        else
            at = &(*at)->older;
    now->older = region->newest;
    region->newest = now;
    op_keep(now->op);
    kept++;
    if (++region->count <= KEPT)
        return;
    struct access **last = &region->newest;
    while ((*last)->older)
        last = &(*last)->older;
    drop(region, last);
}

/* ---- comparing ---- */

static bool is_atomic(const struct access *a)
{
    return a->use == VGPU_USE_ATOMIC || a->use == VGPU_USE_ATOMIC_SYSTEM;
}

/* Atomics of one GPU may meet, and those of the system's scope. */
static bool atomic_together(const struct access *a, const struct access *b)
{
    bool system = a->use == VGPU_USE_ATOMIC_SYSTEM && b->use == VGPU_USE_ATOMIC_SYSTEM;
    return is_atomic(a) && is_atomic(b) && (system || a->op->device == b->op->device);
}

/* A kernel that tells host code something through memory, or hears of it: nobody knows in which
 * order. */
static bool may_have_met(const struct op *a, const struct op *b)
{
    return (a->kind == OP_TOUCH && b->meets_host) || (b->kind == OP_TOUCH && a->meets_host);
}

static bool may_clash(const struct access *a, const struct access *b)
{
    return a->op != b->op && (a->use != VGPU_USE_READ || b->use != VGPU_USE_READ) &&
           !atomic_together(a, b) && !may_have_met(a->op, b->op) && a->low < b->end &&
           b->low < a->end;
}

static bool overlap(const struct access *a, const struct access *b)
{
    for (uint32_t i = 0; i < a->count; i++)
        for (uint32_t k = 0; k < b->count; k++)
            if (span_overlap(&a->span[i], &b->span[k]))
                return true;
    return false;
}

static void compare(const struct region *region, const struct access *now,
                    const struct place *place)
{
    for (const struct access *old = region->newest; old; old = old->older)
        if (may_clash(now, old) && !happens_ordered(now->op, old->op) && overlap(now, old) &&
            !happens_told(now->op, old->op))
            clash_tell(now, old, place);
}

/* Spans of one use in one allocation; their addresses are offsets from its start. */
static void add(struct op *op, enum vgpu_use use, const struct place *place,
                const struct vgpu_span *span, uint32_t count)
{
    struct region *region = region_of(place);
    struct access *now = region ? malloc(sizeof *now + count * sizeof *span) : NULL;
    if (!now)
        return;
    *now = (struct access){.op = op, .use = use, .low = UINT64_MAX, .count = count};
    for (uint32_t i = 0; i < count; i++) {
        now->span[i] = span[i];
        if (now->span[i].address < now->low)
            now->low = now->span[i].address;
        if (span_end(&now->span[i]) > now->end)
            now->end = span_end(&now->span[i]);
    }
    compare(region, now, place);
    keep(region, now);
}

/* ---- what operations do ---- */

static bool looks(const struct op *op)
{
    return op->knows && (op->process->checks & VGPU_CHECK_ORDER);
}

/* Spans of one use in one allocation, until others come. */
static struct {
    struct place place;
    enum vgpu_use use;
    uint32_t count;
    struct vgpu_span span[VGPU_SPANS];
} gathered;

static void flush(struct op *op)
{
    if (gathered.count)
        add(op, gathered.use, &gathered.place, gathered.span, gathered.count);
    gathered.count = 0;
}

static void gather(struct op *op, const struct place *place, const struct vgpu_span *span)
{
    bool same = gathered.place.home == place->home && gathered.place.host_of == place->host_of &&
                gathered.use == (enum vgpu_use)span->use && gathered.count < VGPU_SPANS;
    if (!same)
        flush(op);
    if (gathered.count == 0) {
        gathered.place = *place;
        gathered.use = (enum vgpu_use)span->use;
    }
    gathered.span[gathered.count] = *span;
    gathered.span[gathered.count++].address = place->offset;
}

/* The part of `span` in an allocation that has `room` bytes from its address on. */
static struct vgpu_span clip(const struct vgpu_span *span, uint64_t room)
{
    struct vgpu_span part = *span;
    if (span->address + room >= span_end(span))
        return part;
    part.count =
        room < span->bytes || span->count == 1 ? 1 : (room - span->bytes) / span->stride + 1;
    if (part.bytes > room)
        part.bytes = room;
    return part;
}

/* Takes `part` off the beginning of `span`. False: nothing is left. */
static bool advance(struct vgpu_span *span, const struct vgpu_span *part)
{
    if (part->bytes < span->bytes && span->count == 1) {
        span->address += part->bytes;
        span->bytes -= part->bytes;
        return true;
    }
    span->address += part->count * span->stride;
    span->count -= part->count;
    return span->count > 0;
}

void conflict_kernel(struct op *op, const struct vgpu_span *span, uint32_t count)
{
    for (uint32_t i = 0; looks(op) && i < count; i++) {
        struct vgpu_span left = span[i], part;
        struct place place;
        bool more = left.use < VGPU_USES && left.count > 0 && left.bytes > 0;
        while (more && locate(op, left.address, &place)) {
            part = clip(&left, place.bytes - place.offset);
            gather(op, &place, &part);
            more = advance(&left, &part);
        }
    }
    flush(op);
}

struct box {
    uint64_t at, bytes, rows, pitch, plane_rows, plane;
};

/* Rows of a plane are one span; of more planes than fit only that nothing is known. */
static void note_box(struct op *op, enum vgpu_use use, struct box b)
{
    enum { PLANES = 256 };
    struct vgpu_span span[PLANES];
    uint64_t rows = b.plane_rows ? b.plane_rows : b.rows, planes = rows ? b.rows / rows : 0;
    if (planes == 0 || planes > PLANES || b.bytes == 0)
        return;
    for (uint64_t i = 0; i < planes; i++)
        span[i] = (struct vgpu_span){b.at + i * b.plane, b.bytes, b.pitch, rows, use};
    conflict_kernel(op, span, (uint32_t)planes);
}

static void note_copy(struct op *op, const struct vgpu_copy *c)
{
    if (!c->src_pageable)
        note_box(
            op, VGPU_USE_READ,
            (struct box){c->src, c->bytes, c->rows, c->pitch_src, c->plane_rows, c->plane_src});
    if (!c->dst_pageable)
        note_box(
            op, VGPU_USE_WRITE,
            (struct box){c->dst, c->bytes, c->rows, c->pitch_dst, c->plane_rows, c->plane_dst});
}

static bool touches(const struct op *op, uint64_t home)
{
    for (int i = 0; i < OP_TOUCHES && op->touch[i]; i++)
        if (op->touch[i] == home)
            return true;
    return false;
}

/* Memory is freed: what is still to come and uses it will find something else there, or nothing. */
static void note_free(struct op *op)
{
    struct pointee p;
    if (!memory_find(op->u.free, &p))
        return;
    struct place place = {NULL, p.home, p.bytes, 0, false};
    struct access freed = {.op = op, .use = VGPU_USE_WRITE, .end = p.bytes};
    for (const struct op *other = order_newest(); other; other = other->older) {
        struct access use = {.op = (struct op *)other, .end = p.bytes};
        if (other != op && touches(other, p.home) && !happens_ordered(other, op) &&
            !happens_told(other, op))
            clash_tell(&use, &freed, &place);
    }
    note_box(op, VGPU_USE_WRITE, (struct box){.at = p.base, .bytes = p.bytes, .rows = 1});
}

void conflict_note(struct op *op)
{
    const struct vgpu_memset *m = &op->u.memset;
    if (!looks(op))
        return;
    if (op->kind == OP_COPY)
        note_copy(op, &op->u.copy);
    else if (op->kind == OP_MEMSET)
        note_box(op, VGPU_USE_WRITE,
                 (struct box){m->dst, m->bytes, m->rows, m->pitch, m->plane_rows, m->plane});
    else if (op->kind == OP_FREE)
        note_free(op);
}

/* ---- forgetting ---- */

static void drop_known(void)
{
    for (int i = 0; i < REGIONS && kept; i++)
        for (struct region *r = regions[i]; r; r = r->next)
            for (struct access **at = &r->newest; *at;)
                if (happens_known_to_host((*at)->op))
                    drop(r, at);
                else
                    at = &(*at)->older;
}

void conflict_seen(const struct op *op)
{
    happens_seen(op);
    if (order_pending())
        return;
    drop_known();
    happens_calm();
}

static void forget(struct region **at)
{
    struct region *gone = *at;
    while (gone->newest)
        drop(gone, &gone->newest);
    *at = gone->next;
    free(gone);
}

void conflict_forget(uint64_t home)
{
    struct region **at = slot(NULL, home);
    if (*at)
        forget(at);
}

void conflict_forget_host(const struct process *process, uint64_t address)
{
    struct region **at = slot(process, address);
    if (*at)
        forget(at);
}

void conflict_end(const struct process *process)
{
    happens_end(process);
    for (int i = 0; i < REGIONS; i++)
        for (struct region **at = &regions[i]; *at;) {
            for (struct access **a = &(*at)->newest; *a;)
                if ((*a)->op->process == process)
                    drop(*at, a);
                else
                    a = &(*a)->older;
            if ((*at)->host_of == process)
                forget(at);
            else
                at = &(*at)->next;
        }
}
