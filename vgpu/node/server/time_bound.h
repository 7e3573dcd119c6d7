/* SPDX-License-Identifier: MIT
 * time_bound.h: advances virtual time, never past the earliest clock of a host thread that may
 * still issue work (the lower bound on time stamps of parallel discrete-event simulation).
 *
 * Each host thread has a clock, and issues nothing earlier than that; one that waits for the node
 * issues nothing. So the times do not depend on which thread the operating system lets run first.
 *
 * A thread that makes no call holds the time until it makes one, or until no thread of any program
 * does anything (quiescence.h): then those that wait go on, one at a time. One that computes for
 * longer than PATIENCE_S is waited for no longer; what it issues then may come too late, which is
 * reported (late_issue.h).
 */
#ifndef VGPU_TIME_BOUND_H
#define VGPU_TIME_BOUND_H

#include <stdbool.h>
#include <stdint.h>

#include "connection.h"

/* The connection is new, or its answer goes out: from now on its thread's clock is `clock_ps`. */
void time_bound_answered(struct connection *connection, uint64_t clock_ps);

/* Its thread has made a call, and has held the time no longer than until now. */
void time_bound_called(struct connection *connection);

/* Its call has been read. One that shows what the time is waits until the time has come to the
 * caller's clock: `time.asks`. */
void time_bound_read(struct connection *connection);

/* The time has come: its call is to be handled now. True once for each such call. */
bool time_bound_take_due(struct connection *connection);

/* Lets time pass for those who wait for its passing, up to the next thing that one of them waits
 * for. True: that has come, an operation is finished, or a connection is `due`. False: nobody
 * waits, or time must not pass yet, or a kernel polls. */
bool time_bound_step(void);

/* Time stands still though somebody waits for it, since a thread may still make a call: look again
 * after so many milliseconds, which become more. 0: nothing is held. */
double time_bound_patience_ms(void);

/* Every host thread waits for us, or none does anything. */
bool time_bound_all_wait(void);

#endif
