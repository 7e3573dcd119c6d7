/* SPDX-License-Identifier: MIT
 * timeline.h: what a timeline needs beside the trace's records: arrows, the rates and bytes of
 * links.
 */
#ifndef VGPU_TIMELINE_H
#define VGPU_TIMELINE_H

#include <stdint.h>
#include <sys/types.h>

#include "op.h"
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
    uint32_t samples, arrows, sample_room, arrow_room;
    uint64_t bytes[MAX_RESOURCES];      /* that each link carried */
    uint64_t last_at[MAX_RESOURCES];    /* sample of each link, its number plus 1 */
    double last_bytes_s[MAX_RESOURCES]; /* and its rate */
    pid_t pid[TIMELINE_PROGRAMS];       /* in the order in which they came */
    int programs;
    uint64_t first_record; /* of trace.c: those before it are of programs that are gone */
};

/* From `at_ps` on the links carry so much. */
void timeline_rates(struct timeline *t, uint64_t at_ps, const double *bytes_s);

/* `bytes` were sent on their way over `route`. */
void timeline_bytes(struct timeline *t, const struct route *route, uint64_t bytes);

/* `op` comes after `dep`: for the arrows. Before the dependency is forgotten. */
void timeline_after(struct timeline *t, struct op *op, const struct op *dep);

/* Programs are numbered as they came. */
void timeline_program(struct timeline *t, pid_t pid);

/* Records from `first_record` on are of the next program, which is the first one. */
void timeline_restart(struct timeline *t, uint64_t first_record);

void timeline_free(struct timeline *t);

#endif
