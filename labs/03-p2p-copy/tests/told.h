/* SPDX-License-Identifier: MIT
 * told.h: times that lab 03's tests judge, against what the node was asked: the clock of a program
 * can be replaced in that program.
 */
#ifndef LAB03_TOLD_H
#define LAB03_TOLD_H

#include "case.h"
#include "io.h"

/* Bytes that came from one GPU to another within a window, straight or through the host. */
static inline uint64_t arrived(const struct lab_run *run, const struct lab_record *window, int from,
                               int to)
{
    uint64_t down = lab_copied_within(run, window, from, LAB_HOST);
    uint64_t up = lab_copied_within(run, window, LAB_HOST, to);
    return lab_copied_within(run, window, from, to) + (down < up ? down : up);
}

/* A time in which `bytes` came from one GPU to another (-1: no matter where): the node was asked
 * for it and saw these copies meanwhile. */
static inline void expect_told(struct lab_test *t, const struct lab_run *run, const char *what,
                               double seconds, int from, int to, uint64_t bytes)
{
    const struct lab_record *told = NULL;
    if (!lab_is_virtual(t))
        return;
    while ((told = lab_told(run, seconds, told)))
        if (from < 0 || arrived(run, told, from, to) >= bytes)
            return;
    lab_fail(t, "", 0, "measured",
             "%s: %.4g ms, but the node was asked for no such time between two events "
             "(cudaEventElapsedTime) in which %llu bytes went from GPU %d to GPU %d",
             what, seconds * 1e3, (unsigned long long)bytes, from, to);
}

/* The adapter's times are read in the program that is tested. */
static inline void expect_speeds(struct lab_test *t, const struct lab_run *run,
                                 const struct speed_in *in, const struct speed_out *out)
{
    const double ms[] = {out->down,  out->up,     out->serial, out->serial_pageable,
                         out->stage, out->driver, out->p2p};
    for (int i = 0; i < 7; i++) {
        bool is_hop = i < 2;
        uint64_t rounds = i == 2 || i == 4 ? (uint64_t)in->rounds : 1;
        if (ms[i] >= 0)
            expect_told(t, run, "a copy that the test timed", ms[i] * 1e-3,
                        is_hop ? -1 : in->src_dev, in->dst_dev, rounds * in->bytes);
    }
}

/* What p2p_measure reports, both ways or one: P2P_REPEATS repetitions between two events. */
static inline void expect_measure_told(struct lab_test *t, const struct lab_run *run,
                                       const struct bw *bw, int from, int to, uint64_t bytes)
{
    expect_told(t, run, "p2p_measure's time of all repetitions", bw->seconds * P2P_REPEATS, from,
                to, bytes * P2P_REPEATS);
}

/* The same, and the other way within the same time. */
static inline void expect_both_told(struct lab_test *t, const struct lab_run *run,
                                    const struct bw *bw, int from, int to, uint64_t bytes)
{
    const char *what = "p2p_measure's time of both ways at once, which runs from before either is "
                       "timed until both have ended";
    double seconds = bw->seconds * P2P_REPEATS;
    expect_told(t, run, what, seconds, from, to, bytes * P2P_REPEATS);
    expect_told(t, run, what, seconds, to, from, bytes * P2P_REPEATS);
}

#endif
