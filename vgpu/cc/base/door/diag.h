/* SPDX-License-Identifier: MIT
 * diag.h: messages in the compiler's own form, so that editors and CI find the place:
 *
 *     sum.cu:12:5: error: host variable 'n' is used in device code; ...
 *        12 |     out[0] = n;
 *           |              ^
 */
#ifndef VGPU_CC_DIAG_H
#define VGPU_CC_DIAG_H

#include "mem.h"

struct cc_place {
    const char *file;
    int line, column; /* both from 1 */
};

/* To be said at the next cc_say_all: once, although both passes may find it. */
void cc_error(struct cc_place place, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same for what compiles but is hardly meant. */
void cc_warning(struct cc_place place, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Says what was found, in the order of lines. */
void cc_say_all(void);

/* A message of vgpu-cc itself, about no place; said at once. */
void cc_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* How many errors were found so far. */
int cc_error_count(void);

#endif
