/* SPDX-License-Identifier: MIT
 * timeline_order.h: one order for what a trace says, whichever host thread the operating system let
 * call first: records by the time of their issue, then by GPU; arrows by what they join; samples by
 * time, then by link.
 */
#ifndef VGPU_TIMELINE_ORDER_H
#define VGPU_TIMELINE_ORDER_H

#include <stdbool.h>

#include "protocol.h"
#include "timeline_json.h"

/* Puts the records of `t` that lie at record[0..count) into order. `t` gets ordered copies of its
 * arrows, which know where their records lie now, and of its samples: the caller frees them. False:
 * no memory; nothing has changed. */
bool timeline_order(struct timeline *t, struct vgpu_trace_record *record, uint64_t count);

#endif
