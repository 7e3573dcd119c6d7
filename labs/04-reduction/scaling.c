/* SPDX-License-Identifier: MIT
 * scaling.c: prints how the sum scales over the GPUs of this machine. The program of lab 04.
 *
 *     scaling [log2 of n]     24 by default: 2^24 floats, 64 MiB
 */
#include <stdio.h>
#include <stdlib.h>

#include "lab04.h"

static int print_rows(size_t n, enum sum_kind kind)
{
    struct sum_scaling s;
    int gpus = 0, rc = LAB_OK;

    if (cudaGetDeviceCount(&gpus) != cudaSuccess)
        gpus = 0;
    if (gpus > SUM_MAX_PARTS)
        gpus = SUM_MAX_PARTS;
    printf(kind == SUM_STRONG ? "strong scaling: %zu floats in all\n"
                              : "weak scaling: %zu floats for each GPU\n",
           n);
    printf("  GPUs     T1 ms     TG ms   speedup   efficiency\n");
    for (int g = 1; g <= gpus && rc == LAB_OK; g *= 2) {
        rc = sum_scale(n, g, kind, &s);
        if (rc == LAB_OK)
            printf("  %4d %9.3f %9.3f %9.2f %11.0f%%\n", s.gpus, s.t1_ms, s.tg_ms, s.speedup,
                   s.efficiency * 100);
    }
    return rc;
}

int main(int argc, char **argv)
{
    long bits = argc == 2 ? strtol(argv[1], NULL, 10) : 24;

    if (argc > 2 || bits < 2 || bits > 34) {
        fprintf(stderr,
                "usage: %s [log2 of the number of floats, 2 to 34]\nPrints how the time of a sum "
                "changes with the number of GPUs.\n",
                argv[0]);
        return 2;
    }
    int rc = print_rows((size_t)1 << bits, SUM_STRONG);
    if (rc == LAB_OK)
        rc = print_rows((size_t)1 << (bits - 2), SUM_WEAK);
    if (rc != LAB_OK)
        fprintf(stderr, "%s: stopped with result %d (see enum lab_error in lab.h)\n", argv[0], rc);
    return rc == LAB_OK ? 0 : 1;
}
