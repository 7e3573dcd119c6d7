/* SPDX-License-Identifier: MIT
 * quiescence.h: determines whether programs are running at the moment.
 *
 * A host thread that makes no call may be about to make one, or may wait for another thread of the
 * program (pthread_join, a lock, a pipe) in a way unknown to the node. The operating system knows
 * it: a thread that waits is asleep. If all threads of all programs are asleep, none of them will
 * make a call before the node has answered one; this holds on a machine of any speed and under any
 * load.
 */
#ifndef VGPU_QUIESCENCE_H
#define VGPU_QUIESCENCE_H

#include <stdbool.h>
#include <sys/types.h>

enum quiescence {
    QUIESCENT_NO,
    QUIESCENT_YES,
    QUIESCENT_UNKNOWN /* the operating system does not tell */
};

/* QUIESCENT_YES if there was a moment after the start of this call at which all threads of these
 * programs were asleep. */
enum quiescence quiescence_of(const pid_t *pid, int count);

/* Processor time used by the program, in seconds; negative: unknown. */
double quiescence_cpu_seconds(pid_t pid);

/* Seconds of CLOCK_MONOTONIC. */
double wall_seconds(void);

#endif
