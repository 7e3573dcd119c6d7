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

/* Queues an error, or a warning, for the next cc_say_all, which prints it once even if both passes
 * report it. */
#define cc_error(place, ...) cc_add_message(true, place, __VA_ARGS__)
#define cc_warning(place, ...) cc_add_message(false, place, __VA_ARGS__)
void cc_add_message(bool is_error, struct cc_place place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Prints queued messages, ordered by line. False: there was an error so far. */
bool cc_say_all(void);

/* Prints a message of vgpu-cc itself, without a place, at once. Returns false. */
bool cc_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints queued messages and ends the program as one that has failed; cc_fatal: after a message as
 * of cc_fail. */
void cc_end(void) __attribute__((noreturn));
#define cc_fatal(...) (cc_fail(__VA_ARGS__), cc_end())

/* The number of errors so far. */
int cc_error_count(void);

#endif
