/* SPDX-License-Identifier: MIT
 * late_issue.h: records work that was issued late, so that times depend on the operating system.
 * Virtual time waits for a thread that may still issue work (time_bound.h), but not forever, nor
 * for a thread that sleeps and is woken in a way unknown to the node. If time has passed the clock
 * of such a thread when it issues work, the work begins late, by an amount that depends on the
 * operating system. The number of such cases and their causes are recorded and reported when the
 * program ends.
 */
#ifndef VGPU_LATE_ISSUE_H
#define VGPU_LATE_ISSUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct op;
struct process;

/* A further host thread of the program begins to issue work. */
void late_issue_worker(struct process *process);

/* `op` would have begun `late_ps` earlier if time had not advanced already. */
void late_issue_note(const struct op *op, uint64_t late_ps);

/* Kernel `op` polls a value that one of several threads has stored. */
void late_issue_store(const struct op *op);

/* The program ends and has measured times: adds a message about what they depend on to its texts.
 * False: there is nothing to report. */
bool late_issue_tell(struct process *process);

/* The same for all programs, for a witness; "" if there is nothing to report. */
void late_issue_describe(char *text, size_t room);

#endif
