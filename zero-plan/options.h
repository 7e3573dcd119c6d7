/* SPDX-License-Identifier: MIT
 * options.h: zero-plan's command line.
 */
#ifndef ZERO_PLAN_OPTIONS_H
#define ZERO_PLAN_OPTIONS_H

#include "plan.h"

enum like { LIKE_NONE, LIKE_PAPER, LIKE_DEEPSPEED, LIKE_INFINITY, LIKE_ZEROPP };

struct options {
    struct question q;
    enum like like;
    int tensor; /* tensor parallelism for activations a block */
    int ddp, splits, json, list, help;
};

/* 0, or -1 with a sentence in `error` that names the field. Reads the node description, too. */
int options_read(struct options *o, int argc, char **argv, char *error, int room);

/* The text of --help. */
extern const char options_help[];

#endif
