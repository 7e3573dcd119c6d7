/* SPDX-License-Identifier: MIT
 * counts.c: see counts.h.
 */
#include "counts.h"

static struct vgpu_summary counts;

struct vgpu_summary *node_counts(void)
{
    return &counts;
}

void count_memory(int device, uint64_t bytes, uint64_t asked_bytes)
{
    if (bytes > counts.peak_bytes[device])
        counts.peak_bytes[device] = bytes;
    if (asked_bytes > counts.peak_asked_bytes[device])
        counts.peak_asked_bytes[device] = asked_bytes;
}
