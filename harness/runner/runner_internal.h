/* SPDX-License-Identifier: MIT
 * runner_internal.h: the part of a runner that differs between the virtual node and real GPUs.
 */
#ifndef LAB_RUNNER_INTERNAL_H
#define LAB_RUNNER_INTERNAL_H

#include "status.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/* GPUs of this machine, 0 without a driver; -1 where the node has to be asked instead. */
int lab__count_gpus(void);
/* Prints `ok`, or which GPU fails and how. Returns the exit status. */
int lab__check_each_gpu(void);

/* Start of the sealed memory. */
char *lab__sealed(void);

/* Has crashes of this process and of what it forks told on the status page. */
/* The last text of lab_doing in this process: those that it forked go on with their own. */
extern char lab__own_step[sizeof lab__status->text];

void lab__catch_crashes(void);
void lab__crashed(int number, siginfo_t *info, void *context);
/* The program is about to end by SIGTRAP, for an index that is not in its array. */
void lab__index_outside(const char *file, int line, const char *what);
/* Lets the runtime, which has a handler of its own, tell lab__crashed what it cannot mend, and
 * print no refusal of a call that the tests made. */
void lab__watch_runtime(void);
/* Whether a source file is one of the tests' or of the runner's. */
bool lab__is_ours(const char *path);
/* The line of the call that returns to `address`, and the path of its file; 0: unknown. */
uint64_t lab__line_of(uint64_t address, char *path, size_t room);

/* Records in *status what is in use on the GPUs, before and after the student's function. */
void lab__count_before(struct lab_status *status);
void lab__count_after(struct lab_status *status);

#endif
