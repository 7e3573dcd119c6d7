/* SPDX-License-Identifier: MIT
 * memory_signals.h: communication between kernels through memory: the addresses that a run has
 * stored to by volatile stores and atomics, and those that it has polled, since RUN or RESUME. The
 * node derives the times of these operations from it (slices.h there).
 */
#ifndef VGPU_MEMORY_SIGNALS_H
#define VGPU_MEMORY_SIGNALS_H

#include "exec.h"

/* The address's index in the list. VGPU_SIGNALS: the list is full. */
static inline uint32_t signal_note(uint64_t *list, uint32_t *count, uint64_t address)
{
    for (uint32_t i = 0; i < *count; i++)
        if (list[i] == address)
            return i;
    if (*count == VGPU_SIGNALS || window_of(address) > WINDOW_HOST)
        return VGPU_SIGNALS;
    list[*count] = address;
    return (*count)++;
}

/* Several processes may run the blocks: stored_by has the order in which one would have noted the
 * addresses, by block and then by index. */
enum { SIGNAL_INDEX_BITS = 8 };

static inline void signal_stored(uint64_t address)
{
    struct vgpu_signals *s = &now.run->signals;
    uint32_t next = s->stored_count;
    signal_note(s->stored, &s->stored_count, address);
    if (next != s->stored_count)
        now.run->stored_by[next] = now.block->number << SIGNAL_INDEX_BITS | next;
    for (uint32_t i = 0; now.run->fenced && i < s->stored_count; i++)
        if (s->stored[i] == address)
            s->fenced |= 1u << i;
}

/* Adds what another process has noted from its own `first` on. */
void signals_merge(struct run *run, uint32_t first, const struct vgpu_signals *theirs,
                   const uint64_t *stored_by);

static inline void signal_polled(uint64_t address, uint64_t value, uint32_t bytes)
{
    struct vgpu_signals *s = &now.run->signals;
    uint32_t i = signal_note(s->polled, &s->polled_count, address);
    if (i == VGPU_SIGNALS)
        return;
    s->value[i] = value;
    s->bytes[i] = (uint8_t)(bytes < 8 ? bytes : 8);
}

#endif
