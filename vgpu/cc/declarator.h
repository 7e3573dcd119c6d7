/* SPDX-License-Identifier: MIT
 * declarator.h: names inside declarations: of variables, parameters and template parameters.
 */
#ifndef VGPU_CC_DECLARATOR_H
#define VGPU_CC_DECLARATOR_H

#include "scan.h"

/* One of the declarators of `int a = 1, *b, c[3];`. */
struct cc_declarator {
    int name; /* -1: not found */
    int init; /* the = or { of its initialiser, or -1 */
    int end;  /* the , or ; behind it */
};

struct cc_declarators {
    struct cc_declarator *item;
    size_t count, capacity;
};

/* The declarators of the variable declaration in the tokens [from, to); token[to] is its ;. */
struct cc_declarators cc_declarators(const struct cc_source *source, int from, int to);

/* A parameter of a function or a template. */
struct cc_param {
    int from, to; /* without its default */
    int name;     /* -1: unnamed */
    bool pack;
};

struct cc_params {
    struct cc_param *item;
    size_t count, capacity;
};

/* The parameters between the brackets at `open` and `close`. `(void)` has none. */
struct cc_params cc_params(const struct cc_source *source, int open, int close);

/* The parameters' text, "int *p, T n", without defaults. */
const char *cc_params_text(const struct cc_source *source, const struct cc_params *params);

#endif
