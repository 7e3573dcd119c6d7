/* SPDX-License-Identifier: MIT
 * run.h: one run of a student's program, and its parts.
 *
 *     case.c     one case: set-up, the ways it can end, what it owns
 *     run.c      lab_run: one runner on one node, from the memfds to the verdict
 *     sealed.c   numbers for the GPUs that the runner cannot read
 *     launcher.c the sandbox in which a grader starts the runner, and its report
 *     environment.c  the runner's environment variables
 *     device.c   the GPUs of a case's node (real GPUs: nonode.c, which has no node either)
 *     crash.c    how and where a program crashed
 *     trap.c     the verdict on a call that a test does not allow
 *     definition_line.c  the line of a function in the student's file
 *     judge.c    lab_expect's comparisons
 *     compared.c which simple mistake makes what happened of what must happen
 *     seen.c     what a program reports, compared with what the node recorded
 *     marks.c    comparisons of times, and how close they come to their limits
 *     timed.c    the time that submissions are compared by
 */
#ifndef LAB_RUN_H
#define LAB_RUN_H

#include "node.h"
#include "test.h"

#define LAB_VISIBLE_MAX 256

/* Ends the case: the runner reported a call that is not allowed in this test. */
void lab__judge_trapped(struct lab_test *t, const struct lab_run *run) __attribute__((noreturn));

/* Says how `number` ended the program, or what it forked: "signal 11 (...) at FILE:LINE, in CALL:
 * ADDRESS". Takes the line for the place to look at if it is in the student's file. */
void lab__say_crash(struct lab_test *t, const struct lab_run *run, int number, char *text,
                    size_t room);
#define LAB_CRASHED_CHILD "a process of your program was ended by "
/* Names this line of the student's file as the place to look at, unless there is one. */
void lab__place(struct lab_test *t, int line);

/* Frees the sealed memory of the next run; passes that of this run, which has ended, to the run. */
void lab__unseal(struct lab_sealed *sealed);
void lab__open_sealed(struct lab_test *t, struct lab_run *run);

/* ---- a runner's launcher ---- */

/* The command line of a runner, preceded by its launcher's. */
void lab__launch_words(const struct lab_test *t, const char *what, char **argv);
#define LAB_FD_REPORT 6 /* descriptor on which a launcher reports; closed in the runner */
/* Ends the case as a harness error if the launcher did not start the runner. `report` is the pipe's
 * read end, which is closed; `status` is as wait() returned it. */
void lab__check_launcher(struct lab_test *t, int report, int status);

/* ---- a runner's environment ---- */

/* A short list of harmless variables, the node's, and the case's own. */
char **lab__environment(struct lab_test *t, const struct lab_node *node);
void lab__environment_free(char **env);
/* Has the node look for whatever `env` says (VGPU_CHECK): the runner's code can change its own
 * variables. */
void lab__hold_checks(struct lab_test *t, struct lab_node *node, char **env);

/* ---- real GPUs (nonode.c); nothing to do on the virtual node ---- */

/* Maps a case's own CUDA_VISIBLE_DEVICES, which counts the GPUs that the test was given, to the
 * machine's numbers. */
void lab__visible(const char *wanted, char *to, size_t room);
/* After a runner was killed: checks that the GPUs still respond. */
void lab__check_gpus(struct lab_test *t);

/* ---- what happened beside what must: t->compared, "" where nothing simple makes one of the other.
 * Elements of two arrays that differ; the numbers or results of a message "..., expected ...". */
void lab__compare_arrays(struct lab_test *t, const void *got, const void *want, size_t n,
                         size_t each);
void lab__compare_message(struct lab_test *t);

/* Line of the definition of `function` in a C file, 0 if there is none. */
int lab__definition_line(const char *path, const char *function);

#endif
