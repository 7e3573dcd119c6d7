/* SPDX-License-Identifier: MIT
 * io.h: what lab 01's tests send to the runner and get back. One pair of structs an adapter.
 *
 * `last` is cudaPeekAtLastError() after the call, `current` is cudaGetDevice() after it.
 */
#ifndef LAB01_IO_H
#define LAB01_IO_H

#include <stdint.h>

#include "../lab01.h"
#include "refusals.h"

#define IO_GPUS 16   /* GPUs of a test's node, at most */
#define IO_ASKED 20  /* questions in one run, at most */
#define IO_UNSET -77 /* in numbers: the call wrote nothing */
#define IO_FILL 0x5A /* in structs and pointers: the call wrote nothing */

/* What CUDA itself says, asked without the student's code. */
struct facts_out {
    int gpus; /* as asked one by one, so that even a wrong cudaGetDeviceCount is no matter */
    struct gpu_info info[IO_GPUS];
};

struct count_in {
    int null;
};
struct count_out {
    int rc, n;
};

struct device_in {
    int asked, null;
    int device[IO_ASKED];
};
struct device_out {
    int rc[IO_ASKED], last[IO_ASKED];
    int contexts; /* that exist after all questions; -1: this machine does not say */
    struct gpu_info info[IO_ASKED];
};

struct mem_in {
    int asked, null;         /* null: 1 the first, 2 the second pointer */
    int current;             /* this GPU is current before each call; -1: leave it alone */
    int lost;                /* the node loses it at its first work: that comes before the calls */
    int device[IO_ASKED];    /* asked about */
    uint64_t taken[IO_GPUS]; /* bytes allocated on each GPU before */
    int given_back;          /* before this question they are freed again; 0: after all */
};
struct mem_out {
    int rc[IO_ASKED], last[IO_ASKED], current[IO_ASKED];
    int freed[IO_ASKED]; /* what was taken of that GPU is there no more after the call */
    uint64_t free_bytes[IO_ASKED], total_bytes[IO_ASKED];
    uint64_t true_free[IO_ASKED], true_total[IO_ASKED]; /* what CUDA says before the question */
};

struct each_in {
    uint64_t bytes;
    int n, null, current;
    int lost;     /* the node loses `current` at its first work: that comes before the call */
    int full_gpu; /* this GPU has only `left` bytes left before the call; -1: none */
    uint64_t left;
};
struct each_out {
    int rc, last, current;
    uint64_t pointer[IO_GPUS]; /* IO_FILL in each byte: untouched */
    int gpu[IO_GPUS];          /* whose memory it is, -1: nobody's */
    int lost;                  /* GPU on which the caller's own memory is gone; -1: none */
    int wrong[IO_GPUS];        /* bytes that did not come back as written to its two ends */
};

struct bus_in {
    int asked, null; /* null: 1 the string, 2 the pointer */
    char bus_id[IO_ASKED][32];
};
struct bus_out {
    int rc[IO_ASKED], last[IO_ASKED], device[IO_ASKED];
};

/* Two host threads: thread t makes GPU first[t] current (-1: keeps what it started with), then
 * both ask for the memory of GPU `device` in turn. */
struct threads_in {
    int first[2], device;
};
struct threads_out {
    int started_with[2]; /* the current device of a fresh thread */
    int rc[2], current[2];
};

struct table_out {
    int rc;
};

/* "refused": the function of this TODO, once for each call of CUDA that it makes, which fails. Told
 * are lab_refusals. */
struct refused_in {
    int todo, current;
};

#endif
