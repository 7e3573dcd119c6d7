/* SPDX-License-Identifier: MIT
 * number.h: parses numbers that users type, in environment variables and options. One syntax for
 * all: decimal digits only; a size may end in K, M or G (powers of 1024, upper or lower case). No
 * sign, no blanks, nothing before or after it, and no value that overflows.
 */
#ifndef VGPU_NUMBER_H
#define VGPU_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* False, with *value unchanged: not a number, or not in `least` to `most`. `text` may be NULL. */
bool vgpu_number(const char *text, uint64_t least, uint64_t most, uint64_t *value);

/* Accepts "2G", "512M", "65536K" or bytes. */
bool vgpu_size(const char *text, uint64_t *bytes);

/* Reads the number, up to `most`, that `text` begins with. Returns what follows it; NULL: no
 * number. */
const char *vgpu_number_at(const char *text, uint64_t most, uint64_t *value);

/* The same for a decimal fraction such as 0.25, without exponent, infinities and NaN. */
const char *vgpu_decimal_at(const char *text, double *value);

#endif
