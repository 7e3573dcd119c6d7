/* SPDX-License-Identifier: MIT
 * seen.c: compares what a program reports with what the node recorded: elapsed times, bytes copied
 * over the host's link, kernels and the memory that they used.
 *
 * A program can replace any call in its own process, clocks included, but cannot make the node
 * record a copy. Real GPUs have no such records: these functions then return nothing and have no
 * effect.
 */
#include "run.h"

#include <math.h>

#define TOLD_FLOAT 1e-6 /* relative tolerance of an elapsed time, which is returned as a float */
#define MOST_PRINTED (16 << 10) /* bytes that kernels print: a message, not an array */

static bool is_in_window(const struct lab_record *r, const struct lab_record *window)
{
    return !window ||
           (r->end_ps > 0 && r->start_ps >= window->start_ps && r->end_ps <= window->end_ps);
}

static int place_of_gpu(int device)
{
    return device < 0 ? LAB_HOST : device;
}

const struct lab_record *lab_told(const struct lab_run *run, double seconds,
                                  const struct lab_record *after)
{
    const struct lab_witness *w = lab_witness(run);
    for (unsigned i = w && after ? (unsigned)(after - w->records) + 1 : 0; w && i < w->record_count;
         i++) {
        const struct lab_record *r = &w->records[i];
        double told = ((double)r->end_ps - (double)r->start_ps) * 1e-12;
        if (r->kind == LAB_ELAPSED && fabs(told - seconds) <= TOLD_FLOAT * fabs(seconds))
            return r;
    }
    return NULL;
}

uint64_t lab_copied_within(const struct lab_run *run, const struct lab_record *window, int from,
                           int to)
{
    const struct lab_witness *w = lab_witness(run);
    uint64_t bytes = 0;
    for (unsigned i = 0; w && i < w->record_count; i++) {
        const struct lab_record *r = &w->records[i];
        if (r->kind == LAB_COPY && place_of_gpu(r->from) == from && place_of_gpu(r->to) == to &&
            is_in_window(r, window))
            bytes += r->bytes;
    }
    return bytes;
}

struct lab_kernels lab_kernels_within(const struct lab_run *run, const struct lab_record *window,
                                      int gpu)
{
    const struct lab_witness *w = lab_witness(run);
    struct lab_kernels kernels = {0};
    for (unsigned i = 0; w && i < w->record_count; i++) {
        const struct lab_record *r = &w->records[i];
        if (r->kind != LAB_KERNEL || r->gpu != gpu || !is_in_window(r, window))
            continue;
        kernels.count++;
        kernels.bytes += r->bytes;
        kernels.atomics += r->atomics;
        kernels.barriers += r->barriers;
        kernels.shared_accesses += r->shared_accesses;
        kernels.shuffles += r->shuffles;
        kernels.threads += r->threads;
        kernels.busiest = r->busiest > kernels.busiest ? r->busiest : kernels.busiest;
        kernels.read |= (unsigned)r->from;
        kernels.written |= (unsigned)r->to;
    }
    return kernels;
}

static void expect_kernels_stay(struct lab_test *t, const struct lab_run *run, const char *what)
{
    const struct lab_witness *w = lab_witness(run);
    for (unsigned i = 0; w && i < w->record_count; i++) {
        const struct lab_record *r = &w->records[i];
        lab_expect(t, r->kind != LAB_KERNEL || !((r->from | r->to) >> LAB_HOST & 1),
                   "%s: the kernel %s on GPU %d used memory of the host: that work is the GPUs', "
                   "on data that lies there",
                   what, r->name, r->gpu);
    }
}

void lab_no_host_memory(struct lab_test *t, const struct lab_run *run, const char *what)
{
    const struct lab_witness *w = lab_witness(run);
    lab_expect(t, !w || w->host_allocs == 0,
               "%s: pinned or managed memory was allocated %u times, expected none: the kernels' "
               "numbers stay on their GPU",
               what, w ? w->host_allocs : 0);
}

void lab_host_bytes(struct lab_test *t, const struct lab_run *run, const char *what, uint64_t down,
                    uint64_t up)
{
    const struct lab_witness *w = lab_witness(run);
    uint64_t to_host = 0, from_host = 0;
    for (int gpu = 0; w && gpu < LAB_MAX_GPUS; gpu++) {
        to_host += w->copied[gpu][LAB_HOST];
        from_host += w->copied[LAB_HOST][gpu];
    }
    lab_expect(
        t, !w || (to_host <= down && from_host <= up),
        "%s: %zu bytes were copied from GPUs to the host and %zu from the host to GPUs, "
        "expected at most %zu and %zu, the test's own copies and what the contract asks for: "
        "the work is to be done where the data is",
        what, (size_t)to_host, (size_t)from_host, (size_t)down, (size_t)up);
    lab_expect(t, !w || w->printed_bytes <= MOST_PRINTED,
               "%s: kernels printed %zu bytes, at most %d are for a test: print less", what,
               w ? (size_t)w->printed_bytes : 0, MOST_PRINTED);
    expect_kernels_stay(t, run, what);
}
