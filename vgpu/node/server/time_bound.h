/* SPDX-License-Identifier: MIT
 * time_bound.h: advances virtual time, never past the earliest clock of a host thread that may
 * still issue work (the lower bound on time stamps of parallel discrete-event simulation).
 *
 * Each host thread has a clock and issues no work earlier than that; a thread that waits for the
 * node issues none. So times do not depend on the order in which the operating system runs threads.
 *
 * A thread that makes no call holds virtual time back until it makes one, or until no thread of any
 * program runs (quiescence.h): then threads that wait continue, one at a time. A thread whose
 * program has used HOLD_CPU_S of processor time meanwhile no longer holds time back, and neither do
 * then the programs that sleep: it computes, or polls for a message as MPI does. Work that it
 * issues afterwards may be late, which is reported (late_issue.h).
 */
#ifndef VGPU_TIME_BOUND_H
#define VGPU_TIME_BOUND_H

#include <stdbool.h>
#include <stdint.h>

#include "connection.h"

/* The connection is new, or its reply is being sent: its thread's clock is `clock_ps` from now on.
 */
void time_bound_answered(struct connection *connection, uint64_t clock_ps);

/* The thread has made a call, which ends its hold on time. */
void time_bound_called(struct connection *connection);

/* The call has been read. If its result depends on the current time, it waits until virtual time
 * has reached the caller's clock: `time.asks`. */
void time_bound_read(struct connection *connection);

/* True, once for each such call, when that time has come and the call must be handled. */
bool time_bound_take_due(struct connection *connection);

/* Advances virtual time for those that wait, up to the next event that one of them waits for. True:
 * that event has occurred, an operation has finished, or a connection is `due`. False: nothing
 * waits, time is held back, or a kernel polls. */
bool time_bound_step(void);

/* If time is held back although something waits for it: the number of ms after which to try again,
 * which grows. 0: time is not held back. */
double time_bound_timeout_ms(void);

/* True if no host thread may make a call: each waits for the node, or was given up. */
bool time_bound_all_wait(void);

#endif
