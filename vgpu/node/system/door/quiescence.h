/* SPDX-License-Identifier: MIT
 * quiescence.h: whether programs do anything at this moment, as the operating system sees it.
 *
 * A host thread that makes no call may be about to make one, or may wait for another thread of the
 * program (pthread_join, a lock, a pipe), and nobody tells us. The operating system knows: a thread
 * that waits sleeps. When all threads of all programs sleep, none of them will make a call before
 * the node has answered one; this holds on a machine of any speed, under any load.
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

/* Whether there was a moment, after the call began, at which all threads of these programs slept.
 */
enum quiescence quiescence_of(const pid_t *pid, int count);

/* Processor time that the program has used, in seconds; negative: not known. */
double quiescence_cpu_seconds(pid_t pid);

/* Of CLOCK_MONOTONIC. */
double wall_seconds(void);

#endif
