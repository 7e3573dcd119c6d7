/* SPDX-License-Identifier: MIT
 * span.h: sets of bytes: `count` pieces of equal size at equal distances.
 */
#ifndef VGPU_SPAN_H
#define VGPU_SPAN_H

#include <stdbool.h>
#include <stdint.h>

#include "protocol.h"

uint64_t span_end(const struct vgpu_span *s); /* one past its last byte */

/* True if the two have a byte in common; false also if finding out would take more than *work
 * steps. *work is reduced by the steps used. */
bool span_overlap(const struct vgpu_span *a, const struct vgpu_span *b, uint64_t *work);

#endif
