/* SPDX-License-Identifier: MIT
 * watch.h: is a program still getting on? Deadlines that count progress.
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
    double began, quiet_since, last; /* wall seconds; last: of the last sample */
    double idle;                     /* seconds in which everything was asleep, in all */
    double blocked;                  /* seconds in which nothing wanted a processor, in all */
    double charged;                  /* those, and the processor time, the node's too */
    double limit;                    /* how long it may be quiet, as of the last sample */
    int quiet_samples;
    double cpu_seconds, node_seconds; /* processor time of the program, and of the node */
};

enum lab_watched { LAB_ALIVE, LAB_HUNG, LAB_ASLEEP, LAB_BUSY, LAB_LATE, LAB_FAT };

void lab__watch_start(struct lab_watch *watch, struct lab_node *node);
enum lab_watched lab__watch_sample(struct lab_watch *watch);

#endif
