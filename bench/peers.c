/* SPDX-License-Identifier: MIT
 * peers.c: what the kernels of the bench compute, as plain C loops on all CPUs.
 */
#define _GNU_SOURCE
#include "bench.h"

#include <time.h>
#ifdef _OPENMP
#include <omp.h>
#endif

enum { WIDTH = 256 };

int peer_threads(void)
{
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}

double peer_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void peer_add(const float *a, const float *b, float *c, long n)
{
#ifdef _OPENMP
#pragma omp parallel for
#endif
    for (long i = 0; i < n; i++)
        c[i] = a[i] + b[i];
}

/* The same tree as the kernel's, so that the results are the same bits. */
void peer_reduce(const float *in, float *out, long blocks)
{
#ifdef _OPENMP
#pragma omp parallel for
#endif
    for (long b = 0; b < blocks; b++) {
        float part[WIDTH];
        for (int t = 0; t < WIDTH; t++)
            part[t] = in[b * WIDTH + t];
        for (int step = WIDTH / 2; step > 0; step /= 2)
            for (int t = 0; t < step; t++)
                part[t] += part[t + step];
        out[b] = part[0];
    }
}
