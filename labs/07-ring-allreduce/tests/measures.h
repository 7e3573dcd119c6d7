/* SPDX-License-Identifier: MIT
 * measures.h: what lab 07's tests read out of the node's witness: bytes over each pair, how often
 * the host waited, how long it all took.
 */
#ifndef LAB07_MEASURES_H
#define LAB07_MEASURES_H

#include "common.h"

/* Bytes that rank r hands to the next one in a call. */
static inline uint64_t bytes_out(const struct ring_call *c, int r)
{
    uint64_t each = type_bytes(c->type), all = c->count * each;
    uint64_t own = chunk_len(c->count, c->n, r) * each;
    uint64_t next = chunk_len(c->count, c->n, (r + 1) % c->n) * each;
    if (c->n == 1)
        return 0;
    return c->what == DO_REDUCE_SCATTER ? all - own
           : c->what == DO_ALL_GATHER   ? all - next
                                        : 2 * all - own - next;
}

/* One call's copies between GPUs: to ring neighbours only, every chunk but the one or two that
 * need not be sent. */
static inline void ask_bytes(struct lab_test *t, struct ring_call *c)
{
    struct lab_run *run = ask_rings(t, c, 1);
    const struct lab_witness *w = lab_witness(run);
    uint64_t total = 0, want = 0;
    char what[160];
    say_call(what, sizeof what, c);
    for (int r = 0; r < c->n; r++)
        for (int p = 0; p < c->n; p++) {
            uint64_t moved = w->copied[c->gpu[r]][c->gpu[p]];
            uint64_t wanted = p == (r + 1) % c->n ? bytes_out(c, r) : 0;
            if (p == r)
                continue;
            lab_expect(t, moved == wanted,
                       "%s: rank %d (GPU %d) sent %zu bytes to rank %d (GPU %d), expected %zu%s",
                       what, r, c->gpu[r], (size_t)moved, p, c->gpu[p], (size_t)wanted,
                       wanted == 0 ? ": it sends to the next rank only"
                                   : ": every chunk once, but those that no rank needs from it");
            total += moved;
            want += wanted;
        }
    lab_expect(t, total == want, "%s: %zu bytes in all, expected %zu", what, (size_t)total,
               (size_t)want);
    for (int r = 0; r < c->n && !c->out_of_place && c->what != DO_ONE_SHOT; r++)
        lab_expect(t, w->copied[c->gpu[r]][c->gpu[r]] == 0,
                   "%s: rank %d copied %zu bytes inside GPU %d: in place, the data lies where it "
                   "is to be; a copy onto itself changes nothing and takes its time",
                   what, r, (size_t)w->copied[c->gpu[r]][c->gpu[r]], c->gpu[r]);
    for (int r = 0; r < c->n; r++)
        for (int p = 0; p < c->n && c->what != DO_ONE_SHOT; p++)
            lab_expect(t, p == r || w->kernel_bytes[c->gpu[r]][c->gpu[p]] == 0,
                       "%s: a kernel on GPU %d touched memory of GPU %d: the chunks are copied "
                       "from rank to rank",
                       what, c->gpu[r], c->gpu[p]);
}

/* The host waits once, at the end, in the test itself: with two calls as often as with one. */
static inline void ask_waits(struct lab_test *t, struct ring_call c)
{
    unsigned waits[2];
    char what[160];
    for (int k = 0; k < 2; k++) {
        struct ring_call one = c;
        one.repeats = 1 + k;
        waits[k] = lab_witness(ask_rings(t, &one, 1))->completion_checks;
    }
    say_call(what, sizeof what, &c);
    lab_expect_no_wait(
        t, waits[1] == waits[0],
        "in %s the host waited %d times, expected none: queue everything, and let streams wait for "
        "events",
        what, (int)(waits[1] - waits[0]));
}

/* The same of ring_reduce, by itself: the larger of two is the same again. */
static inline void ask_reduce_waits(struct lab_test *t)
{
    unsigned waits[2];
    for (int k = 0; k < 2; k++) {
        struct reduce_in in = {.calls = 1,
                               .call = {{.count = 1000, .op = RING_MAX, .times = 1 + k}}};
        waits[k] = lab_witness(ask_reduce(t, &in, false))->completion_checks;
    }
    lab_expect(
        t, waits[1] == waits[0],
        "in ring_reduce the host waited %d times, expected none: queue the kernel, and return",
        (int)(waits[1] - waits[0]));
}

/* Microseconds from the start of the first copy between two GPUs to the end of the last operation
 * that began before the samples were taken. */
static inline double span_us(const struct lab_witness *w)
{
    uint64_t first = UINT64_MAX, last = 0;
    for (unsigned i = 0; i < w->record_count; i++) {
        const struct lab_record *r = &w->records[i];
        bool peer = r->kind == LAB_COPY && r->from >= 0 && r->to >= 0 && r->from != r->to;
        if (!peer && r->kind != LAB_KERNEL)
            continue;
        first = r->start_ps < first ? r->start_ps : first;
        last = r->end_ps > last ? r->end_ps : last;
    }
    return last > first ? (double)(last - first) / 1e6 : 0;
}

/* The time is that of all elements: what every way of adding them sends between GPUs, and what
 * kernels read and write. (Few of the results are compared, and a copy within a GPU takes no time
 * of span_us.) */
static inline void expect_all_moved(struct lab_test *t, const struct lab_witness *w,
                                    const struct speed_in *in)
{
    uint64_t sent = 0, added = 0, all = in->count * 4, n = (uint64_t)in->n;
    for (unsigned i = 0; w && i < w->record_count; i++) {
        const struct lab_record *r = &w->records[i];
        bool peer = r->kind == LAB_COPY && r->from >= 0 && r->to >= 0 && r->from != r->to;
        sent += peer ? r->bytes : r->kind == LAB_KERNEL ? r->far_bytes : 0;
        added += r->kind == LAB_KERNEL ? r->bytes : 0;
    }
    lab_expect(t, !w || sent >= 2 * (n - 1) * all,
               "%zu bytes went from one GPU to another, expected %zu: all elements of all ranks",
               (size_t)sent, (size_t)(2 * (n - 1) * all));
    lab_expect(t, !w || added >= (n + 1) * all,
               "kernels read and wrote %zu bytes, expected %zu at least: all elements of all ranks",
               (size_t)added, (size_t)((n + 1) * all));
}

/* A large all-reduce of whole numbers, checked, and the part of the bound that it reached. */
static inline double ask_speed(struct lab_test *t, const char *node, struct speed_in *in,
                               double port_gbs)
{
    int32_t want = 0;
    for (int r = 0; r < in->n; r++) {
        in->gpu[r] = r;
        in->value[r] = 1 + (int)(lab_random(t) % 12);
        want += in->value[r] * 0x01010101;
    }
    lab_env(t, "VGPU_CHECK", "api"); /* 64 MiB a GPU: other cases look for races, with less */
    lab_node(t, node);
    struct lab_run *run = lab_run(t, "speed", in, sizeof *in, sizeof(struct speed_out));
    const struct speed_out *out = lab_output(run);
    lab_expect(t, out->opened == LAB_OK && out->rc == LAB_OK && out->ended == LAB_OK,
               "ring_open returned %s, the all-reduce %s, waiting for it %s", rc_name(out->opened),
               rc_name(out->rc), rc_name(out->ended));
    lab_expect(t, out->captured == LAB_OK,
               "the graph could not be captured or launched (%s): something waited, or used a "
               "stream that does not belong to the ring",
               rc_name(out->captured));
    for (int r = 0; r < in->n; r++)
        for (int i = 0; i < SPEED_SAMPLES; i++)
            lab_expect(t, out->sample[r][i] == want,
                       "rank %d: element %zu of %zu is %#x, expected %#x", r,
                       (size_t)(in->count / SPEED_SAMPLES * (uint64_t)i), (size_t)in->count,
                       (unsigned)out->sample[r][i], (unsigned)want);
    double bytes = 2.0 * (in->n - 1) / in->n * (double)in->count * 4;
    expect_all_moved(t, lab_witness(run), in);
    double us = span_us(lab_witness(run));
    lab_expect(t, us > 0, "nothing was copied between GPUs");
    return bytes / (port_gbs * 1e3) / us;
}

#define MIB_64 ((uint64_t)16 << 20) /* elements of 4 bytes */

/* The pipelined ring as a graph, where a GPU's port carries `port_gbs` in a direction. */
static inline void expect_fast(struct lab_test *t, const char *node, int n, double port_gbs)
{
    struct speed_in in = {.what = DO_PIPELINED, .n = n, .slices = 2, .graph = 1, .count = MIB_64};
    double part = ask_speed(t, node, &in, port_gbs);
    lab_expect(t, LAB_LEAST(t, part, 0.80),
               "64 MiB on %d GPUs of %s, 2 slices, as a graph: %.0f %% of what the ports allow "
               "(2(N-1)/N times 64 MiB at %.0f GB/s), expected at least 80 %%: is a slice sent "
               "while another one is added, on both lanes?",
               n, node, 100 * part, port_gbs);
    lab_expect(t, part <= 1.001, "64 MiB on %s in less time than the ports need: %.0f %%", node,
               100 * part);
}

#endif
