/* SPDX-License-Identifier: MIT
 * timeline.h: data of a timeline in addition to the trace's records: arrows, calls of host threads,
 * and rates and bytes of links.
 */
#ifndef VGPU_TIMELINE_H
#define VGPU_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "op.h"
#include "topology.h"

#define TIMELINE_PROGRAMS 256 /* further programs have no number of their own */

struct timeline_sample { /* rate of a link from this time on */
    uint64_t at_ps;
    double bytes_s;
    int link;
};

/* Indices of trace.c's records plus 1; 0: none. */
struct timeline_arrow {
    uint32_t from, to;
};

struct timeline_call { /* of a host thread */
    uint64_t start_ps, end_ps;
    pid_t pid;
    uint32_t thread; /* of the program */
    bool range;      /* it is no call, but a range that the program named */
    char name[48], site[64];
};

struct timeline {
    const struct topology *topology;
    struct timeline_sample *sample;
    struct timeline_arrow *arrow;
    struct timeline_call *call;
    uint32_t samples, arrows, calls, sample_room, arrow_room, call_room;
    uint64_t bytes[MAX_RESOURCES]; /* total of each link */
    /* Index of the last sample of each link plus 1. */
    uint64_t last_at[MAX_RESOURCES];
    double last_bytes_s[MAX_RESOURCES]; /* rate of each link's last sample */
    pid_t pid[TIMELINE_PROGRAMS];       /* in order of arrival */
    int programs;
    /* Index in trace.c; earlier records belong to programs that have ended. */
    uint64_t first_record;
};

/* Rates of all links from `at_ps` on. */
void timeline_rates(struct timeline *t, uint64_t at_ps, const double *bytes_s);

/* `bytes` are sent over `route`. */
void timeline_bytes(struct timeline *t, const struct route *route, uint64_t bytes);

/* Records that `op` depends on `dep`. Call it before the dependency is dropped. */
void timeline_after(struct timeline *t, struct op *op, const struct op *dep);

void timeline_call(struct timeline *t, const struct timeline_call *call);

/* Gives a program its number, in order of arrival. */
void timeline_program(struct timeline *t, pid_t pid);

/* Time restarts: the timeline begins with record `first_record`. */
void timeline_restart(struct timeline *t, uint64_t first_record);

void timeline_free(struct timeline *t);

#endif
