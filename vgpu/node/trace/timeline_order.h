/* SPDX-License-Identifier: MIT
 * timeline_order.h: sorts the contents of a timeline, so that they do not depend on which host
 * thread the operating system ran first: records by issue time, then GPU; arrows by their ends;
 * samples by time, then link; calls by their starts.
 */
#ifndef VGPU_TIMELINE_ORDER_H
#define VGPU_TIMELINE_ORDER_H

#include <stdbool.h>

#include "protocol.h"
#include "timeline_json.h"

/* Sorts record[0..count), which are the records of `t`, and replaces the arrows of `t` (renumbered
 * to match), its samples and its calls by sorted copies, which the caller frees. False: host memory
 * ran out, and nothing has changed. */
bool timeline_order(struct timeline *t, struct vgpu_trace_record *record, uint64_t count);

#endif
