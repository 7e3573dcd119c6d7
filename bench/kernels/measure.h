/* SPDX-License-Identifier: MIT
 * measure.h: what programs.cu and opencl.c share: sizes, data, and what is timed and printed. Each
 * kernel of the command line (none: all) gets a line: name, least seconds of a launch, processor
 * seconds of one, a weighted sum of its output after the first launch.
 */
#ifndef MEASURE_H
#define MEASURE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TILE = 16, THREADS = 256, BINS = 256, SORTED = 256 }; /* kernels.cl has them, too */
enum { RING = 4, LAUNCHES_LEAST = 3, LAUNCHES_MOST = 50 };

struct sizes {
    int all, side, small, count, bins, part; /* part: floats of each member of the ring */
};
static struct sizes size = {1 << 24, 4096, 512, 4096, 1 << 22, 1 << 22};

struct row {
    const char *name;
    void (*launch)(void);
    size_t written;       /* 4-byte numbers */
    int whole;            /* these are integers */
    double (*ends)(void); /* their sum, where they are not in the output buffer; or null */
};

/* The caller's: fills both buffers from `host`, reads the output into it, waits for the GPU. */
static void upload(void);
static void download(size_t numbers);
static void wait_for_all(void);
static double processor_seconds(void);
static void run_saxpy(void), run_stencil(void), run_tree(void), run_histogram(void),
    run_bodies(void), run_product(void), run_tiles(void), run_shuffles(void), run_scan(void),
    run_transposed(void), run_sort(void), run_pairs(void), run_ring(void);
static double end_of_ring(void);

static float *host;

static double clock_seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Small whole numbers, so that most kernels have the same result in any order. */
static void fill(int whole)
{
    for (size_t i = 0; i < (size_t)size.all; i++) {
        unsigned number = (unsigned)i * 2654435761u >> 16;
        float value = (float)(number % 64);
        memcpy(&host[i], whole ? (const void *)&number : (const void *)&value, 4);
    }
}

static double sum(size_t numbers, int whole)
{
    double all = 0;
    for (size_t i = 0; i < numbers; i++) {
        unsigned bits;
        memcpy(&bits, &host[i], 4);
        all += (whole ? (double)bits : fabs((double)host[i])) * (double)(i % 97 + 1);
    }
    return all;
}

static double launched(const struct row *r)
{
    double begun = clock_seconds(CLOCK_MONOTONIC);
    r->launch();
    wait_for_all();
    return clock_seconds(CLOCK_MONOTONIC) - begun;
}

static void measure(const struct row *r, double seconds)
{
    fill(r->whole);
    upload();
    launched(r);
    if (r->ends == NULL)
        download(r->written);
    double written = r->ends != NULL ? r->ends() : sum(r->written, r->whole);
    double least = 1e9, begun = clock_seconds(CLOCK_MONOTONIC), used = processor_seconds();
    int count = 0;
    while (count < LAUNCHES_LEAST ||
           (count < LAUNCHES_MOST && clock_seconds(CLOCK_MONOTONIC) - begun < seconds)) {
        least = fmin(least, launched(r));
        count++;
    }
    printf("%s\t%.6f\t%.6f\t%.9g\n", r->name, least, (processor_seconds() - used) / count, written);
}

/* PROGRAM [--tiny] [KERNEL ...] */
static void begin(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--tiny") == 0)
        size = (struct sizes){1 << 16, 256, 64, 256, 1 << 14, 1 << 12};
    host = (float *)malloc((size_t)size.all * sizeof(float));
}

static void measure_all(int argc, char **argv)
{
    int tiny = argc > 1 && strcmp(argv[1], "--tiny") == 0, named = argc > 1 + tiny;
    size_t all = (size_t)size.all, blocks = all / THREADS,
           small = (size_t)size.small * (size_t)size.small;
    const struct row row[] = {{"saxpy", run_saxpy, all, 0, NULL},
                              {"stencil", run_stencil, all, 0, NULL},
                              {"tree", run_tree, blocks, 0, NULL},
                              {"histogram", run_histogram, BINS, 1, NULL},
                              {"bodies", run_bodies, 4 * (size_t)size.count, 0, NULL},
                              {"product", run_product, small, 0, NULL},
                              {"tiles", run_tiles, small, 0, NULL},
                              {"shuffles", run_shuffles, blocks, 0, NULL},
                              {"scan", run_scan, all, 0, NULL},
                              {"transposed", run_transposed, all, 0, NULL},
                              {"sort", run_sort, all, 0, NULL},
                              {"pairs", run_pairs, all, 0, NULL},
                              {"ring", run_ring, 0, 0, end_of_ring}};

    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        int wanted = !named;
        for (int k = 1 + tiny; k < argc; k++)
            wanted |= strcmp(argv[k], row[i].name) == 0;
        if (wanted)
            measure(&row[i], tiny ? 0 : 0.3);
    }
}

#endif
