/* SPDX-License-Identifier: MIT
 * watch.h: deadlines that depend on a program's progress, not on wall time alone.
 */
#ifndef LAB_WATCH_H
#define LAB_WATCH_H

#include <stdint.h>

struct lab_node;

struct lab_watch {
    struct lab_node *node;
    double cpu_limit, idle_limit;
    double wall_limit;
    uint64_t memory_limit; /* bytes, 0: none */
    uint64_t ticks, progress;
    double began, quiet_since, last; /* wall seconds; last: of the previous sample */
    double idle;                     /* total seconds in which every thread was asleep */
    double blocked;                  /* total seconds in which no thread was runnable */
    double charged;                  /* blocked + CPU time, the node's included */
    double limit; /* seconds of quiet that count as hung, as of the last sample */
    int quiet_samples;
    double cpu_seconds, node_seconds; /* processor time of the program, and of the node */
};

enum lab_watched { LAB_ALIVE, LAB_HUNG, LAB_ASLEEP, LAB_BUSY, LAB_LATE, LAB_FAT };

void lab__watch_start(struct lab_watch *watch, struct lab_node *node);
enum lab_watched lab__watch_sample(struct lab_watch *watch);

#endif
