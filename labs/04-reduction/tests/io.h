/* SPDX-License-Identifier: MIT
 * io.h: what the tests and the adapters of lab 04 tell each other. The numbers to be summed are
 * sealed (lab_seal), and so are the partials that come back: only GPUs see them.
 */
#ifndef LAB04_IO_H
#define LAB04_IO_H

#include <stdint.h>

#include "lab04.h"
#include "refusals.h"

#define UNTOUCHED 0x77 /* every byte of what a function must not write */
#define GUARD 8        /* partials behind the last one that nobody may write */

struct outcome {
    int32_t rc;
    int32_t error;   /* cudaPeekAtLastError() after the call */
    int32_t current; /* the current device after it; -1 without a GPU */
};

/* "split" */
struct split_in {
    uint64_t n;
    int32_t parts, i, no_first, no_count;
};
struct split_out {
    int32_t rc;
    uint64_t first, count;
};

/* "block_sums": sum_shared or sum_warp, many calls on one array. */
#define BLOCK_CALLS 24
enum which_sum { BY_SHARED, BY_WARP };
struct block_call {
    int32_t which, gpu, blocks, no_data, no_partials;
    int32_t shift; /* floats between the allocation and data[0] */
    uint64_t first, n;
    uint64_t claimed; /* elements that the call is told of beyond the n that are there */
    int32_t far;      /* instead: n elements where 2^32 are there, and no memory behind them */
};
struct block_in {
    uint64_t calls;
    struct block_call call[BLOCK_CALLS];
};
struct block_out {
    struct outcome call;
    int32_t query; /* cudaStreamQuery right after the call */
    int32_t after; /* what waiting for the stream said */
};
struct block_sealed { /* for each call */
    float partials[SUM_MAX_BLOCKS + GUARD];
};

/* "parts": sum_start, then nothing, sum_host or sum_peer. */
enum combine { COMBINE_NOT, COMBINE_HOST, COMBINE_PEER };
#define PARTS_REPEATS 4
struct parts_in {
    int32_t current, parts, combine, root, repeats;
    int32_t no_part, no_sum;
    int32_t look;      /* ask right after sum_start what is complete. To ask may let time pass */
    int32_t reach;     /* switch access root -> others on first */
    int32_t bad_event; /* this part's `done` belongs to another GPU; -1: none */
    int32_t damage;    /* enum damage, to part damaged_part */
    int32_t damaged_part;
    int32_t gpu[SUM_MAX_PARTS], blocks[SUM_MAX_PARTS];
    uint64_t count[SUM_MAX_PARTS]; /* sealed: part after part */
};
enum damage { DAMAGE_NOT, DAMAGE_GPU, DAMAGE_BLOCKS, DAMAGE_DATA, DAMAGE_TOTAL };
struct parts_out {
    int32_t opened; /* what making the parts said */
    struct outcome start, combine[PARTS_REPEATS];
    double sum[PARTS_REPEATS];     /* UNTOUCHED bytes before the call */
    int32_t query[SUM_MAX_PARTS];  /* cudaEventQuery(done) right after sum_start (look) */
    int32_t stream[SUM_MAX_PARTS]; /* cudaStreamQuery(stream) right after sum_start */
};
struct parts_sealed { /* after `done` (COMBINE_NOT) */
    float partials[SUM_MAX_PARTS][SUM_MAX_BLOCKS];
};

/* "refused": one of the three, with arguments that it must refuse, again and again. */
#define REFUSALS 12
struct refusal {
    int32_t parts, root, no_part, no_sum;
    int32_t damage, damaged_part;
    int32_t want;
};
struct refused_in {
    struct parts_in parts;
    uint64_t calls;
    struct refusal call[REFUSALS];
};
struct refused_out {
    int32_t opened;
    struct outcome call[REFUSALS];
    int32_t launched[REFUSALS]; /* something was queued */
    double sum[REFUSALS];       /* UNTOUCHED bytes before the call */
};

/* "timed": the sum of sealed numbers, part after part, one part on each GPU. naive: one GPU after
 * the other. Without `peer` the host adds the partials. */
#define TIMED_BLOCKS 512
struct timed_in {
    int32_t gpus, peer, naive;
    uint64_t count; /* of each part */
};
struct timed_out {
    int32_t opened, rc;
    double sum, seconds;
};

/* "scale" */
#define SCALE_ASKED 4
struct scale_in {
    int32_t current, gpus, kind, no_out;
    int32_t pretend; /* sum_time measures nothing: every element takes a nanosecond of a GPU */
    uint64_t n;
};
struct scale_out {
    struct outcome call;
    struct sum_scaling s;
    int32_t asked; /* pretend: how often sum_time was called, and the first times with what */
    int32_t asked_gpus[SCALE_ASKED];
    uint64_t asked_n[SCALE_ASKED];
};

#endif
