/* SPDX-License-Identifier: MIT
 * data.h: the ranks' input, and the check of the sum.
 */
#ifndef AR_DATA_H
#define AR_DATA_H

#include <stddef.h>

#include <cuda_runtime.h>

enum data_kind {
    DATA_DYADIC, /* multiples of 1/256 below 128: every order of adding gives the same sum */
    DATA_FLOATS, /* any numbers, also -0.0: the sum depends on the order of ranks */
};

/* to[i] = rank's number i, derived from `seed`. */
void data_fill(float *to, size_t count, enum data_kind kind, unsigned seed, int rank,
               cudaStream_t stream);

/* How many of sum[0 .. count - 1] differ in a bit from the sum of ranks 0, 1, ... n - 1, added in
 * this order, and the index of the first one. Synchronises `stream`. */
struct data_verdict {
    unsigned long long wrong, first;
};
struct data_verdict data_check(const float *sum, size_t count, enum data_kind kind, unsigned seed,
                               int n, cudaStream_t stream);

#endif
