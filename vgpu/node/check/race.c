/* SPDX-License-Identifier: MIT
 * race.c: see race.h.
 */
#include "race.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "race_report.h"
#include "device_memory.h"
#include "order.h"
#include "process.h"
#include "span.h"

enum { REGIONS = 1024 /* a power of two */, KEPT = 256 };
/* Limits in steps: comparing one operation's accesses; searching the clocks of other operations. */
enum { WORK = 1 << 24, TOLD_WORK = 4096 };

/* The accesses to one allocation. */
struct region {
    uint64_t home;
    const struct process *host_of; /* owner of pinned memory; NULL: device memory */
    struct access *newest;
    int count;
    struct region *next;
};

/* Spans of one use in one allocation, collected until another use or allocation follows. */
struct gathered {
    struct place place;
    enum vgpu_use use;
    uint32_t count;
    struct vgpu_span span[VGPU_SPANS];
};

struct races {
    struct vclocks *clocks;
    struct region *regions[REGIONS];
    uint64_t kept; /* number of recorded accesses */
    /* Steps left for comparing one operation's accesses. Contexts report accesses and may be
     * malicious; they must not be able to keep the node busy. */
    uint64_t work;
    struct gathered gathered;
};

struct races *races_new(struct vclocks *clocks)
{
    struct races *r = calloc(1, sizeof *r);
    if (r)
        r->clocks = clocks;
    return r;
}

/* ---- allocations ---- */

static struct region **find_slot(struct races *r, const struct process *host_of, uint64_t home)
{
    struct region **at = &r->regions[home * 0x9E3779B97F4A7C15ull >> 54];
    while (*at && ((*at)->home != home || (*at)->host_of != host_of))
        at = &(*at)->next;
    return at;
}

/* Stores the allocation of op's process that contains `address`, and the offset from its home.
 * False: there is none, or it is not checked. */
static bool locate_bytes(const struct op *op, uint64_t address, struct place *out)
{
    struct pointee p;
    if (memory_find(address, &p)) {
        *out = (struct place){NULL, p.home, p.bytes, address - p.base, false};
        return true;
    }
    if (address < VGPU_HOST_VA || address >= VGPU_HOST_END)
        return false;
    const struct arena_range *range = arena_find(&op->process->memory.host, address - VGPU_HOST_VA);
    if (!range || range->user == &host_staging)
        return false;
    uint64_t base = VGPU_HOST_VA + range->offset;
    *out = (struct place){op->process, base, range->bytes, address - base,
                          range->user == &host_managed};
    return true;
}

static struct region *find_region(struct races *r, const struct place *place)
{
    struct region **at = find_slot(r, place->host_of, place->home);
    if (!*at) {
        *at = calloc(1, sizeof **at);
        if (*at)
            (*at)->home = place->home, (*at)->host_of = place->host_of;
    }
    return *at;
}

/* ---- keeping accesses ---- */

static void drop_access(struct races *r, struct region *region, struct access **at)
{
    struct access *gone = *at;
    *at = gone->older;
    region->count--;
    r->kept--;
    op_drop(gone->op);
    free(gone);
}

static bool has_same_spans(const struct access *a, const struct access *b)
{
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->span[i].address != b->span[i].address || a->span[i].bytes != b->span[i].bytes ||
            a->span[i].stride != b->span[i].stride || a->span[i].count != b->span[i].count)
            return false;
    return true;
}

static bool covers_access(const struct access *a, const struct access *b)
{
    bool solid = a->count == 1 && a->span[0].count == 1;
    return (solid && a->low <= b->low && a->end >= b->end) || has_same_spans(a, b);
}

/* True if everything that races with `old` also races with `now`, so that `old` can be dropped. */
static bool supersedes_access(const struct access *now, const struct access *old)
{
    return (now->use == VGPU_USE_WRITE || now->use == old->use) &&
           vclocks_before(old->op, now->op) && covers_access(now, old);
}

static void keep_access(struct races *r, struct region *region, struct access *now)
{
    for (struct access **at = &region->newest; *at;)
        if ((*at)->op != now->op && supersedes_access(now, *at))
            drop_access(r, region, at);
        else
            at = &(*at)->older;
    now->older = region->newest;
    region->newest = now;
    op_keep(now->op);
    r->kept++;
    if (++region->count <= KEPT)
        return;
    struct access **last = &region->newest;
    while ((*last)->older)
        last = &(*last)->older;
    drop_access(r, region, last);
}

/* ---- comparing accesses ---- */

static bool is_atomic(const struct access *a)
{
    return a->use == VGPU_USE_ATOMIC || a->use == VGPU_USE_ATOMIC_SYSTEM;
}

/* True if both are atomics that may be concurrent: of one GPU, or both of system scope. */
static bool are_concurrent_atomics(const struct access *a, const struct access *b)
{
    bool system = a->use == VGPU_USE_ATOMIC_SYSTEM && b->use == VGPU_USE_ATOMIC_SYSTEM;
    return is_atomic(a) && is_atomic(b) && (system || a->op->device == b->op->device);
}

/* True for a kernel that communicates with host code through memory: the order of the two is
 * unknown. */
static bool may_communicate(const struct op *a, const struct op *b)
{
    return (a->kind == OP_TOUCH && b->check.meets_host) ||
           (b->kind == OP_TOUCH && a->check.meets_host);
}

static bool may_race(const struct access *a, const struct access *b)
{
    return a->op != b->op && (a->use != VGPU_USE_READ || b->use != VGPU_USE_READ) &&
           !are_concurrent_atomics(a, b) && !may_communicate(a->op, b->op) && a->low < b->end &&
           b->low < a->end;
}

/* False: the limit is used up. */
static bool spend_work(struct races *r, uint64_t steps)
{
    r->work -= r->work < steps ? r->work : steps;
    return r->work > 0;
}

static bool accesses_overlap(struct races *r, const struct access *a, const struct access *b)
{
    for (uint32_t i = 0; i < a->count; i++)
        for (uint32_t k = 0; k < b->count && spend_work(r, 1); k++)
            if (span_overlap(&a->span[i], &b->span[k], &r->work))
                return true;
    return false;
}

static bool is_ordered_by_memory(struct races *r, const struct op *a, const struct op *b)
{
    return spend_work(r, TOLD_WORK) && vclocks_ordered_by_memory(r->clocks, a, b);
}

static void compare_access(struct races *r, const struct region *region, const struct access *now,
                           const struct place *place)
{
    for (const struct access *old = region->newest; old && spend_work(r, 1); old = old->older)
        if (may_race(now, old) && !vclocks_ordered(r->clocks, now->op, old->op) &&
            accesses_overlap(r, now, old) && !is_ordered_by_memory(r, now->op, old->op))
            race_report(now, old, place);
}

/* Adds spans of one use in one allocation; their addresses are offsets from its start. */
static void add_access(struct races *r, struct op *op, enum vgpu_use use, const struct place *place,
                       const struct vgpu_span *span, uint32_t count)
{
    struct region *region = find_region(r, place);
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
    compare_access(r, region, now, place);
    keep_access(r, region, now);
}

/* ---- accesses of operations ---- */

static bool wants_races(const struct op *op)
{
    return op->check.clock && (op->process->checks & VGPU_CHECK_ORDER);
}

static void flush_spans(struct races *r, struct op *op)
{
    if (r->gathered.count)
        add_access(r, op, r->gathered.use, &r->gathered.place, r->gathered.span, r->gathered.count);
    r->gathered.count = 0;
}

static void gather_span(struct races *r, struct op *op, const struct place *place,
                        const struct vgpu_span *span)
{
    bool same = r->gathered.place.home == place->home &&
                r->gathered.place.host_of == place->host_of &&
                r->gathered.use == (enum vgpu_use)span->use && r->gathered.count < VGPU_SPANS;
    if (!same)
        flush_spans(r, op);
    if (r->gathered.count == 0) {
        r->gathered.place = *place;
        r->gathered.use = (enum vgpu_use)span->use;
    }
    r->gathered.span[r->gathered.count] = *span;
    r->gathered.span[r->gathered.count++].address = place->offset;
}

/* The part of `span` in an allocation that has `room` bytes from the span's address on. */
static struct vgpu_span clip_span(const struct vgpu_span *span, uint64_t room)
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

/* Removes `part` from the beginning of `span`. False: nothing is left. */
static bool advance_span(struct vgpu_span *span, const struct vgpu_span *part)
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

void races_note_spans(struct races *r, struct op *op, const struct vgpu_span *span, uint32_t count)
{
    r->work = WORK;
    for (uint32_t i = 0; wants_races(op) && i < count; i++) {
        struct vgpu_span left = span[i], part;
        struct place place;
        bool more = left.use < VGPU_USES && left.count > 0 && left.bytes > 0;
        while (more && spend_work(r, 1) && locate_bytes(op, left.address, &place)) {
            part = clip_span(&left, place.bytes - place.offset);
            gather_span(r, op, &place, &part);
            more = advance_span(&left, &part);
        }
    }
    flush_spans(r, op);
}

struct box {
    uint64_t at, bytes, rows, pitch, plane_rows, plane;
};

/* The rows of a plane are one span. With more planes than fit, the access is not checked. */
static void note_box(struct races *r, struct op *op, enum vgpu_use use, struct box b)
{
    enum { PLANES = 256 };
    struct vgpu_span span[PLANES];
    uint64_t rows = b.plane_rows ? b.plane_rows : b.rows, planes = rows ? b.rows / rows : 0;
    if (planes == 0 || planes > PLANES || b.bytes == 0)
        return;
    for (uint64_t i = 0; i < planes; i++)
        span[i] = (struct vgpu_span){b.at + i * b.plane, b.bytes, b.pitch, rows, use};
    races_note_spans(r, op, span, (uint32_t)planes);
}

static void note_copy(struct races *r, struct op *op, const struct vgpu_copy *c)
{
    if (!c->src_pageable)
        note_box(
            r, op, VGPU_USE_READ,
            (struct box){c->src, c->bytes, c->rows, c->pitch_src, c->plane_rows, c->plane_src});
    if (!c->dst_pageable)
        note_box(
            r, op, VGPU_USE_WRITE,
            (struct box){c->dst, c->bytes, c->rows, c->pitch_dst, c->plane_rows, c->plane_dst});
}

static bool touches_home(const struct op *op, uint64_t home)
{
    for (int i = 0; i < OP_TOUCHES && op->touch[i]; i++)
        if (op->touch[i] == home)
            return true;
    return false;
}

/* Memory is freed: an operation that uses it and is not ordered before the free would find other
 * data there, or none. */
static void note_free(struct races *r, struct op *op)
{
    struct pointee p;
    if (!memory_find(op->u.free, &p))
        return;
    struct place place = {NULL, p.home, p.bytes, 0, false};
    struct access freed = {.op = op, .use = VGPU_USE_WRITE, .end = p.bytes};
    for (const struct op *other = order_newest(op->process->order); other;
         other = other->order.older) {
        struct access use = {.op = (struct op *)other, .end = p.bytes};
        if (other != op && touches_home(other, p.home) && !vclocks_ordered(r->clocks, other, op) &&
            !vclocks_ordered_by_memory(r->clocks, other, op))
            race_report(&use, &freed, &place);
    }
    note_box(r, op, VGPU_USE_WRITE, (struct box){.at = p.base, .bytes = p.bytes, .rows = 1});
}

void races_note(struct races *r, struct op *op)
{
    const struct vgpu_memset *m = &op->u.memset;
    if (!wants_races(op))
        return;
    if (op->kind == OP_COPY)
        note_copy(r, op, &op->u.copy);
    else if (op->kind == OP_MEMSET)
        note_box(r, op, VGPU_USE_WRITE,
                 (struct box){m->dst, m->bytes, m->rows, m->pitch, m->plane_rows, m->plane});
    else if (op->kind == OP_FREE)
        note_free(r, op);
}

/* ---- dropping accesses ---- */

static void drop_known(struct races *r)
{
    for (int i = 0; i < REGIONS && r->kept; i++)
        for (struct region *region = r->regions[i]; region; region = region->next)
            for (struct access **at = &region->newest; *at;)
                if (vclocks_known_to_host(r->clocks, (*at)->op))
                    drop_access(r, region, at);
                else
                    at = &(*at)->older;
}

void races_quiescent(struct races *r)
{
    drop_known(r);
}

static void forget_region(struct races *r, struct region **at)
{
    struct region *gone = *at;
    while (gone->newest)
        drop_access(r, gone, &gone->newest);
    *at = gone->next;
    free(gone);
}

void races_forget(struct races *r, uint64_t home)
{
    struct region **at = find_slot(r, NULL, home);
    if (*at)
        forget_region(r, at);
}

void races_forget_host(struct races *r, const struct process *process, uint64_t address)
{
    struct region **at = find_slot(r, process, address);
    if (*at)
        forget_region(r, at);
}

void races_process_ended(struct races *r, const struct process *process)
{
    for (int i = 0; i < REGIONS; i++)
        for (struct region **at = &r->regions[i]; *at;) {
            for (struct access **a = &(*at)->newest; *a;)
                if ((*a)->op->process == process)
                    drop_access(r, *at, a);
                else
                    a = &(*a)->older;
            if ((*at)->host_of == process)
                forget_region(r, at);
            else
                at = &(*at)->next;
        }
}

void races_end(struct races *r)
{
    for (int i = 0; r && i < REGIONS; i++)
        while (r->regions[i])
            forget_region(r, &r->regions[i]);
    free(r);
}
