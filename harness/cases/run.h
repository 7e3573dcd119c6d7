/* SPDX-License-Identifier: MIT
 * run.h: one run of a student's program, and what it is made of.
 *
 *     case.c     one case: set-up, the ways it can end, what belongs to it
 *     run.c      lab_run: one runner on one node, from the memfds to the verdict
 *     sealed.c   numbers for the GPUs that the runner does not see
 *     launcher.c the sandbox that a grader puts around the runner, and what it reports
 *     environment.c  what the runner finds in its environment
 *     device.c   the GPUs of a case's node (real GPUs: nonode.c, which has no node either)
 *     trap.c     the verdict on a call that a test does not allow
 *     where.c    the line of a function in the student's file
 *     judge.c    lab_expect's comparisons
 *     seen.c     what a program reports against what the node saw
 *     marks.c    those of times, and how near they come to their limits
 */
#ifndef LAB_RUN_H
#define LAB_RUN_H

#include "node.h"
#include "test.h"

#define LAB_VISIBLE_MAX 256

/* Ends the case: the runner says that it called what it may not. */
void lab__judge_trapped(struct lab_test *t, const struct lab_run *run) __attribute__((noreturn));

/* What is sealed for the next run, given back; and handed over to this one, which is over. */
void lab__unseal(struct lab_sealed *sealed);
void lab__open_sealed(struct lab_test *t, struct lab_run *run);

/* ---- a runner's launcher ---- */

/* The words of a runner's command line, its launcher's before them. */
void lab__launch_words(const struct lab_test *t, const char *what, char **argv);
#define LAB_FD_REPORT 6 /* of a launcher: where it says what it did; the runner never has it */
/* Ends the case as our failure when the launcher did not come to start the runner. `report` is the
 * pipe's end, which is closed; `status` as wait() gave it. */
void lab__check_launcher(struct lab_test *t, int report, int status);

/* ---- a runner's environment ---- */

/* A short list of harmless variables, the node's, and the case's own. */
char **lab__environment(struct lab_test *t, const struct lab_node *node);
void lab__environment_free(char **env);

/* ---- real GPUs (nonode.c); nothing to do on the virtual node ---- */

/* A case's own value of CUDA_VISIBLE_DEVICES means numbers of the GPUs that the test was given. */
void lab__visible(const char *wanted, char *to, size_t room);
/* After a runner was ended by force, the GPUs must still answer. */
void lab__check_gpus(struct lab_test *t);

/* Line of the definition of `function` in a C file, 0 when it is not there. */
int lab__where(const char *path, const char *function);

#endif
