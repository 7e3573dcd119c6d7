/* SPDX-License-Identifier: MIT
 * passing.h: how far time may pass, and lets it pass.
 *
 * Each host thread has a clock, and issues nothing earlier than that. So time passes no further
 * than the earliest clock of a thread that may still make a call; one that waits for us makes none.
 * What comes out does not depend on which thread the operating system lets run first.
 *
 * A thread that makes no call holds the time until it makes one, or until no thread of any program
 * does anything (asleep.h): then those that wait go on, one at a time. One that computes for longer
 * than PATIENCE_S is waited for no longer; what it issues then may come too late, which is reported
 * (overtaken.h).
 */
#ifndef VGPU_PASSING_H
#define VGPU_PASSING_H

#include <stdbool.h>
#include <stdint.h>

#include "server.h"

/* Whether this call tells what the time of its caller shows: it is handled when time has come. */
bool passing_asks(const struct connection *connection);

/* Lets time pass for those who wait for its passing, up to the next thing that one of them waits
 * for. True: that has come, an operation is finished, or a connection is `due`. False: nobody
 * waits, or time must not pass yet, or a kernel polls. */
bool passing_step(void);

/* Time stands still though somebody waits for it, since a thread may still make a call: look again
 * after so many milliseconds, which become more. 0: nothing is held. */
double passing_patience_ms(void);

/* Every host thread waits for us, or none does anything. */
bool passing_all_wait(void);

#endif
