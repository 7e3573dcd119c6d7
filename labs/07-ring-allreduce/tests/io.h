/* SPDX-License-Identifier: MIT
 * io.h: what the tests and the adapters of lab 07 tell each other, and the numbers that both know.
 *
 * Element i of rank r follows from a seed that the adapters do not get: what GPUs add is sealed
 * (lab_seal), and so is what they give, so that nobody else can have added it. Most are whole and
 * so small that no sum is ever rounded, in any type; then the order of additions does not matter,
 * and whatever differs is a mistake.
 */
#ifndef LAB07_IO_H
#define LAB07_IO_H

#include <stdio.h>
#include <string.h>

#include "lab07.h"

#define UNTOUCHED 0x77 /* every byte of what must not be written */
#define GUARD 3 /* elements before and behind each buffer; odd, so nothing is aligned to 16 */

/* ---- the numbers ---- */

enum numbers { WHOLE, REAL };

static inline uint64_t io_mix(uint64_t x)
{
    x ^= x >> 31;
    x *= 0x9E3779B97F4A7C15u;
    x ^= x >> 29;
    x *= 0xBF58476D1CE4E5B9u;
    return x ^ x >> 32;
}

/* -100 .. 100: eight of them are exact as half, too. */
static inline int io_whole(uint64_t seed, int rank, uint64_t i)
{
    return (int)(io_mix(seed + (uint64_t)rank * 0x1000193u + i * 0x10001u) % 201) - 100;
}

/* -1 .. 1, with all 24 bits of a float in use: sums are rounded, and the order shows. */
static inline float io_real(uint64_t seed, int rank, uint64_t i)
{
    int64_t bits = (int64_t)(io_mix(seed + (uint64_t)rank * 0x1000193u + i * 0x10001u) >> 40);

    return (float)(bits - (1 << 23)) / (float)(1 << 23);
}

/* The half of a whole number below 2048. */
static inline uint16_t io_half(int value)
{
    unsigned size = (unsigned)(value < 0 ? -value : value), exponent = 0;

    if (size == 0)
        return 0;
    while (size >> (exponent + 1) != 0)
        exponent++;
    unsigned mantissa = size << (10 - exponent) & 0x3FF;
    return (uint16_t)((value < 0 ? 0x8000u : 0) | (exponent + 15) << 10 | mantissa);
}

/* int32 are multiples of this: no float holds them all, and eight of them do not overflow. */
#define IO_INT 2097153

/* What stands for a whole number, in messages. */
static inline int io_shown(enum ring_type type, int value)
{
    return type == RING_INT32 ? value * IO_INT : value;
}

/* A whole number as an element of the type. */
/* The number that stands there, as text. */
static inline const char *io_text(char *text, size_t room, enum ring_type type, const void *at)
{
    int32_t whole;
    float real;
    uint16_t half;
    memcpy(&whole, at, type == RING_FLOAT16 ? sizeof half : sizeof whole);
    memcpy(&real, at, type == RING_FLOAT16 ? sizeof half : sizeof real);
    memcpy(&half, at, sizeof half);
    const int power = half >> 10 & 31, digits = half & 1023;
    if (type == RING_INT32)
        snprintf(text, room, "%d", (int)whole);
    else if (type == RING_FLOAT32)
        snprintf(text, room, "%.9g", (double)real);
    else if (power == 31)
        snprintf(text, room, "%s", digits ? "no number" : "infinite");
    else
        snprintf(text, room, "%g",
                 (half >> 15 ? -1 : 1) * (power ? 1 + digits / 1024.0 : digits / 512.0) / 32768.0 *
                     (double)(1u << (power)));
    return text;
}

static inline void io_put(void *at, enum ring_type type, int value)
{
    int32_t integer = value * IO_INT;
    float real = (float)value;
    uint16_t half = io_half(value);

    if (type == RING_INT32)
        memcpy(at, &integer, sizeof integer);
    else if (type == RING_FLOAT32)
        memcpy(at, &real, sizeof real);
    else
        memcpy(at, &half, sizeof half);
}

/* ---- around every call ---- */

struct outcome {
    int32_t rc;
    int32_t error;   /* cudaPeekAtLastError() after the call */
    int32_t current; /* the current device after it; -1 without a GPU */
};

/* "chunk" */
struct chunk_in {
    uint64_t count;
    int32_t n, k, no_first, no_len;
};
struct chunk_out {
    int32_t rc;
    uint64_t first, len;
};

/* "reduce": several calls. Sealed are dst and src, one behind the other, GUARD elements around
 * each, and then both again, as they are afterwards. */
#define REDUCE_CALLS 24
struct reduce_call {
    int32_t gpu, type, op, no_dst, no_src;
    uint64_t count, at; /* in bytes, of what is sealed: the same for input and output */
    uint64_t claimed;   /* elements that the call is told of beyond those that are there */
    int32_t times;      /* the same call, one after the other; 0 is 1 */
};
struct reduce_in {
    uint64_t seed, calls; /* seed: 0 for the adapter */
    struct reduce_call call[REDUCE_CALLS];
};
struct reduce_out {
    struct outcome call[REDUCE_CALLS];
    int32_t after[REDUCE_CALLS]; /* what waiting for the stream said */
};

/* "rings": several collectives, each on a ring of its own. Sealed is what each rank holds, with its
 * guards; and then, for each run and rank, its result and what send[r] held afterwards. */
enum collective {
    DO_REDUCE_SCATTER,
    DO_ALL_GATHER,
    DO_ALL_REDUCE,
    DO_PIPELINED,
    DO_ONE_SHOT,
    DO_PICK,
    DO_BROADCAST, /* the companions: collectives.h */
    DO_REDUCE,
    DO_DIRECT_GATHER,
    DO_DIRECT_SCATTER,
    DO_DIRECT_ALL,
    DO_ALL_TO_ALL,
    DO_NAIVE,
};
enum odd {
    ODD_NOT,
    ODD_NO_RING,
    ODD_NO_BUFFERS,
    ODD_NO_BUFFER, /* the last rank's */
    ODD_TYPE,
    ODD_OP,
    ODD_SMALL,       /* inboxes for a tenth of the data */
    ODD_OVERLAP,     /* recv[0] begins one element behind send[0] */
    ODD_OVERLAP_END, /* the last rank's recv begins with send's last element */
    ODD_OVERLAP_FAR, /* 2^32 elements more, for which there is room; recv begins before them */
    ODD_HUGE,        /* 2^32 elements more: no inbox holds them */
    ODD_NO_SEND,     /* the last rank's, and no other array's */
    ODD_NO_RECV,
    ODD_FITS,        /* inboxes just large enough, which is fine */
    ODD_TIGHT,       /* inboxes too small by one byte: for the longest chunk, and for no other */
    ODD_SLICES,      /* none */
    ODD_MANY_SLICES, /* one more than there are */
    ODD_FAR,         /* 2^32 elements more, which exist; the inboxes only say that they hold them */
};
enum apart { APART_NOT, APART, APART_ODD, APART_EVEN }; /* of these ranks, recv is not send */
enum fails { FAILS_NOT, FAILS, FAILS_WAIT, FAILS_RECORD };
#define RING_CALLS 24
#define RING_REPEATS 3
struct ring_call {
    int32_t what, n, current, type, op, numbers, slices, odd;
    int32_t out_of_place, root; /* out_of_place: enum apart */
    int32_t small;              /* DO_PICK: bytes up to which one shot is wanted */
    int32_t repeats;            /* 0 is 1. One after the other without a wait */
    int32_t then;               /* a collective on other buffers that follows at once; 0: none */
    int32_t graph;              /* captured, and launched `repeats` times */
    int32_t want;               /* what it must return; odd calls: LAB_EINVAL or LAB_ERANGE */
    int32_t fails;              /* a CUDA call in it fails (lab_fault): of this kind */
    int32_t by_links;           /* ring_order says which GPUs, not gpu[] */
    int32_t gpu[RING_RANKS];
    uint64_t count, in_at, out_at; /* in bytes, of what is sealed */
};
static inline int io_apart(const struct ring_call *c, int r)
{
    return c->out_of_place == APART || (c->out_of_place > APART && (r + c->out_of_place) % 2);
}

struct rings_in {
    uint64_t seed, calls; /* seed: 0 for the adapter */
    struct ring_call call[RING_CALLS];
};
struct ring_told {
    int32_t opened, ended; /* what ring_open and ring_wait said */
    int32_t captured;      /* what capturing and launching said */
    int32_t unspent;       /* fails: it was not one of the collective's calls */
    int32_t gpu[RING_RANKS];
    struct outcome call[RING_REPEATS];
};
struct rings_out {
    struct ring_told told[RING_CALLS];
};

/* "refused": a collective once for each CUDA call that it makes, on a ring of its own; that call
 * fails. In: a ring_call. */
#define REFUSED_CALLS 400
struct refused_out {
    int32_t opened, calls;
    char name[REFUSED_CALLS][40]; /* which call failed */
    struct outcome call[REFUSED_CALLS];
};

/* "far": more elements than an int has, in memory of 2^31 (far.h). */
#define FAR_THERE ((size_t)1 << 31)
#define FAR_COUNT (((size_t)1 << 32) + 5) /* cut to an int it is 5 */
enum far_call { FAR_REDUCE, FAR_ONE_SHOT, FAR_SLICES };
struct far_in {
    int32_t what;
};
struct far_out {
    int32_t asked, rc, ended; /* asked: the memory could be had */
    int32_t opened, error;    /* if not: what ring_open and cudaMalloc returned */
};

/* "speed": a large all-reduce of int32 where every element of rank r is `value[r]`. */
#define SPEED_SAMPLES 4096
struct speed_in {
    int32_t what, n, slices, graph; /* graph 0: every call by this one thread */
    int32_t gpu[RING_RANKS], value[RING_RANKS];
    uint64_t count;
};
struct speed_out {
    int32_t opened, rc, captured, ended;
    int32_t sample[RING_RANKS][SPEED_SAMPLES]; /* evenly from first to last */
};

/* "timed": an all-reduce of sealed int32 by sum, in place, rank r on GPU r, as a graph; then all
 * results, sealed. naive: all send everything to rank 0, which sends the sum back. */
#define TIMED_SLICES 2
struct timed_in {
    int32_t n, naive;
    uint64_t count; /* elements of a rank */
};
struct timed_out {
    int32_t opened, rc, captured, ended;
    double seconds;
};

/* "order" */
struct order_in {
    int32_t n, no_links, no_order;
    uint8_t links[RING_RANKS * RING_RANKS];
};
struct order_out {
    int32_t rc;
    int32_t order[RING_RANKS + 1]; /* one more, which nobody may write */
};

#endif
