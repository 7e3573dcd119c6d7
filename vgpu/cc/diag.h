/* SPDX-License-Identifier: MIT
 * diag.h: messages in the compiler's own form, so that editors and CI find the place:
 *
 *     sum.cu:12:5: error: host variable 'n' is used in device code; ...
 *        12 |     out[0] = n;
 *           |              ^
 */
#ifndef VGPU_CC_DIAG_H
#define VGPU_CC_DIAG_H

#include "source.h"

/* Says it once: the same message at the same place in both passes is one message. */
void cc_error(struct cc_place place, const char *format, ...) __attribute__((format(printf, 2, 3)));
void cc_warning(struct cc_place place, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A message of vgpu-cc itself, about no place. */
void cc_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* How many errors were said so far. */
int cc_error_count(void);

#endif
