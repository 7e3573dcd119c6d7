/* SPDX-License-Identifier: MIT
 * counts.h: running totals, for the witness: of what programs have done since the node began.
 */
#ifndef VGPU_COUNTS_H
#define VGPU_COUNTS_H

#include "protocol.h"

/* The file that carries an action out increments its counter. */
struct vgpu_summary *node_counts(void);

/* Bytes in use on `device` have become `bytes`, and `asked_bytes` of allocations. */
void count_memory(int device, uint64_t bytes, uint64_t asked_bytes);

#endif
