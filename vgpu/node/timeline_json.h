/* SPDX-License-Identifier: MIT
 * timeline_json.h: a node's trace as Chrome's trace format.
 */
#ifndef VGPU_TIMELINE_JSON_H
#define VGPU_TIMELINE_JSON_H

#include <stdint.h>
#include <sys/types.h>

#include "topology.h"

#define TIMELINE_PROGRAMS 256 /* more are not told apart */

struct timeline_sample { /* from then on a link carries so much */
    uint64_t at_ps;
    double bytes_s;
    int link;
};

struct timeline_arrow { /* numbers of trace.c's records, plus 1; 0: none */
    uint32_t from, to;
};

struct timeline {
    const struct topology *topology;
    struct timeline_sample *sample;
    struct timeline_arrow *arrow;
    uint32_t samples, arrows;
    uint64_t bytes[MAX_RESOURCES]; /* that each link carried */
    pid_t pid[TIMELINE_PROGRAMS];  /* in the order in which they came */
    int programs;
    uint64_t first_record; /* of trace.c: those before it are of programs that are gone */
};

/* Writes all of it, with trace.c's records, from the start of the file `fd`, and closes that. */
void timeline_json(const struct timeline *t, int fd);

#endif
