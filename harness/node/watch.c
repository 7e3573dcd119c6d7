/* SPDX-License-Identifier: MIT
 * watch.c: detects that the runner makes no progress.
 *
 * A loaded machine makes everything slow and must not fail a program, so no rule here counts wall
 * seconds in which a program wants to run:
 *
 *     hung     every thread is blocked, no CPU time was used and the node made no progress, in each
 *              of at least eight samples that span two seconds (ten where kernels wait: the node
 *              itself detects a deadlock of kernels after three, and explains it better; ten on
 * real GPUs, whose driver may block a program in the kernel); asleep   the same with a thread in
 * nanosleep, which will end: 30 s of it in all; late     the program keeps using a little time, or
 * keeps the node busy: the sum of seconds in which no thread was runnable and of CPU time, the
 * node's included, reached LAB_WALL_SECONDS (default: 8 times the limit of CPU time). The load of
 * the machine does not add to it; fat      more memory than LAB_MEMORY_BYTES (not set: no limit);
 *     busy     the CPU time of all processes reached the limit (LAB_CPU_SECONDS, default 8; on real
 *              GPUs 30, where a context of four GPUs alone takes four).
 *
 * A thread that waits for a CPU is runnable in /proc, however long it waits.
 */
#include "node.h"
#include "process.h"
#include "watch.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define QUIET_SECONDS 2.0
#define QUIET_SECONDS_OF_KERNELS 10.0
#define QUIET_SECONDS_OF_DRIVERS 10.0
#define QUIET_SAMPLES 8

#define WALL_FOR_CPU 8 /* default wall limit, as a multiple of the CPU limit */
#define LAST_RESORT 10 /* times the wall limit, in wall time, whatever the load */

static double seconds_of(uint64_t ticks)
{
    return (double)ticks / (double)sysconf(_SC_CLK_TCK);
}

static double limit_from(const char *variable, double otherwise)
{
    const char *text = getenv(variable);
    double value = text ? strtod(text, NULL) : 0;
    return value > 0 ? value : otherwise;
}

void lab__watch_start(struct lab_watch *watch, struct lab_node *node)
{
    memset(watch, 0, sizeof *watch);
    watch->node = node;
    watch->cpu_limit = limit_from("LAB_CPU_SECONDS", lab__node_virtual() ? 8 : 30);
    watch->idle_limit = limit_from("LAB_IDLE_SECONDS", 30);
    watch->wall_limit = limit_from("LAB_WALL_SECONDS", WALL_FOR_CPU * watch->cpu_limit);
    watch->memory_limit = (uint64_t)limit_from("LAB_MEMORY_BYTES", 0);
    watch->began = watch->last = watch->quiet_since = lab__seconds();
}

/* Whether nothing has changed since the last sample. */
static bool is_quiet(struct lab_watch *watch, const struct lab_usage *usage)
{
    uint64_t progress = watch->progress;
    char waiting[2] = "";
    bool quiet = !usage->running && usage->cpu_ticks == watch->ticks;
    if (quiet && watch->node)
        lab__node_progress(watch->node, 0.1, &progress, waiting, sizeof waiting);
    watch->limit = !lab__node_virtual() ? QUIET_SECONDS_OF_DRIVERS
                   : waiting[0]         ? QUIET_SECONDS_OF_KERNELS
                                        : QUIET_SECONDS;
    quiet = quiet && progress == watch->progress;
    watch->ticks = usage->cpu_ticks;
    watch->progress = progress;
    return quiet;
}

enum lab_watched lab__watch_sample(struct lab_watch *watch)
{
    struct lab_usage usage;
    double now = lab__seconds(), since = now - watch->last;
    lab__usage(watch->node ? lab__node_pid(watch->node) : 0, watch->memory_limit, &usage);
    bool quiet = is_quiet(watch, &usage);
    watch->last = now;
    watch->cpu_seconds = usage.cpu_seconds;
    if (usage.cpu_seconds > watch->cpu_limit)
        return LAB_BUSY;
    if (watch->memory_limit && usage.memory_bytes > watch->memory_limit)
        return LAB_FAT;
    watch->blocked += usage.running ? 0 : since < 1 ? since : 1;
    watch->node_seconds = seconds_of(usage.node_ticks);
    watch->charged = watch->blocked + usage.cpu_seconds + watch->node_seconds;
    if (watch->charged > watch->wall_limit || now - watch->began > LAST_RESORT * watch->wall_limit)
        return LAB_LATE;
    if (!quiet) {
        watch->quiet_samples = 0;
        watch->quiet_since = now;
        return LAB_ALIVE;
    }
    watch->quiet_samples++;
    watch->idle += since < 1 ? since : 1; /* this process may have been stopped meanwhile */
    if (watch->idle > watch->idle_limit)
        return LAB_ASLEEP;
    if (!usage.sleeping && watch->quiet_samples >= QUIET_SAMPLES &&
        now - watch->quiet_since >= watch->limit)
        return LAB_HUNG;
    return LAB_ALIVE;
}
