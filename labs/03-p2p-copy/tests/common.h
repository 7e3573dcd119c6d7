/* SPDX-License-Identifier: MIT
 * common.h: what lab 03's public and hidden cases share.
 */
#ifndef LAB03_COMMON_H
#define LAB03_COMMON_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case.h"

#include "io.h"
#include "told.h"

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)
#define IO_FILL_INT 0x5A5A5A5A

static inline const char *rc_name(int rc)
{
    static const char *const names[] = {"LAB_OK",     "LAB_EINVAL", "LAB_ENOGPU", "LAB_ENOPEER",
                                        "LAB_ENOMEM", "LAB_ECUDA",  "LAB_EPEER",  "LAB_ERANGE"};
    return rc <= 0 && rc > -8 ? names[-rc] : "not a result of lab.h";
}

/* `call` is what a person would have typed: "copy_path(1, 0, &path)". */
static inline void expect_rc(struct lab_test *t, const char *call, int got, int want)
{
    lab_expect(t, got == want, "%s returned %d (%s), expected %d (%s)", call, got, rc_name(got),
               want, rc_name(want));
}

static inline void expect_clear(struct lab_test *t, const char *call, int last)
{
    lab_expect(t, last == 0,
               "after %s CUDA's last error was still %d: the caller's next check will report it "
               "for a call that succeeded; p2p_result clears it",
               call, last);
}

static inline void expect_current(struct lab_test *t, const char *call, int got, int want)
{
    lab_expect(t, got == want, "GPU %d was current before %s, GPU %d after it", want, call, got);
}

#define ASK(t, what, in, out_type)                                                                 \
    ((const struct out_type *)lab_output(                                                          \
        lab_run((t), (what), (in), sizeof *(in), sizeof(struct out_type))))

static inline const char *path_text(int path)
{
    return path == PATH_LOCAL    ? "PATH_LOCAL"
           : path == PATH_PEER   ? "PATH_PEER"
           : path == PATH_STAGED ? "PATH_STAGED"
                                 : "nothing";
}

/* ---- paths ---- */

/* `what` begins the sentence: "copy_path only asks, and". */
static inline void nothing_turned_on(struct lab_test *t, const struct lab_run *run,
                                     const char *what)
{
    const struct lab_witness *w = lab_witness(run);
    lab_expect(t, !w || w->peers_enabled == 0, "%s turned peer access on %u times, expected none",
               what, w->peers_enabled);
}

/* want[from * n + to]: 'L', 'P' or 'S'; all pairs are asked. */
static inline void check_paths(struct lab_test *t, int n, const char *want)
{
    struct path_in in = {.asked = n * n};
    for (int i = 0; i < n * n; i++) {
        in.src[i] = i / n;
        in.dst[i] = i % n;
    }
    struct lab_run *run = lab_run(t, "path", &in, sizeof in, sizeof(struct path_out));
    const struct path_out *out = lab_output(run);
    nothing_turned_on(t, run, "copy_path only asks, and");
    for (int i = 0; i < n * n; i++) {
        char call[64];
        int path = want[i] == 'L' ? PATH_LOCAL : want[i] == 'P' ? PATH_PEER : PATH_STAGED;
        snprintf(call, sizeof call, "copy_path(dst %d, src %d, &path)", in.dst[i], in.src[i]);
        expect_rc(t, call, out->rc[i], LAB_OK);
        lab_expect(t, out->path[i] == path, "%s gave %s, expected %s%s", call,
                   path_text(out->path[i]), path_text(path),
                   want[i] == 'L' ? ""
                                  : ": it is the sender that must reach the receiver's memory");
    }
}

/* ---- copies ---- */

static inline uint64_t total_bytes(const struct moves_in *in)
{
    uint64_t total = 0;
    for (int i = 0; i < in->asked; i++)
        total += in->size[i];
    return total;
}

/* Bytes that differ in (copy, index): no two copies of the same length look alike. */
static inline void fill_pattern(struct lab_test *t, unsigned char *at, uint64_t bytes)
{
    uint64_t x = lab_random(t) | 1;
    for (uint64_t i = 0; i < bytes; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        at[i] = (unsigned char)(x >> 32);
    }
}

/* Runs the copies of `in`. *pattern (to be freed) is what was sent. */
static inline struct lab_run *run_moves(struct lab_test *t, const struct moves_in *in,
                                        unsigned char **pattern)
{
    uint64_t bytes = total_bytes(in), back = bytes + (uint64_t)in->asked * 2 * IO_GUARD;
    struct moves_in *message = malloc(sizeof *message + bytes);
    *message = *in;
    *pattern = (unsigned char *)(message + 1);
    fill_pattern(t, *pattern, bytes);
    struct lab_run *run =
        lab_run(t, "moves", message, sizeof *message + bytes, sizeof(struct moves_out) + back);
    unsigned char *copy = malloc(bytes + 1);
    memcpy(copy, *pattern, bytes);
    *pattern = copy;
    free(message);
    return run;
}

static inline int holds(const unsigned char *at, int value, size_t bytes)
{
    while (bytes > 0 && *at == value)
        at++, bytes--;
    return bytes == 0;
}

/* Names the usual mistake when a destination holds a usual mistake's bytes. */
static inline const char *guess(const unsigned char *got, const unsigned char *want, uint64_t bytes)
{
    int rim = 1, stale = 1, later = 1;
    uint64_t right = 0; /* so many at its beginning */
    for (uint64_t i = 0; i < bytes; i++) {
        if (got[i] == want[i]) {
            right += right == i;
            continue;
        }
        rim &= got[i] == IO_RIM;
        stale &= got[i] == IO_STALE;
        later &= (got[i] ^ want[i]) == 0xFF;
    }
    if (rim && right)
        return ": its end still holds what it held before (is the last chunk queued, and which "
               "stream waits for it?)";
    if (rim)
        return ": the destination still holds what it held before (not copied, copied from dst to "
               "src, or not yet when the caller's stream went on)";
    if (stale)
        return ": those bytes were in the source before the caller's stream wrote it: the copy "
               "must wait for the work that is already in the stream";
    if (later)
        return ": those bytes were put into the source after the copy, in the same stream: it read "
               "them too late (the caller's stream must wait for the copy)";
    return ": the bytes come from another chunk, or were read too early (was a buffer drained "
           "before "
           "it was filled, or filled again before it was drained, or did the copy not wait for the "
           "caller's stream?)";
}

/* Compares one destination with its guards. */
static inline void check_destination(struct lab_test *t, int i, uint64_t bytes,
                                     const unsigned char *got, const unsigned char *want)
{
    char what[256];
    lab_expect_data(t, holds(got, IO_RIM, IO_GUARD),
                    "copy %d (%llu bytes) wrote before its destination", i,
                    (unsigned long long)bytes);
    lab_expect_data(t, holds(got + IO_GUARD + bytes, IO_RIM, IO_GUARD),
                    "copy %d (%llu bytes) wrote behind its destination", i,
                    (unsigned long long)bytes);
    if (!memcmp(got + IO_GUARD, want, bytes))
        return;
    snprintf(what, sizeof what, "copy %d (%llu bytes)%s", i, (unsigned long long)bytes,
             guess(got + IO_GUARD, want, bytes));
    lab_same_bytes(t, what, got + IO_GUARD, want, bytes);
}

static inline void check_moves_results(struct lab_test *t, const struct moves_in *in,
                                       const struct moves_out *out, const char *call, int path)
{
    lab_expect(t, out->setup == 0, "the copies could not be set up (%d)", out->setup);
    for (int i = 0; i < in->asked; i++) {
        char named[96];
        snprintf(named, sizeof named, "%s of %llu bytes", call, (unsigned long long)in->size[i]);
        expect_rc(t, named, out->rc[i], LAB_OK);
        if (path)
            lab_expect(t, out->taken[i] == path, "%s from GPU %d to GPU %d took %s, expected %s",
                       call, in->src_dev, in->dst_dev, path_text(out->taken[i]), path_text(path));
    }
    expect_clear(t, call, out->last);
    expect_current(t, call, out->current, in->current);
}

/* What the copies are without their last chunks, where these are shorter. */
static inline uint64_t whole_chunks(const struct moves_in *in)
{
    uint64_t bytes = 0;
    for (int i = 0; in->chunk && i < in->asked; i++)
        bytes += in->size[i] - in->size[i] % in->chunk;
    return bytes;
}

/* By which way the bytes went, as the node saw it: what lies at the end is the same by any. */
static inline void expect_way(struct lab_test *t, const struct lab_run *run,
                              const struct moves_in *in, const char *call, int path)
{
    int s = in->src_dev, d = in->dst_dev;
    bool staged = path ? path == PATH_STAGED : in->move == MOVE_STAGE;
    uint64_t total = total_bytes(in), straight = lab_copied_within(run, NULL, s, d);
    uint64_t down = lab_copied_within(run, NULL, s, LAB_HOST);
    uint64_t up = lab_copied_within(run, NULL, LAB_HOST, d);
    if (!lab_is_virtual(t))
        return;
    lab_expect(t, straight == (staged ? 0 : total),
               "%s: %llu bytes were copied from GPU %d straight to GPU %d, expected %llu", call,
               (unsigned long long)straight, s, d, (unsigned long long)(staged ? 0 : total));
    if (s == d) { /* the test's own copies go the same way as the stage's */
        lab_expect(t, !staged || (down >= total && up >= total),
                   "%s: %llu bytes went to the host and %llu came from there, expected %llu: a "
                   "stage is a way through the host",
                   call, (unsigned long long)down, (unsigned long long)up,
                   (unsigned long long)total);
        return;
    }
    lab_expect(t, !staged || down == total || down != whole_chunks(in) || up != down,
               "%s: %llu of %llu bytes went through the host: what is missing are the last chunks, "
               "which are shorter where a size is not a multiple of chunk_bytes",
               call, (unsigned long long)down, (unsigned long long)total);
    lab_expect(t, down == (staged ? total : 0) && up == (staged ? total : 0),
               "%s: %llu bytes went from GPU %d to the host and %llu from the host to GPU %d, "
               "expected %llu",
               call, (unsigned long long)down, s, (unsigned long long)up, d,
               (unsigned long long)(staged ? total : 0));
}

/* Sends everything in `in` and compares everything. `path`: expected in *taken, 0 for the functions
 * that have none. Returns the run for further questions. */
static inline struct lab_run *check_moves(struct lab_test *t, const struct moves_in *in,
                                          const char *call, int path)
{
    unsigned char *pattern;
    struct lab_run *run = run_moves(t, in, &pattern);
    const struct moves_out *out = lab_output(run);
    const unsigned char *back = (const unsigned char *)(out + 1), *want = pattern;
    check_moves_results(t, in, out, call, path);
    expect_way(t, run, in, call, path);
    for (int i = 0; i < in->asked; i++) {
        check_destination(t, i, in->size[i], back, want);
        back += in->size[i] + 2 * IO_GUARD;
        want += in->size[i];
    }
    free(pattern);
    if (in->move == MOVE_PEER)
        nothing_turned_on(t, run, "the copy needs no peer access: that is p2p_copy's to turn on;");
    lab_nothing_leaked(t, run);
    return run;
}

static inline void expect_no_wait(struct lab_test *t, const struct lab_run *run, const char *call)
{
    const struct moves_out *out = lab_output(run);
    lab_expect_no_wait(
        t, out->busy,
        "16 MiB were on their way in the stream before the first %s; right after the last one "
        "the stream was idle: the function waited for the GPU, and its caller can overlap nothing",
        call);
}

/* ---- refusals ---- */

static inline void check_refusals_of(struct lab_test *t, int move, int dst, int src,
                                     const int *want, uint64_t bytes)
{
    static const char *const what[REFUSALS] = {"dst null",
                                               "src null",
                                               "dst in host memory",
                                               "src in host memory",
                                               "dst and src on each other's GPU",
                                               "dst_dev 99, or no stage",
                                               "src_dev -1, or a stage that is all zero",
                                               "taken null"};
    static const char *const names[] = {"copy_peer_async", "stage_copy_async", "p2p_copy"};
    struct refuse_in in = {.move = move, .dst_dev = dst, .src_dev = src, .bytes = bytes};
    struct lab_run *run = lab_run(t, "refuse", &in, sizeof in, sizeof(struct refuse_out));
    const struct refuse_out *out = lab_output(run);
    for (int i = 0; i < REFUSALS; i++) {
        char call[96];
        if (want[i] == LAB_OK)
            continue;
        snprintf(call, sizeof call, "%s of %llu bytes with %s", names[move],
                 (unsigned long long)bytes, what[i]);
        expect_rc(t, call, out->rc[i], want[i]);
        expect_clear(t, call, out->last[i]);
        if (move == MOVE_P2P)
            lab_expect(t, out->taken[i] == IO_FILL_INT, "%s failed and wrote *taken", call);
    }
    lab_expect(t, out->changed == 0, "%s was refused and changed %d bytes of dst all the same",
               names[move], out->changed);
    expect_current(t, names[move], out->current, src);
    nothing_turned_on(t, run, "a copy that was refused leaves everything as it was, and this one");
    lab_refused_leaked_nothing(t, run);
}

/* A page, one byte, and a size of which 32 bits leave nothing. */
static inline void check_refusals(struct lab_test *t, const char *node, int move, const int *want)
{
    const uint64_t bytes[] = {4096, 1, UINT64_C(1) << 32};
    for (int i = 0; i < 3; i++) {
        if (node)
            lab_node(t, node);
        check_refusals_of(t, move, 1, 0, want, bytes[i]);
    }
}

/* ---- time ---- */

static inline const struct speed_out *speeds_of(struct lab_test *t, int dst, int src,
                                                uint64_t bytes, uint64_t chunk, int ways,
                                                int rounds)
{
    struct speed_in in = {.dst_dev = dst, .src_dev = src, .bytes = bytes, .chunk = chunk};
    in.repeat = lab_is_virtual(t) ? 1 : 5;
    in.ways = ways;
    in.rounds = rounds;
    struct lab_run *run = lab_run(t, "speed", &in, sizeof in, sizeof(struct speed_out));
    const struct speed_out *out = lab_output(run);
    lab_expect(t, out->rc == LAB_OK, "a copy of %llu bytes from GPU %d to GPU %d failed: %s",
               (unsigned long long)bytes, src, dst, rc_name(out->rc));
    expect_speeds(t, run, &in, out);
    return out;
}

static inline const struct speed_out *speeds(struct lab_test *t, int dst, int src, uint64_t bytes,
                                             uint64_t chunk, int ways)
{
    return speeds_of(t, dst, src, bytes, chunk, ways, 1);
}

/* Another GPU than 0 where there is one, so that one GPU is enough for what the host is part of. */
static inline int other_gpu(struct lab_test *t)
{
    return lab_gpus(t) > 1;
}

static inline void expect_measured(struct lab_test *t, int rc)
{
    lab_expect(t, rc != LAB_ECUDA,
               "p2p_measure returned LAB_ECUDA: a time between two events needs events of the same "
               "GPU, and a second one that was waited for (cudaEventSynchronize)");
    expect_rc(t, "p2p_measure", rc, LAB_OK);
}

static inline struct bw one_measure(struct lab_test *t, int from, int to, uint64_t bytes, int both)
{
    struct measure_in in = {.asked = 1, .current = from};
    in.from[0] = from;
    in.to[0] = to;
    in.bytes[0] = bytes;
    in.both[0] = both;
    struct lab_run *run = lab_run(t, "measure", &in, sizeof in, sizeof(struct measure_out));
    const struct measure_out *out = lab_output(run);
    expect_measured(t, out->rc[0]);
    if (both)
        expect_both_told(t, run, &out->bw[0], from, to, bytes);
    else
        expect_measure_told(t, run, &out->bw[0], from, to, bytes);
    lab_nothing_leaked(t, run);
    return out->bw[0];
}

#endif
