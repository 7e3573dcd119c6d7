/* SPDX-License-Identifier: MIT
 * like.h: the numbers that others print for the same model, by their own formulas.
 */
#ifndef ZERO_PLAN_LIKE_H
#define ZERO_PLAN_LIKE_H

#include "options.h"

#define LIKE_ROWS 24

struct like_row {
    char what[64];
    double value; /* in `unit` */
    const char *unit;
};

struct like_table {
    int rows;
    struct like_row row[LIKE_ROWS];
    const char *why; /* how it differs from the plan */
};

void like_make(const struct options *o, const struct plan *plan, struct like_table *table);

/* Parameters whose states fit into `bytes` on one of n GPUs. */
double like_largest(int stage, int n, double bytes);

#endif
