/* SPDX-License-Identifier: MIT
 * common.h: what lab 07's public and hidden cases share: ask_... runs calls in one process and
 * judges what came back.
 */
#ifndef LAB07_COMMON_H
#define LAB07_COMMON_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "case.h"

#include "causes.h"
#include "io.h"
#include "names.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static inline void expect_call(struct lab_test *t, const char *what, const struct outcome *call,
                               int want, int current)
{
    lab_expect(t, call->rc == want, "%s returned %d (%s), expected %s%s", what, call->rc,
               rc_name(call->rc), rc_name(want),
               call->rc == LAB_ECUDA && want == LAB_OK && strstr(what, "in a graph")
                   ? ": an event that a graph waits for is recorded in it, by a rank that sends "
                     "nothing, too, nothing is waited for while it is captured, and "
                     "cudaMemcpyPeerAsync cannot be captured"
                   : "");
    lab_expect(t, call->error == 0,
               "after %s CUDA's last error was still %d: the caller's next check will report it "
               "for a call that succeeded; ring_result clears it",
               what, call->error);
    lab_expect(t, current < 0 || call->current == current,
               "the current device was %d before %s and %d afterwards", current, what,
               call->current);
}

/* Room for what is sealed, as large as it ever was: cases come one after the other. */
static inline unsigned char *numbers_room(uint64_t bytes)
{
    static unsigned char *room;
    static uint64_t had;
    if (bytes > had) {
        free(room);
        room = malloc((size_t)bytes);
        had = room ? bytes : 0;
    }
    return room;
}

/* `count` elements of the rank between guards. */
static inline void make(unsigned char *at, uint64_t seed, int rank, uint64_t count, size_t each,
                        int type, int numbers)
{
    size_t bytes = (size_t)(count + 2 * GUARD) * each;
    memset(at, UNTOUCHED, bytes);
    for (uint64_t i = 0; i < count; i++) {
        unsigned char *to = at + (GUARD + i) * each;
        float real = io_real(seed, rank, i);
        if (numbers == REAL)
            memcpy(to, &real, sizeof real);
        else
            io_put(to, (enum ring_type)type, io_whole(seed, rank, i));
    }
}

/* ---- reduce ---- */

static inline void expect_reduced(struct lab_test *t, const char *what, const struct reduce_in *in,
                                  const struct reduce_call *c, const unsigned char *got, bool done)
{
    size_t each = type_bytes(c->type);
    lab_expect_data(t, untouched(got, GUARD * each), "%s wrote in front of dst", what);
    lab_expect_data(t, untouched(got + (GUARD + c->count) * each, GUARD * each),
                    "%s wrote behind the last element of dst", what);
    for (uint64_t i = 0; i < c->count; i++) {
        int mine = io_whole(in->seed, 0, i), other = io_whole(in->seed, 1, i);
        int want = !done ? mine : c->op == RING_SUM ? mine + other : mine > other ? mine : other;
        unsigned char bytes[4];
        char number[40];
        io_put(bytes, (enum ring_type)c->type, want);
        lab_expect_data(
            t, memcmp(got + (GUARD + i) * each, bytes, each) == 0,
            "%s: dst[%zu] was %d, src[%zu] is %d; dst[%zu] must be %d now, and is %s%s", what,
            (size_t)i, io_shown((enum ring_type)c->type, mine), (size_t)i,
            io_shown((enum ring_type)c->type, other), (size_t)i,
            io_shown((enum ring_type)c->type, want),
            io_text(number, sizeof number, (enum ring_type)c->type, got + (GUARD + i) * each),
            done && c->op == RING_MAX && want < 0 ? " (the largest may be negative)" : "");
    }
}

static inline bool bad_reduce(const struct reduce_call *c)
{
    return c->type < 0 || c->type > RING_FLOAT16 || c->op < 0 || c->op > RING_MAX ||
           (c->count > 0 && (c->no_dst || c->no_src));
}

/* Of real GPUs there may be fewer than a call names: ranks go around them. */
static inline int gpu_here(struct lab_test *t, int gpu)
{
    return lab_is_virtual(t) ? gpu : gpu % lab_gpus(t);
}

static inline void expect_reduce_work(struct lab_test *t, const struct lab_run *run,
                                      const struct reduce_in *in);
static inline void expect_ring_work(struct lab_test *t, const struct lab_run *run,
                                    const struct rings_in *in);

/* Of a type that there is not, too. */
static inline size_t wide(int type)
{
    return type >= 0 && type <= RING_FLOAT16 ? type_bytes(type) : 4;
}

/* Says where the numbers of each call lie, makes them and has them sealed. */
static inline const unsigned char *seal_reduce(struct lab_test *t, struct reduce_in *in,
                                               uint64_t seed)
{
    uint64_t all = 0;
    in->seed = seed;
    for (size_t i = 0; i < in->calls; i++) {
        struct reduce_call *c = &in->call[i];
        c->gpu = gpu_here(t, c->gpu);
        c->at = all;
        all += 2 * (c->count + 2 * GUARD) * wide(c->type);
    }
    unsigned char *data = numbers_room(all);
    for (size_t i = 0; i < in->calls; i++) {
        const struct reduce_call *c = &in->call[i];
        size_t each = wide(c->type), bytes = (size_t)(c->count + 2 * GUARD) * each;
        for (int r = 0; r < 2; r++)
            make(data + c->at + (size_t)r * bytes, seed, r, c->count, each, c->type, WHOLE);
    }
    lab_seal(t, data, (size_t)all, (size_t)all);
    return data;
}

static inline struct lab_run *ask_reduce(struct lab_test *t, struct reduce_in *in, bool no_gpu)
{
    const unsigned char *data = seal_reduce(t, in, lab_secret(t));
    uint64_t seed = in->seed;
    in->seed = 0;
    struct lab_run *run = lab_run(t, "reduce", in, sizeof *in, sizeof(struct reduce_out));
    in->seed = seed;
    const struct reduce_out *out = lab_output(run);
    const unsigned char *result = lab_sealed_output(run);
    for (size_t i = 0; i < in->calls; i++) {
        const struct reduce_call *c = &in->call[i];
        bool bad = bad_reduce(c);
        char what[128];
        snprintf(what, sizeof what, "ring_reduce(%s, %s, count = %zu, %s, %s)",
                 c->no_dst ? "NULL" : "dst", c->no_src ? "NULL" : "src", (size_t)c->count,
                 type_name(c->type),
                 c->op == RING_SUM   ? "RING_SUM"
                 : c->op == RING_MAX ? "RING_MAX"
                                     : "neither sum nor max");
        bool none = no_gpu && c->count > 0;
        expect_call(t, what, &out->call[i],
                    bad    ? LAB_EINVAL
                    : none ? LAB_ENOGPU
                           : LAB_OK,
                    no_gpu ? -1 : c->gpu);
        if (no_gpu)
            continue;
        lab_expect(t, out->after[i] == 0, "%s: its kernel ended with CUDA error %d", what,
                   out->after[i]);
        size_t bytes = (size_t)(c->count + 2 * GUARD) * wide(c->type), src = (size_t)c->at + bytes;
        lab_expect_data(t, memcmp(result + src, data + src, bytes) == 0,
                        "%s changed src: the source is read, nothing else", what);
        if (c->type >= 0 && c->type <= RING_FLOAT16)
            expect_reduced(t, what, in, c, result + c->at, !bad);
    }
    if (!no_gpu)
        expect_reduce_work(t, run, in);
    lab_nothing_leaked(t, run);
    return run;
}

/* Of `elements` five are there: the kernel ends in a fault. */
static inline const struct reduce_out *ask_claimed(struct lab_test *t, uint64_t elements)
{
    struct reduce_in in = {.calls = 1, .call = {{.count = 5, .claimed = elements - 5}}};
    seal_reduce(t, &in, lab_secret(t));
    in.seed = 0;
    return lab_output(lab_run(t, "reduce", &in, sizeof in, sizeof(struct reduce_out)));
}

/* A number of elements that would be 0 if it were cut: a grid of no blocks is an error. */
static inline void ask_far_grid(struct lab_test *t, int power)
{
    const struct reduce_out *out = ask_claimed(t, 1ull << power);
    lab_expect_data(t, out->call[0].rc == LAB_OK,
                    "ring_reduce of 2^%d elements returned %s, expected LAB_OK: the number of "
                    "blocks follows from count, which is a size_t",
                    power, rc_name(out->call[0].rc));
}

static inline void ask_far_elements(struct lab_test *t)
{
    const struct reduce_out *out = ask_claimed(t, (1ull << 32) + 5);
    lab_expect_data(
        t, out->call[0].rc != LAB_OK || out->after[0] != 0,
        "ring_reduce of 2^32 + 5 elements used no element behind the first 5: somewhere "
        "count became an int");
    ask_far_grid(t, 32);
}

/* The launch fails: the caller learns of it. */
static inline void ask_no_launch(struct lab_test *t)
{
    struct reduce_in in = {.calls = 1, .call = {{.count = 500}}};
    seal_reduce(t, &in, lab_secret(t));
    in.seed = 0;
    lab_fault(t, "call:launch=1");
    const struct reduce_out *out =
        lab_output(lab_run(t, "reduce", &in, sizeof in, sizeof(struct reduce_out)));
    expect_call(t, "ring_reduce, whose kernel CUDA cannot launch,", &out->call[0], LAB_ECUDA, 0);
    lab_fault(t, NULL);
}

/* ---- collectives ---- */

static const char *const collective_names[] = {
    "ring_reduce_scatter",  "ring_all_gather",     "ring_all_reduce", "ring_pipelined",
    "ring_one_shot",        "ring_pick",           "coll_broadcast",  "coll_reduce",
    "coll_all_gather",      "coll_reduce_scatter", "coll_all_reduce", "coll_all_to_all",
    "coll_naive_all_reduce"};

/* Of 2^32 elements more. */
static inline bool is_far(const struct ring_call *c)
{
    return c->odd == ODD_FAR || c->odd == ODD_OVERLAP_FAR;
}

/* The node loses what is copied: gigabytes of which only the addresses count. */
static inline bool is_lost(const struct ring_call *c)
{
    return c->odd == ODD_FAR && c->what == DO_ALL_GATHER;
}

static const char *const odd_words[] = {
    [ODD_NOT] = "",
    [ODD_NO_RING] = " without a ring",
    [ODD_NO_BUFFERS] = " without buffers",
    [ODD_NO_BUFFER] = " with a null buffer",
    [ODD_TYPE] = " of a type that there is not",
    [ODD_OP] = " with an operation that there is not",
    [ODD_SMALL] = " with inboxes for a tenth of it",
    [ODD_OVERLAP] = " with a recv that begins one element behind its send",
    [ODD_OVERLAP_END] = " with a recv that begins with its send's last element",
    [ODD_OVERLAP_FAR] = " with a recv that begins inside its send",
    [ODD_HUGE] = " and 2^32 elements more",
    [ODD_NO_SEND] = " with a null send buffer",
    [ODD_NO_RECV] = " with a null recv buffer",
    [ODD_FITS] = " with inboxes that are just large enough",
    [ODD_SLICES] = " with 0 slices",
    [ODD_MANY_SLICES] = " with more than RING_SLICES slices",
};

static inline void say_call(char *what, size_t room, const struct ring_call *c)
{
    static const char *const places[] = {"", ", out of place", ", out of place for odd ranks",
                                         ", out of place for even ranks"};
    char slices[32] = "";
    if (c->what == DO_PIPELINED && c->odd != ODD_SLICES && c->odd != ODD_MANY_SLICES)
        snprintf(slices, sizeof slices, ", %d slices", c->slices);
    snprintf(what, room, "%s(%d ranks, count = %s%zu, %s, %s%s%s)%s%s", collective_names[c->what],
             c->n, is_far(c) ? "2^32 + " : "", (size_t)c->count, type_name(c->type),
             c->op == RING_MAX ? "RING_MAX" : "RING_SUM", places[c->out_of_place], slices,
             c->graph ? " in a graph" : "",
             c->fails              ? ", in which a CUDA call fails,"
             : is_lost(c)          ? ""
             : c->odd == ODD_FAR   ? " with inboxes that are too small for CUDA to copy there"
             : c->odd == ODD_TIGHT ? " with inboxes that are too small by one byte"
                                   : odd_words[c->odd]);
}

static inline int runs_of(const struct ring_call *c)
{
    return c->repeats ? c->repeats : 1;
}

static inline int reduced(const struct rings_in *in, const struct ring_call *c, uint64_t i)
{
    int all = io_whole(in->seed, 0, i);
    for (int r = 1; r < c->n; r++) {
        int one = io_whole(in->seed, r, i);
        all = c->op == RING_SUM ? all + one : one > all ? one : all;
    }
    return all;
}

/* What element i of rank r must be afterwards; it lies in `chunk`. */
static inline int element_of(const struct rings_in *in, const struct ring_call *c, int r, int chunk,
                             uint64_t i)
{
    switch (c->what) {
    case DO_ALL_GATHER:
    case DO_DIRECT_GATHER:
        return io_whole(in->seed, chunk, i);
    case DO_BROADCAST:
        return io_whole(in->seed, c->root, i);
    case DO_ALL_TO_ALL:
        return io_whole(in->seed, chunk,
                        i - chunk_first(c->count, c->n, chunk) + chunk_first(c->count, c->n, r));
    default:
        return reduced(in, c, i);
    }
}

/* Does the call say anything about this chunk of rank r? */
static inline bool says(const struct ring_call *c, int r, int chunk)
{
    if (c->what == DO_REDUCE_SCATTER || c->what == DO_DIRECT_SCATTER)
        return chunk == r;
    return c->what != DO_REDUCE || r == c->root;
}

/* The call leaves the same on every rank. */
static inline bool makes_equal(const struct ring_call *c)
{
    return c->what != DO_ALL_TO_ALL && says(c, 0, 1) && says(c, 1, 0);
}

/* Elements [first, first + len) of rank r. */
static inline void expect_elements(struct lab_test *t, const char *what, const struct rings_in *in,
                                   const struct ring_call *c, const unsigned char *buffer, int r,
                                   int chunk)
{
    uint64_t first = chunk_first(c->count, c->n, chunk), len = chunk_len(c->count, c->n, chunk);
    size_t each = type_bytes(c->type);
    for (uint64_t i = first; i < first + len; i++) {
        const unsigned char *got = buffer + (GUARD + i) * each;
        int want = element_of(in, c, r, chunk, i);
        unsigned char bytes[4];
        char cause[256];
        io_put(bytes, (enum ring_type)c->type, want);
        if (memcmp(got, bytes, each) == 0)
            continue;
        say_cause(cause, sizeof cause, in, c, r, i, got);
        lab_expect_data(t, false,
                        "%s: rank %d (GPU %d), element %zu (number %zu of chunk %d) must be "
                        "%d, %s",
                        what, r, c->gpu[r], (size_t)i, (size_t)(i - first), chunk,
                        io_shown((enum ring_type)c->type, want), cause);
    }
}

/* Floats whose sums are rounded: close to the exact sum, whatever the order was. */
static inline void expect_close(struct lab_test *t, const char *what, const struct rings_in *in,
                                const struct ring_call *c, const unsigned char *buffer, int r)
{
    for (uint64_t i = 0; i < c->count; i++) {
        float got;
        double want = 0, size = 0;
        memcpy(&got, buffer + (GUARD + i) * sizeof got, sizeof got);
        for (int p = 0; p < c->n; p++) {
            want += io_real(in->seed, p, i);
            size += fabs(io_real(in->seed, p, i));
        }
        lab_expect(t, fabs(got - want) <= c->n * size / 16777216.0,
                   "%s: rank %d, element %zu is %.9g, expected %.9g", what, r, (size_t)i, got,
                   want);
    }
}

static inline void expect_buffer(struct lab_test *t, const char *what, const struct rings_in *in,
                                 const struct ring_call *c, const unsigned char *buffer, int r)
{
    size_t each = type_bytes(c->type);
    lab_expect_data(t, untouched(buffer, GUARD * each), "%s wrote in front of rank %d's buffer",
                    what, r);
    lab_expect_data(t, untouched(buffer + (GUARD + c->count) * each, GUARD * each),
                    "%s wrote behind rank %d's buffer", what, r);
    if (c->numbers == REAL) {
        expect_close(t, what, in, c, buffer, r);
        return;
    }
    for (int k = 0; k < c->n; k++)
        if (says(c, r, k))
            expect_elements(t, what, in, c, buffer, r, k);
}

/* What is sealed for a call: rank r's numbers; its result in run k, and what send[r] held then. */
struct ring_data {
    const unsigned char *in, *out;
    size_t bytes;
    int n;
};

static inline struct ring_data data_of(const struct ring_call *c, const unsigned char *in,
                                       const unsigned char *out)
{
    size_t bytes = (size_t)(c->count + 2 * GUARD) * type_bytes(c->type);
    return (struct ring_data){in + c->in_at, out + c->out_at, bytes, c->n};
}

static inline const unsigned char *result_of(const struct ring_data *d, int k, int r)
{
    return d->out + 2 * ((size_t)k * (size_t)d->n + (size_t)r) * d->bytes;
}

static inline bool kept_send(const struct ring_data *d, int k, int r)
{
    return memcmp(result_of(d, k, r) + d->bytes, d->in + (size_t)r * d->bytes, d->bytes) == 0;
}

static inline void expect_same_bits(struct lab_test *t, const char *what, const struct ring_call *c,
                                    const struct ring_data *d)
{
    for (int k = 0; k < runs_of(c); k++)
        for (int r = 0; r < c->n; r++) {
            const unsigned char *got = result_of(d, k, r);
            lab_expect(t, memcmp(got, result_of(d, 0, r), d->bytes) == 0,
                       "%s: run %d gave rank %d other bits than the first run", what, k, r);
            lab_expect(t, !makes_equal(c) || memcmp(got, result_of(d, k, 0), d->bytes) == 0,
                       "%s: rank %d has other bits than rank 0: all ranks must add in "
                       "the same order",
                       what, r);
        }
}

static inline int want_of(const struct ring_call *c)
{
    switch (c->odd) {
    case ODD_NOT:
    case ODD_FITS:
        return c->fails ? LAB_ECUDA : c->want;
    case ODD_NO_BUFFERS:
        return c->count > 0 ? LAB_EINVAL : LAB_OK;
    case ODD_SMALL:
    case ODD_HUGE:
    case ODD_TIGHT:
        return c->what == DO_ALL_GATHER ? LAB_OK : LAB_ERANGE; /* it uses no inbox */
    case ODD_FAR:
        return is_lost(c) ? LAB_OK : LAB_ECUDA;
    default:
        return LAB_EINVAL;
    }
}

static inline void expect_collective(struct lab_test *t, const struct rings_in *in,
                                     const struct ring_call *c, const struct ring_told *told,
                                     const struct ring_data *d)
{
    char what[160];
    say_call(what, sizeof what, c);
    lab_expect(t, told->opened == LAB_OK, "%s: the ring could not be opened (%s)", what,
               rc_name(told->opened));
    for (int k = 0; k < runs_of(c); k++)
        expect_call(t, what, &told->call[k], told->unspent ? LAB_OK : want_of(c), c->current);
    lab_expect(t, told->captured == LAB_OK,
               "%s: the graph could not be captured or launched (%s): something waited, or used a "
               "stream that does not belong to the ring",
               what, rc_name(told->captured));
    lab_expect(t, told->ended == LAB_OK, "%s: the work on the GPUs ended with %s", what,
               rc_name(told->ended));
    bool done = want_of(c) == LAB_OK;
    if (c->fails || is_lost(c)) /* half-way, or on the way: nothing is said of buffers */
        return;
    for (int r = 0; r < c->n && done; r++)
        expect_buffer(t, what, in, c, result_of(d, 0, r), r);
    for (int r = 0; r < c->n && !done; r++)
        lab_expect(t, !io_apart(c, r) || untouched(result_of(d, 0, r), d->bytes),
                   "%s was refused, and recv[%d] has changed all the same: a refused call has "
                   "queued nothing",
                   what, r);
    for (int r = 0; r < c->n; r++)
        for (int k = 0; k < runs_of(c) && (io_apart(c, r) || !done); k++)
            lab_expect_grave(t, done ? LAB_LOST_DATA : LAB_NOT_GRAVE, kept_send(d, k, r),
                             "%s changed send[%d], which is %s", what, r,
                             !done ? "wrong after an error" : "the caller's");
    if (done)
        expect_same_bits(t, what, c, d);
}

/* Bytes of what is sealed, so far. */
struct ring_room {
    uint64_t in, out;
};

/* GPUs 0, 1, ... unless the call names some. */
static inline void complete(struct lab_test *t, struct ring_room *room, struct ring_call *c)
{
    int named = 0;
    for (int r = 0; r < c->n; r++)
        named |= c->gpu[r];
    for (int r = 0; r < c->n; r++)
        c->gpu[r] = gpu_here(t, named ? c->gpu[r] : r);
    c->current = gpu_here(t, c->current);
    if (c->slices == 0)
        c->slices = c->odd == ODD_FAR ? 1 : 4;
    uint64_t bytes = (uint64_t)c->n * (c->count + 2 * GUARD) * type_bytes(c->type);
    c->in_at = room->in;
    c->out_at = room->out;
    room->in += bytes;
    room->out += 2 * (uint64_t)runs_of(c) * bytes;
}

/* Makes what all ranks of all calls hold. */
static inline const unsigned char *seal_rings(struct lab_test *t, const struct rings_in *in,
                                              const struct ring_room *room)
{
    unsigned char *data = numbers_room(room->in);
    for (size_t i = 0; i < in->calls; i++) {
        const struct ring_call *c = &in->call[i];
        size_t each = type_bytes(c->type), bytes = (size_t)(c->count + 2 * GUARD) * each;
        for (int r = 0; r < c->n; r++)
            make(data + c->in_at + (size_t)r * bytes, in->seed, r, c->count, each, c->type,
                 c->numbers);
    }
    lab_seal(t, data, (size_t)room->in, (size_t)room->out);
    return data;
}

static inline struct lab_run *ask_rings(struct lab_test *t, struct ring_call *call, size_t calls)
{
    static struct rings_in in;
    struct ring_room room = {0, 0};
    uint64_t seed = lab_secret(t);
    memset(&in, 0, sizeof in);
    in.calls = calls;
    for (size_t i = 0; i < calls; i++) {
        complete(t, &room, &call[i]);
        in.call[i] = call[i];
    }
    in.seed = seed;
    const unsigned char *data = seal_rings(t, &in, &room);
    in.seed = 0;
    struct lab_run *run = lab_run(t, "rings", &in, sizeof in, sizeof(struct rings_out));
    in.seed = seed;
    const struct rings_out *out = lab_output(run);
    for (size_t i = 0; i < calls; i++) {
        struct ring_data d = data_of(&in.call[i], data, lab_sealed_output(run));
        expect_collective(t, &in, &in.call[i], &out->told[i], &d);
    }
    expect_ring_work(t, run, &in);
    lab_nothing_leaked(t, run);
    return run;
}

#include "work.h"

#endif
