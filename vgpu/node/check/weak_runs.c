/* SPDX-License-Identifier: MIT
 * weak_runs.c: see weak_runs.h. Places are given in turn, so that a kernel's is given again when
 * many others have begun since; it then counts as before all of them.
 */
#include "weak_runs.h"

#include <stdlib.h>

#include "weak_table.h"

struct weak_runs {
    struct place {
        struct op *op; /* a reference; NULL: before all kernels */
        bool runs;
    } place[VGPU_WEAK_RUNS];
    uint32_t next;
};

struct weak_runs *weak_runs_new(void)
{
    return calloc(1, sizeof(struct weak_runs));
}

static uint64_t places_before(const struct weak_runs *runs, const struct vclocks *clocks,
                              const struct op *op)
{
    uint64_t places = 0;
    for (int i = 0; i < VGPU_WEAK_RUNS; i++)
        if (!runs->place[i].op || vclocks_ordered(clocks, runs->place[i].op, op))
            places |= 1ull << i;
    return places;
}

/* -1: as many kernels poll as there are places. */
static int32_t free_place(struct weak_runs *runs)
{
    for (int i = 0; i < VGPU_WEAK_RUNS; i++) {
        uint32_t at = runs->next++ % VGPU_WEAK_RUNS;
        if (!runs->place[at].runs)
            return (int32_t)at;
    }
    return -1;
}

void weak_runs_begin(struct weak_runs *runs, const struct vclocks *clocks, struct op *op)
{
    op->check.weak_after = places_before(runs, clocks, op);
    op->check.weak_slot = free_place(runs);
    if (op->check.weak_slot < 0)
        return;
    struct place *place = &runs->place[op->check.weak_slot];
    op_drop(place->op);
    *place = (struct place){op_keep(op), true};
}

void weak_runs_over(struct weak_runs *runs, const struct op *op)
{
    for (int i = 0; i < VGPU_WEAK_RUNS; i++)
        if (runs->place[i].op == op)
            runs->place[i].runs = false;
}

void weak_runs_process_ended(struct weak_runs *runs, const struct process *process)
{
    for (int i = 0; i < VGPU_WEAK_RUNS; i++)
        if (runs->place[i].op && runs->place[i].op->process == process) {
            op_drop(runs->place[i].op);
            runs->place[i] = (struct place){0};
        }
}

void weak_runs_end(struct weak_runs *runs)
{
    for (int i = 0; runs && i < VGPU_WEAK_RUNS; i++)
        op_drop(runs->place[i].op);
    free(runs);
}
