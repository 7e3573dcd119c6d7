/* SPDX-License-Identifier: MIT
 * asks.h: the same questions for each of lab 07's collectives.
 */
#ifndef LAB07_ASKS_H
#define LAB07_ASKS_H

#include "measures.h"

/* Counts around the number of ranks, and one that is not small. Fewer elements than ranks are
 * captured, too: an event that a rank with nothing to send does not record is missed only there. */
static inline void ask_counts(struct lab_test *t, int32_t what, int out_of_place)
{
    static const int ranks[] = {1, 2, 3, 4};
    struct ring_call call[RING_CALLS];
    size_t used = 0;
    memset(call, 0, sizeof call);
    for (size_t i = 0; i < COUNT(ranks); i++) {
        uint64_t n = (uint64_t)ranks[i];
        const uint64_t counts[] = {0, 1, n > 1 ? n - 1 : 7, n, n + 1, 10007};
        for (size_t k = 0; k < COUNT(counts); k++, used++)
            call[used] = (struct ring_call){.what = what,
                                            .n = ranks[i],
                                            .current = (int)(i % 2),
                                            .count = counts[k],
                                            .type = (int)(k % 3),
                                            .op = (int)(used % 2),
                                            .out_of_place = out_of_place,
                                            .slices = 3,
                                            .graph = n == 4 && counts[k] < n,
                                            .repeats = 2};
    }
    ask_rings(t, call, used);
}

/* send[r] == recv[r] for some ranks, and not for others. */
static inline void ask_mixed(struct lab_test *t, int32_t what)
{
    struct ring_call call[4];
    for (int i = 0; i < 4; i++)
        call[i] = (struct ring_call){.what = what,
                                     .n = 3 + i / 2,
                                     .count = 1003,
                                     .type = i % 3,
                                     .op = i / 2,
                                     .out_of_place = i % 2 ? APART_ODD : APART_EVEN,
                                     .repeats = 2};
    ask_rings(t, call, 4);
}

/* Chunks of more than 2^31 bytes each, which the node loses on the way. */
static inline void ask_far(struct lab_test *t)
{
    struct ring_call call = {
        .what = DO_ALL_GATHER, .n = 4, .count = 2000, .type = RING_FLOAT16, .odd = ODD_FAR};
    if (!lab_is_virtual(t))
        return;
    lab_fault(t, "peer-drop:0-1,peer-drop:1-2,peer-drop:2-3,peer-drop:3-0");
    ask_rings(t, &call, 1);
    lab_fault(t, NULL);
}

static inline const struct far_out *ask_far_call(struct lab_test *t, int32_t what)
{
    const struct far_in in = {what};
    lab_env(t, "VGPU_CHECK", "api"); /* so many accesses: other cases look for races */
    const struct far_out *out = lab_output(lab_run(t, "far", &in, sizeof in, sizeof *out));
    lab_expect(
        t, out->asked,
        "the test's own memory could not be allocated: ring_open returned %d (%s), cudaMalloc "
        "%d",
        out->opened, rc_name(out->opened), out->error);
    return out;
}

/* 2^32 + 5 elements, and memory for the first 2^31 of the result. */
static inline void ask_beyond_int(struct lab_test *t, int32_t what)
{
    const struct far_out *out = ask_far_call(t, what);
    lab_expect_data(t, out->rc == LAB_ECUDA || out->ended != 0,
                    "%s of 2^32 + 5 elements wrote none behind the first 2^31: a thread's index "
                    "and the kernel's count must be a size_t, as count is",
                    what == FAR_REDUCE ? "ring_reduce" : "ring_one_shot");
}

static inline void ask_far_slices(struct lab_test *t)
{
    const struct far_out *out = ask_far_call(t, FAR_SLICES);
    lab_expect_data(t, out->rc == LAB_OK,
                    "ring_pipelined of 2^31 elements in slices of 2 GiB returned %s, expected "
                    "LAB_OK: where a slice lies in an inbox is a size_t",
                    rc_name(out->rc));
}

/* Who sends how much to whom. */
static inline void ask_traffic(struct lab_test *t, int32_t what)
{
    static const uint64_t counts[] = {4, 10007};
    for (size_t i = 0; i < COUNT(counts); i++) {
        struct ring_call call = {
            .what = what, .n = 4, .count = counts[i], .gpu = {2, 0, 3, 1}, .slices = 3};
        ask_bytes(t, &call);
    }
}

static inline void ask_bits(struct lab_test *t, int32_t what)
{
    struct ring_call call[] = {
        {.what = what, .n = 4, .count = 5003, .repeats = 3},
        {.what = what, .n = 3, .count = 1000, .repeats = 3, .out_of_place = 1},
    };
    for (size_t i = 0; i < COUNT(call); i++) {
        call[i].type = RING_FLOAT32;
        call[i].numbers = REAL;
    }
    ask_rings(t, call, COUNT(call));
}

static inline bool overlaps(int32_t odd)
{
    return odd == ODD_OVERLAP || odd == ODD_OVERLAP_END || odd == ODD_OVERLAP_FAR;
}

/* Inboxes that just fit, and by a byte do not; chunks of 2^33 bytes and of 4000 more, which CUDA
 * cannot copy into inboxes of less: who lets the size become an int copies 0 or 4000. For an
 * all-gather they may be as small as they like: it uses none. */
static inline void ask_sizes(struct lab_test *t, int32_t what)
{
    struct ring_call call[] = {
        {.n = 3, .count = 1999, .odd = ODD_FITS},
        {.n = 3, .count = 1999, .odd = ODD_FITS, .small = 1 << 20},
        {.n = 3, .count = 1999, .odd = ODD_TIGHT},
        {.n = 3, .count = 1000, .odd = ODD_NO_SEND, .out_of_place = 1},
        {.n = 3, .count = 1000, .odd = ODD_NO_RECV, .out_of_place = 1},
        {.n = 2, .count = 0, .odd = ODD_FAR},
        {.n = 2, .count = 2000, .odd = ODD_FAR},
        {.n = 2, .count = 2000, .odd = ODD_FAR, .out_of_place = 1},
        {.n = 3, .count = 0, .odd = ODD_NO_BUFFERS},
        {.n = 3, .count = 2000, .odd = ODD_SMALL},
    };
    size_t used = 0;
    for (size_t i = what == DO_ALL_GATHER ? COUNT(call) - 2 : 0; i < COUNT(call); i++) {
        bool twice = what == DO_REDUCE_SCATTER && call[i].out_of_place;
        if (twice || (call[i].odd == ODD_FAR && !lab_is_virtual(t)))
            continue;
        call[used] = call[i];
        call[used++].what = what;
    }
    ask_rings(t, call, used);
}

/* All the ways to be wrong, for one function. */
static inline void ask_refusals(struct lab_test *t, int32_t what)
{
    static const int32_t odd[] = {ODD_NO_RING, ODD_NO_BUFFERS,  ODD_NO_BUFFER,   ODD_TYPE,
                                  ODD_OVERLAP, ODD_OVERLAP_END, ODD_OVERLAP_FAR, ODD_OP,
                                  ODD_SMALL,   ODD_HUGE,        ODD_SLICES,      ODD_MANY_SLICES};
    struct ring_call call[COUNT(odd)];
    size_t used = 0;
    memset(call, 0, sizeof call);
    for (size_t i = 0; i < COUNT(odd); i++) {
        if (what == DO_ALL_GATHER && odd[i] >= ODD_OP && !overlaps(odd[i]))
            continue;
        if (what <= DO_ALL_GATHER && overlaps(odd[i]))
            continue;
        if (what != DO_PIPELINED && odd[i] >= ODD_SLICES)
            continue;
        call[used++] =
            (struct ring_call){.what = what,
                               .n = 3,
                               .current = 1,
                               .count = 20000,
                               .odd = odd[i],
                               .out_of_place = what >= DO_ALL_REDUCE && odd[i] == ODD_SMALL};
    }
    ask_rings(t, call, used);
    ask_sizes(t, what);
}

/* Each CUDA call that the collective makes fails once: it says so. */
static inline void ask_each_call(struct lab_test *t, int32_t what)
{
    struct ring_call c = {
        .what = what, .n = 2, .gpu = {0, 1}, .count = 403, .current = 1, .slices = 2};
    c.small = 1 << 20; /* of ring_pick: by one shot */
    if (!lab_is_virtual(t))
        return;
    struct lab_run *run = lab_run(t, "refused", &c, sizeof c, sizeof(struct refused_out));
    const struct refused_out *out = lab_output(run);
    lab_expect(t, out->opened == LAB_OK, "ring_open returned %d, expected 0", out->opened);
    lab_expect(t, out->calls > 1 && out->calls < REFUSED_CALLS,
               "%s made %d calls of CUDA, expected 2 to %d", collective_names[what], out->calls,
               REFUSED_CALLS);
    for (int k = 0; k < out->calls && k < REFUSED_CALLS; k++) {
        char call[120];
        snprintf(call, sizeof call, "%s on 2 ranks, in which a call of %.39s fails,",
                 collective_names[what], out->name[k]);
        expect_call(t, call, &out->call[k], LAB_ECUDA, c.current);
    }
    lab_refused_leaked_nothing(t, run);
}

struct failure {
    const char *fault;
    int32_t fails, out_of_place;
};

/* One CUDA call fails, and it alone: the collective says so. */
static inline void ask_failures(struct lab_test *t, int32_t what, const struct failure *f, size_t n)
{
    for (size_t i = 0; i < n && lab_is_virtual(t); i++) {
        struct ring_call call = {.what = what,
                                 .n = 4,
                                 .count = 403,
                                 .current = 2,
                                 .slices = 2,
                                 .out_of_place = f[i].out_of_place,
                                 .fails = f[i].fails};
        lab_fault(t, f[i].fault);
        ask_rings(t, &call, 1);
        lab_fault(t, NULL);
    }
}

#endif
