/* SPDX-License-Identifier: MIT
 * numbers.h: the numbers that the tests of lab 04 have summed, and what comes out.
 *
 * Whole numbers are small enough that every partial sum is exact in float, so that any order of
 * additions gives the same bits and a single element too many or too few shows. Real ones show how
 * much is lost by rounding.
 */
#ifndef LAB04_NUMBERS_H
#define LAB04_NUMBERS_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "case.h"
#include "io.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define NOT_READY 600 /* cudaErrorNotReady */

enum numbers { WHOLE, REAL, COARSE, SPREAD };

/* The first float to which 1 can be added without an effect: 2^24. */
#define COARSE_FLOAT 16777216.0f

/* 0 to 1000, or -2 to 2 with 23 random bits; every (seed, index) has its own. COARSE and SPREAD are
 * for one block: thread 0 has 2^24 and then ones, the others nothing, or ones. */
static inline void fill_numbers(float *data, size_t n, enum numbers kind, uint64_t seed)
{
    const bool coarse = kind == COARSE || kind == SPREAD;
    for (size_t i = 0; i < n && coarse; i++)
        data[i] = i == 0 ? COARSE_FLOAT : kind == SPREAD || i % SUM_THREADS == 0;
    for (size_t i = 0; i < n && !coarse; i++) {
        uint64_t x = seed + i * 0x9e3779b97f4a7c15ull;
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
        x ^= x >> 31;
        data[i] = kind == WHOLE ? (float)(x % 1001) : ((float)(x >> 41) / 4194304.0f - 1.0f) * 2.0f;
    }
}

/* How far a float sum of `terms` numbers a thread may be off, for each unit of the sum of their
 * absolute values: one rounding an addition, and 9 for the tree of 256 threads. */
static inline double rounding(size_t n, int blocks)
{
    size_t grid = (size_t)blocks * SUM_THREADS;
    return ((double)((n + grid - 1) / grid) + 9) / 16777216.0;
}

static inline const char *result_name(int rc)
{
    static const char *const names[] = {"LAB_OK",     "LAB_EINVAL", "LAB_ENOGPU", "LAB_ENOPEER",
                                        "LAB_ENOMEM", "LAB_ECUDA",  "LAB_EPEER",  "LAB_ERANGE"};
    static char other[4][32]; /* a sentence names two at most */
    static unsigned turn;
    if (rc <= 0 && rc > -(int)COUNT(names))
        return names[-rc];
    turn = (turn + 1) % COUNT(other);
    snprintf(other[turn], sizeof other[turn], "%d", rc);
    return other[turn];
}

static inline bool bad_block_call(const struct block_call *c)
{
    return c->blocks < 1 || c->blocks > SUM_MAX_BLOCKS || c->no_partials || (c->no_data && c->n);
}

static inline bool untouched(const void *at, size_t bytes)
{
    const unsigned char *b = at;
    for (size_t i = 0; i < bytes; i++)
        if (b[i] != UNTOUCHED)
            return false;
    return true;
}

/* What a wrong partial tells about itself; `once`: what one element a thread comes to, `n`: the
 * block's elements. */
static inline const char *symptom(float got, double once, size_t n)
{
    uint32_t bits;
    memcpy(&bits, &got, sizeof bits);
    if (bits == 0x77777777u || bits == 0xCBCBCBCBu)
        return n ? "; nothing was written there"
                 : "; nothing was written there: a block without elements has the sum 0";
    if (n > SUM_THREADS && got == (float)once)
        return "; that is one element a thread: each strides over the whole grid until n";
    return isnan(got) ? "; it is not a number: an element outside of data[0 .. n - 1] was read"
                      : "";
}

/* Judges the partials of one launch, each against the elements that are its block's. */
static inline void expect_partials(struct lab_test *t, const char *what, const float *got,
                                   const float *data, size_t n, int blocks, enum numbers kind)
{
    static double want[SUM_MAX_BLOCKS], size[SUM_MAX_BLOCKS], once[SUM_MAX_BLOCKS];
    static size_t elements[SUM_MAX_BLOCKS];
    memset(want, 0, sizeof want);
    memset(size, 0, sizeof size);
    memset(once, 0, sizeof once);
    memset(elements, 0, sizeof elements);
    for (size_t i = 0; i < n; i++) {
        size_t b = i / SUM_THREADS % (size_t)blocks;
        want[b] += data[i];
        size[b] += fabs(data[i]);
        once[b] += elements[b]++ < SUM_THREADS ? data[i] : 0;
    }
    for (int b = 0; b < blocks; b++) {
        double allowed = kind == WHOLE ? 0.0 : rounding(n, blocks) * size[b];
        lab_expect(t, kind != COARSE || got[b] == COARSE_FLOAT,
                   "%s: 2^24 and then %zu ones, added by one thread: %.9g, expected 2^24, as "
                   "additions in float are rounded one by one (a block adds in float: the bits are "
                   "part of the contract)",
                   what, n / SUM_THREADS - 1, got[b]);
        if (kind == COARSE)
            return;
        lab_expect(
            t, kind != SPREAD || fabs(got[b] - want[b]) <= allowed,
            "%s: 2^24 and then %zu ones gave %.9g, expected %.9g (allowed difference %.3g): "
            "each of the %d threads adds up its own elements, then the threads' sums are put "
            "together; where one thread adds all elements, every 1 after 2^24 is lost",
            what, n - 1, got[b], want[b], allowed, SUM_THREADS);
        lab_expect_grave(
            t, kind == WHOLE ? LAB_LOST_DATA : LAB_NOT_GRAVE, fabs(got[b] - want[b]) <= allowed,
            "%s: partials[%d] is %.9g, expected %.9g (element i belongs to block i / %d %% "
            "%d; allowed difference %.3g)%s",
            what, b, got[b], want[b], SUM_THREADS, blocks, allowed,
            symptom(got[b], once[b], elements[b]));
    }
}

/* What every function promises after a call. */
static inline void expect_call(struct lab_test *t, const struct outcome *call, int want,
                               int current, const char *what)
{
    lab_expect(t, call->rc == want, "%s returned %s, expected %s", what, result_name(call->rc),
               result_name(want));
    lab_expect(t, call->current == current || call->current == -1,
               "%s: the current device was %d before and is %d afterwards", what, current,
               call->current);
    lab_expect(t, call->error == 0,
               "%s left CUDA error %d behind: the next cudaGetLastError(), after a correct "
               "kernel launch, would report it",
               what, call->error);
}

#endif
