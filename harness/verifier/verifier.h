/* SPDX-License-Identifier: MIT
 * verifier.h: the program that runs all cases of a lab and tells what became of them.
 *
 *     main.c     the command line, the loop over the cases
 *     orders.c   the same case once more, in other orders
 *     own.c      and with the student's own functions around
 *     report.c   the terminal;  record.c  JSON
 */
#ifndef LAB_VERIFIER_H
#define LAB_VERIFIER_H

#include "test.h"

#include <stdio.h>

/* Runs a case that passed in other orders, until one does not pass. A case whose program leaves no
 * order open, or that wants one_order, is left as it is. */
void lab__other_orders(struct lab_test *t, const struct lab_case *info,
                       const struct lab_options *options);

/* Runs a case that passed with the student's own functions, where there is such a program. */
void lab__with_own(struct lab_test *t, const struct lab_case *info,
                   const struct lab_options *options);

/* Why a failed case must not be so: a sentence, or "". */
const char *lab__why(const struct lab_test *t);
void lab__report(const struct lab_test *t, bool whole);
/* Appends the record to options->json and writes options->results/NAME.json. 0, or -1 after a
 * sentence on stderr. */
int lab__record(const struct lab_test *t);
void lab__json_string(FILE *to, const char *text);
const char *lab__verdict_name(enum lab_verdict verdict);
/* The next step for the student, without a newline. */
void lab__next_step(const struct lab_test *t, char *text, size_t room);

#endif
