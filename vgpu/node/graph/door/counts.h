/* SPDX-License-Identifier: MIT
 * counts.h: totals of what programs have done since the node started, for the witness.
 */
#ifndef VGPU_COUNTS_H
#define VGPU_COUNTS_H

#include "protocol.h"

/* The file that carries out an action increments its counter. */
extern struct vgpu_summary node_counts;

/* `bytes` of `device` are in use now, and `asked_bytes` are the sizes requested for them. */
void count_memory(int device, uint64_t bytes, uint64_t asked_bytes);

#endif
