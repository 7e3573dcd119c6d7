/* SPDX-License-Identifier: MIT
 * counts.c: see counts.h.
 */
#include "counts.h"

struct vgpu_summary node_counts;

void count_memory(int device, uint64_t bytes, uint64_t asked_bytes)
{
    if (bytes > node_counts.peak_bytes[device])
        node_counts.peak_bytes[device] = bytes;
    if (asked_bytes > node_counts.peak_asked_bytes[device])
        node_counts.peak_asked_bytes[device] = asked_bytes;
}
