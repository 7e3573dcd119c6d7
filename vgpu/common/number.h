/* SPDX-License-Identifier: MIT
 * number.h: numbers that somebody typed, into the environment or behind an option. One rule for all
 * of them: decimal digits, and nothing before or behind them; a size may end in one of K, M and G
 * (1024 of the one before, capital or not). No sign, no blank, no rest, and never more than fits.
 */
#ifndef VGPU_NUMBER_H
#define VGPU_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* False, with *value as it was: no such number, or not from `least` to `most`; NULL is none. */
bool vgpu_number(const char *text, uint64_t least, uint64_t most, uint64_t *value);

/* "2G", "512M", "65536K" or bytes. */
bool vgpu_size(const char *text, uint64_t *bytes);

/* The number that `text` begins with, up to `most`, where more follows: what follows, or NULL. */
const char *vgpu_number_at(const char *text, uint64_t most, uint64_t *value);

/* The same with a point and digits behind it: 0.25. No exponent, no names for infinity. */
const char *vgpu_decimal_at(const char *text, double *value);

#endif
