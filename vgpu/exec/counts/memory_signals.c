/* SPDX-License-Identifier: MIT
 * memory_signals.c: see memory_signals.h.
 */
#include "memory_signals.h"

/* The index of the address that is last in the order of stored_by, of those from index `first` on.
 * VGPU_SIGNALS: there are none. */
static uint32_t last_signal(const struct run *run, uint32_t first)
{
    uint32_t last = VGPU_SIGNALS;
    for (uint32_t i = first; i < run->signals.stored_count; i++)
        if (last == VGPU_SIGNALS || run->stored_by[i] > run->stored_by[last])
            last = i;
    return last;
}

static void put_signal(struct run *run, uint32_t at, uint64_t address, uint64_t by)
{
    run->signals.stored[at] = address;
    run->stored_by[at] = by;
}

static void merge_signal(struct run *run, uint32_t first, uint64_t address, uint64_t by)
{
    struct vgpu_signals *s = &run->signals;
    uint32_t at = 0;
    while (at < s->stored_count && s->stored[at] != address)
        at++;
    if (at == VGPU_SIGNALS)
        at = last_signal(run, first);
    if (at == VGPU_SIGNALS)
        return;
    if (at == s->stored_count)
        s->stored_count++;
    else if (run->stored_by[at] < by)
        return;
    put_signal(run, at, address, by);
}

static void sort_signals(struct run *run, uint32_t first)
{
    for (uint32_t i = first + 1; i < run->signals.stored_count; i++) {
        uint64_t address = run->signals.stored[i], by = run->stored_by[i];
        uint32_t at = i;
        for (; at > first && run->stored_by[at - 1] > by; at--)
            put_signal(run, at, run->signals.stored[at - 1], run->stored_by[at - 1]);
        put_signal(run, at, address, by);
    }
}

void signals_merge(struct run *run, uint32_t first, const struct vgpu_signals *theirs,
                   const uint64_t *stored_by)
{
    for (uint32_t i = first; i < theirs->stored_count; i++)
        merge_signal(run, first, theirs->stored[i], stored_by[i]);
    sort_signals(run, first);
}
