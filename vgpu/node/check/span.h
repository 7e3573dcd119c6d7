/* SPDX-License-Identifier: MIT
 * span.h: sets of bytes: pieces of one size at one distance from each other.
 */
#ifndef VGPU_SPAN_H
#define VGPU_SPAN_H

#include <stdbool.h>
#include <stdint.h>

#include "protocol.h"

uint64_t span_end(const struct vgpu_span *s); /* behind its last byte */

/* Have they a byte in common? Where that would take too long to find out: no. *work are the steps
 * that may be spent on it, and what is left of them. */
bool span_overlap(const struct vgpu_span *a, const struct vgpu_span *b, uint64_t *work);

#endif
