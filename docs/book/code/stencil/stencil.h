/* SPDX-License-Identifier: MIT
 * stencil.h: what all versions of the book's stencil share: a plate of width x height numbers,
 * whose rows are split over the GPUs, and the kernel that computes one step of a part.
 *
 *     ./VERSION [GPUs [width [height [steps]]]]     0 GPUs: all that there are
 *
 * The edge of the plate keeps its numbers. Each GPU has its rows, and one more above and below, the
 * halos: copies of its neighbours' rows, or the plate's edge. A version says how halos get there.
 */
#ifndef BOOK_STENCIL_H
#define BOOK_STENCIL_H

#include <stdint.h>
#include <string.h>

#include "../check.h"

enum { MOST = 16, THREADS = 256 };

struct part {
    int first, rows;    // of the plate: which rows it computes
    double *now, *next; // rows + 2 rows each: row 0 and row rows + 1 are the halos
    cudaStream_t stream;
    cudaEvent_t done; // its last step
};

static struct part part[MOST];
static int gpus, width = 2048, height = 2048, steps = 10;

// book: kernel
// Rows first to last of a part: each number becomes the mean of its four neighbours.
__global__ void relax(const double *now, double *next, int width, int first, int last)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = first + blockIdx.y;
    if (x < 1 || x >= width - 1 || y > last)
        return;
    const double *at = now + (size_t)y * width + x;
    next[(size_t)y * width + x] = 0.25 * (at[-1] + at[1] + at[-width] + at[width]);
}
// book: end

// book: send
// The same for all rows of a part. Its first and last row are stored into the neighbours' halos,
// too.
__global__ void relax_and_send(const double *now, double *next, int width, int rows, double *above,
                               double *below)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = 1 + blockIdx.y;
    if (x < 1 || x >= width - 1)
        return;
    const double *at = now + (size_t)y * width + x;
    double mean = 0.25 * (at[-1] + at[1] + at[-width] + at[width]);
    next[(size_t)y * width + x] = mean;
    if (y == 1 && above)
        above[x] = mean;
    if (y == rows && below)
        below[x] = mean;
}
// book: end

static inline dim3 grid(int rows)
{
    return dim3((width + THREADS - 1) / THREADS, rows);
}

static inline size_t row_bytes(void)
{
    return width * sizeof(double);
}

// Row y of what a part computes next.
static inline double *next_row(const struct part *p, int y)
{
    return p->next + (size_t)y * width;
}

// book: halos
// Where GPU g's first row goes: the lower halo of the GPU above. Null if no GPU is above.
static inline double *above(int g)
{
    return g > 0 ? next_row(&part[g - 1], part[g - 1].rows + 1) : NULL;
}

// Where its last row goes: the upper halo of the GPU below.
static inline double *below(int g)
{
    return g < gpus - 1 ? next_row(&part[g + 1], 0) : NULL;
}
// book: end

// book: wait
// What this stream of GPU g does next comes after the last step of g and of both neighbours.
static inline void wait_for_neighbours(int g, cudaStream_t stream)
{
    for (int n = g - 1; n <= g + 1; n++)
        if (n >= 0 && n < gpus)
            CHECK(cudaStreamWaitEvent(stream, part[n].done, 0));
}
// book: end

// book: access
static inline void enable_peer_access(void)
{
    for (int g = 0; g < gpus; g++)
        for (int n = g - 1; n <= g + 1; n += 2)
            if (n >= 0 && n < gpus) {
                CHECK(cudaSetDevice(g));
                CHECK(cudaDeviceEnablePeerAccess(n, 0));
            }
}
// book: end

static inline void swap(struct part *p)
{
    double *was = p->now;
    p->now = p->next;
    p->next = was;
}

// What the plate holds at first: no two neighbours alike, so that a wrong halo shows.
static inline double start_value(int y, int x)
{
    return (y * 31 + x * 17) % 97 / 97.0;
}

// book: split
static inline void split(int g)
{
    int inner = height - 2, longer = inner % gpus; // the first parts have a row more
    part[g].first = 1 + g * (inner / gpus) + (g < longer ? g : longer);
    part[g].rows = inner / gpus + (g < longer);
}
// book: end

static inline void open_part(int g)
{
    struct part *p = &part[g];
    size_t bytes = (p->rows + 2) * row_bytes();
    double *host = (double *)malloc(bytes);
    for (int y = 0; y < p->rows + 2; y++)
        for (int x = 0; x < width; x++)
            host[(size_t)y * width + x] = start_value(p->first - 1 + y, x);
    CHECK(cudaSetDevice(g));
    CHECK(cudaMalloc((void **)&p->now, bytes));
    CHECK(cudaMalloc((void **)&p->next, bytes));
    CHECK(cudaMemcpy(p->now, host, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(p->next, host, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaStreamCreateWithFlags(&p->stream, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&p->done, cudaEventDisableTiming));
    CHECK(cudaDeviceSynchronize());
    free(host);
}

static inline void close_part(int g)
{
    CHECK(cudaSetDevice(g));
    CHECK(cudaFree(part[g].now));
    CHECK(cudaFree(part[g].next));
    CHECK(cudaStreamDestroy(part[g].stream));
    CHECK(cudaEventDestroy(part[g].done));
}

static inline void read_arguments(int argc, char **argv)
{
    int *to[] = {&gpus, &width, &height, &steps};
    for (int i = 1; i < argc && i <= 4; i++)
        *to[i - 1] = atoi(argv[i]);
    if (gpus < 0 || gpus > MOST || width < 3 || height - 2 < (gpus ? gpus : 1) || steps < 1) {
        fprintf(stderr, "usage: %s [GPUs [width [height [steps]]]], a row for each GPU\n", argv[0]);
        exit(2);
    }
}

static inline void open_plate(void)
{
    if (gpus == 0)
        CHECK(cudaGetDeviceCount(&gpus));
    for (int g = 0; g < gpus; g++) {
        split(g);
        open_part(g);
    }
}

// Two plates have the same sum only if they hold the same bits; parts' sums add up to the plate's.
static inline uint64_t checksum(int g)
{
    const struct part *p = &part[g];
    size_t count = (size_t)p->rows * width;
    uint64_t sum = 0, *bits = (uint64_t *)malloc(count * sizeof *bits);
    CHECK(cudaMemcpy(bits, p->now + width, count * sizeof *bits, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < count; i++)
        sum += bits[i] * (2 * ((size_t)p->first * width + i) + 1);
    free(bits);
    return sum;
}

static inline void report(double us, uint64_t sum)
{
    printf("%d GPU%s, %d x %d: %.1f us a step, checksum %016llx\n", gpus, gpus > 1 ? "s" : "",
           width, height, us / steps, (unsigned long long)sum);
}

static inline void wait_for_all(void)
{
    for (int g = gpus - 1; g >= 0; g--) {
        CHECK(cudaSetDevice(g));
        CHECK(cudaDeviceSynchronize());
    }
}

// book: timed
// Microseconds from before the first call to the end of all that they started.
static inline double timed(void (*work)(void), int times)
{
    cudaEvent_t start, stop;
    float ms;
    CHECK(cudaSetDevice(0));
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    CHECK(cudaEventRecord(start, 0));
    for (int i = 0; i < times; i++)
        work();
    wait_for_all();
    CHECK(cudaEventRecord(stop, 0));
    CHECK(cudaEventSynchronize(stop));
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    return ms * 1000;
}
// book: end

// Says how long it took and what the plate holds, and frees all.
static inline void finish(double us)
{
    uint64_t sum = 0;
    for (int g = 0; g < gpus; g++) {
        CHECK(cudaSetDevice(g));
        sum += checksum(g);
        close_part(g);
    }
    report(us, sum);
}

#endif
