/* SPDX-License-Identifier: MIT
 * slices.c: see slices.h. Effects take place one after the other, and a slice depends only on
 * slices that took place earlier, so there are no cycles.
 */
#include "slices.h"

#include <stdlib.h>
#include <string.h>

#include "process.h"

/* Per kernel; further slices are merged into the last one. */
#define SLICES 4096

static uint64_t store_key(const struct op *op, uint64_t address)
{
    return address < VGPU_HOST_VA ? address : address ^ (uint64_t)(op->process->number + 1) << 48;
}

static struct store_place *store_place_of(struct stores_seen *seen, uint64_t key)
{
    return &seen->place[(key * 0x9E3779B97F4A7C15ull >> 54) % STORE_PLACES];
}

static uint32_t current_slice(const struct op *op)
{
    return op->clock.slices ? op->clock.slices->count - 1 : 0;
}

static void set_last_store(struct stores_seen *seen, struct op *op)
{
    struct op *before = seen->last;
    seen->last = op_keep(op);
    op_drop(before);
}

void slices_effect(struct stores_seen *seen, struct op *op)
{
    set_last_store(seen, op);
}

static void remember_stores(struct stores_seen *seen, struct op *op,
                            const struct vgpu_signals *signals)
{
    for (uint32_t i = 0; i < signals->stored_count; i++) {
        uint64_t key = store_key(op, signals->stored[i]);
        struct store_place *p = store_place_of(seen, key);
        struct op *before = p->op;
        *p = (struct store_place){key, op_keep(op), current_slice(op)};
        op_drop(before);
    }
}

static void add_dep(struct slice *slice, struct op *op, uint32_t number)
{
    for (int i = 0; i < slice->deps; i++)
        if (slice->dep[i] == op) {
            if (number > slice->dep_slice[i])
                slice->dep_slice[i] = number;
            return;
        }
    if (slice->deps == SLICE_DEPS)
        return;
    slice->dep[slice->deps] = op_keep(op);
    slice->dep_slice[slice->deps++] = number;
}

/* Stores the slices that this slice of `op` depends on; returns their number. */
static int find_deps(struct stores_seen *seen, struct op *op, const struct vgpu_signals *signals,
                     bool resumed, struct slice *slice)
{
    for (uint32_t i = 0; i < signals->polled_count; i++) {
        uint64_t key = store_key(op, signals->polled[i]);
        const struct store_place *p = store_place_of(seen, key);
        if (p->op && p->address == key && p->op != op && !p->op->finished)
            add_dep(slice, p->op, p->slice);
    }
    bool by_host = op->stores.stored_ps;
    if (slice->deps == 0 && resumed && !by_host && seen->last && seen->last != op &&
        !seen->last->finished)
        add_dep(slice, seen->last, current_slice(seen->last));
    return slice->deps;
}

static void subtract_counts(struct vgpu_run_counts *from, const struct vgpu_run_counts *what)
{
    for (int w = 0; w <= VGPU_MAX_DEVICES; w++) {
        uint64_t read = what->read_moved[w], written = what->write_moved[w];
        from->read_moved[w] -= read < from->read_moved[w] ? read : from->read_moved[w];
        from->write_moved[w] -= written < from->write_moved[w] ? written : from->write_moved[w];
    }
}

static struct slice *append_slice(struct op *op)
{
    struct slices *s = op->clock.slices ? op->clock.slices : calloc(1, sizeof *s);
    op->clock.slices = s;
    if (!s)
        return NULL;
    if (s->count == s->room) {
        uint32_t more = s->room ? 2 * s->room : 4;
        struct slice *grown = more <= SLICES ? realloc(s->slice, more * sizeof *grown) : NULL;
        if (!grown)
            return NULL;
        s->slice = grown;
        s->room = more;
    }
    struct slice *slice = &s->slice[s->count++];
    memset(slice, 0, sizeof *slice);
    return slice;
}

static void drop_deps(struct slice *slice)
{
    for (int i = 0; i < slice->deps; i++)
        op_drop(slice->dep[i]);
    slice->deps = 0;
}

/* A kernel that neither stalled nor waited is not cut into slices. */
void slices_add(struct stores_seen *seen, struct op *op, const struct vgpu_run_counts *counts,
                const struct vgpu_signals *signals, bool resumed)
{
    struct slice found = {.counts = *counts};
    if (find_deps(seen, op, signals, resumed, &found) > 0 || op->clock.slices ||
        op->u.kernel.stalled) {
        struct slice *slice = append_slice(op);
        if (slice) {
            subtract_counts(&found.counts, &op->clock.slices->seen);
            *slice = found;
            op->clock.slices->seen = *counts;
        } else {
            drop_deps(&found);
        }
    }
    remember_stores(seen, op, signals);
    set_last_store(seen, op);
}

static bool is_slice_over(const struct op *op, uint32_t slice)
{
    return op->finished || (op->clock.slices && op->clock.slices->done > slice);
}

bool slices_may_begin(struct op *op, bool *far)
{
    struct slice *slice = &op->clock.slices->slice[op->clock.slices->done];
    bool may = true;
    for (int i = 0; i < slice->deps; i++) {
        struct op *dep = slice->dep[i];
        if (!dep)
            continue;
        *far = *far || dep->device != op->device;
        if (!is_slice_over(dep, slice->dep_slice[i])) {
            may = false;
            continue;
        }
        slice->dep[i] = NULL;
        op_drop(dep);
    }
    return may;
}

void slices_join(struct op *op)
{
    uint32_t i = 0;
    while (op->clock.slices && i < op->clock.slices->count && op->clock.slices->slice[i].deps == 0)
        i++;
    if (op->clock.slices && i == op->clock.slices->count)
        slices_free(op);
}

void slices_free(struct op *op)
{
    if (!op->clock.slices)
        return;
    for (uint32_t i = 0; i < op->clock.slices->count; i++)
        drop_deps(&op->clock.slices->slice[i]);
    free(op->clock.slices->slice);
    free(op->clock.slices);
    op->clock.slices = NULL;
}

void slices_forget(struct stores_seen *seen, const struct process *process)
{
    for (int i = 0; i < STORE_PLACES; i++) {
        struct op *op = seen->place[i].op;
        if (op && (!process || op->process == process)) {
            seen->place[i] = (struct store_place){0};
            op_drop(op);
        }
    }
    if (seen->last && (!process || seen->last->process == process))
        set_last_store(seen, NULL);
}
