/* SPDX-License-Identifier: MIT
 * late_issue.h: programs whose times depend on the operating system. Time waits for a thread that
 * may still call (time_bound.h), but not for ever, nor for one that sleeps and wakes by what we
 * cannot see. Work that such a thread issues when time has passed its clock begins late: by how
 * much is the operating system's. That is noted, with its cause, and the program is told at its
 * end.
 */
#ifndef VGPU_LATE_ISSUE_H
#define VGPU_LATE_ISSUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct op;
struct process;

/* Another host thread of the program begins to work. */
void late_issue_worker(struct process *process);

/* `op` would have begun `late_ps` before the present, but for work that others waited for. */
void late_issue_note(const struct op *op, uint64_t late_ps);

/* Kernel `op` polls what one of several threads has stored. */
void late_issue_store(const struct op *op);

/* The program ends, and has looked at times: tells it, in its explanation, what they depend on.
 * False: nothing. */
bool late_issue_tell(struct process *process);

/* The same about all programs together, for a witness; "" when there is nothing to be told. */
void late_issue_describe(char *text, size_t room);

#endif
