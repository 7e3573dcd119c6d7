/* SPDX-License-Identifier: MIT
 * lab90.h: a lab without GPUs, for the tests of the harness itself.
 */
#ifndef LAB90_H
#define LAB90_H

#include "lab.h"

/* 1. The double of x. */
int toy_double(int x, int *result);

/* 2. out[i] = 2 * in[i], by toy_double. */
int toy_double_all(const int *in, int *out, int n);

/* 3. Two functions of one task: the sum, and its negative. */
int toy_sum(const int *in, int n, int *result);
int toy_negative_sum(const int *in, int n, int *result);

#endif
