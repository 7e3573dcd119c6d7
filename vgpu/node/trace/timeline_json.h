/* SPDX-License-Identifier: MIT
 * timeline_json.h: a node's trace as Chrome's trace format.
 */
#ifndef VGPU_TIMELINE_JSON_H
#define VGPU_TIMELINE_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "protocol.h"
#include "timeline.h"

/* Writes the timeline with the trace's `total` records, of which it shows those from
 * `t->first_record` on, from the start of the file `fd`, and closes that. False:
 * the node is out of memory, or the file cannot be written; what it holds is not the trace. */
bool timeline_json(const struct timeline *t, const struct vgpu_trace_record *records,
                   uint64_t total, int fd);

#endif
