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
    int line, column; /* both count from 1 */
};

/* Queues an error for the next cc_say_all, which prints it once even if both passes report it. */
void cc_error(struct cc_place place, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same for a warning. */
void cc_warning(struct cc_place place, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Prints queued messages, ordered by line. False: there was an error so far. */
bool cc_say_all(void);

/* Prints a message of vgpu-cc itself, without a place, at once. Returns false. */
bool cc_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The number of errors so far. */
int cc_error_count(void);

#endif
