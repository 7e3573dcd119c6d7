/* SPDX-License-Identifier: MIT
 * verifier.h: the program that runs all cases of a lab and reports their verdicts.
 *
 *     main.c     the command line, the loop over the cases
 *     orders.c   repeats a case in other orders
 *     own.c      repeats a case with the student's own functions
 *     report.c   the terminal;  record.c  JSON
 */
#ifndef LAB_VERIFIER_H
#define LAB_VERIFIER_H

#include "test.h"

#include <stdio.h>

/* Repeats a case that passed in other orders, until one does not pass. Skips a case whose program
 * has only one possible order, or that sets one_order. */
void lab__other_orders(struct lab_test *t, const struct lab_case *info,
                       const struct lab_options *options);

/* Repeats a case that passed with the student's own functions, if there is such a program. */
void lab__with_own(struct lab_test *t, const struct lab_case *info,
                   const struct lab_options *options);

/* Why the behaviour of a failed case is wrong: a sentence, or "". */
const char *lab__why(const struct lab_test *t);
/* What kind of grave mistake a failed case tells: "race", or "". */
const char *lab__grave_name(const struct lab_test *t);
void lab__report(const struct lab_test *t, bool whole);
/* Appends the record to options->json and writes options->results/NAME.json. Returns 0, or -1 after
 * a message on stderr. */
int lab__record(const struct lab_test *t);
void lab__json_string(FILE *to, const char *text);
const char *lab__verdict_name(enum lab_verdict verdict);
/* The next step for the student, without a newline. */
void lab__next_step(const struct lab_test *t, char *text, size_t room);

#endif
