/* SPDX-License-Identifier: MIT
 * timeline_json.h: writes a timeline in the Chrome trace format.
 */
#ifndef VGPU_TIMELINE_JSON_H
#define VGPU_TIMELINE_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "protocol.h"
#include "timeline.h"

/* Writes the timeline from the start of the file `fd`, and closes it. Of the trace's `total`
 * records, those from `t->first_record` on are shown. False: host memory ran out or the file cannot
 * be written; its contents are then invalid. */
bool timeline_json(const struct timeline *t, const struct vgpu_trace_record *records,
                   uint64_t total, int fd);

#endif
