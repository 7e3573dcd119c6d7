/* SPDX-License-Identifier: MIT
 * work.h: what was sent and added in lab 07's tests, and by whom, as the node saw it. The numbers
 * at the end are the same when everybody sends to everybody. The host has none of them: what the
 * tests copy is sealed.
 */
#ifndef LAB07_WORK_H
#define LAB07_WORK_H

#include "common.h"

/* What kernels read is counted of numbers; __half is a structure, whose copies are not. */
static inline bool is_counted(int type)
{
    return type == RING_INT32 || type == RING_FLOAT32;
}

/* A run of one call: its elements are shared out to the threads of the kernel, by any number of
 * blocks and threads above one warp. Each element is two reads and a write. */
static inline void expect_spread(struct lab_test *t, const struct lab_run *run,
                                 const struct reduce_call *c)
{
    const uint64_t threads = c->count < 64 ? c->count : 64, most = 3 * (c->count / 16) + 16;
    struct lab_kernels k = lab_kernels_within(run, NULL, c->gpu);
    lab_expect(t, k.threads >= threads,
               "ring_reduce launched %zu threads for %zu elements, expected %zu at least",
               (size_t)k.threads, (size_t)c->count, (size_t)threads);
    lab_expect(
        t, k.busiest <= most,
        "ring_reduce: one thread made more than %zu accesses to memory for %zu elements: the "
        "threads share them, each takes one and goes on by a grid's stride",
        (size_t)most, (size_t)c->count);
}

/* One kernel a call, on the call's GPU, which reads both arrays. (A largest may be there already.)
 */
static inline void expect_reduce_work(struct lab_test *t, const struct lab_run *run,
                                      const struct reduce_in *in)
{
    uint64_t bytes[LAB_MAX_GPUS] = {0};
    for (size_t i = 0; i < in->calls; i++) {
        const struct reduce_call *c = &in->call[i];
        bool known = c->type >= 0 && c->type <= RING_FLOAT16;
        uint64_t each = known ? type_bytes(c->type) : 4;
        bytes[c->gpu] += bad_reduce(c) || !is_counted(c->type) ? 0 : 2 * c->count * each;
    }
    for (int gpu = 0; gpu < LAB_MAX_GPUS && lab_is_virtual(t); gpu++) {
        struct lab_kernels kernels = lab_kernels_within(run, NULL, gpu);
        lab_expect(t, kernels.bytes >= bytes[gpu],
                   "ring_reduce: kernels on GPU %d read and wrote %zu bytes, expected %zu at "
                   "least: two arrays are read, by the GPU whose they are",
                   gpu, (size_t)kernels.bytes, (size_t)bytes[gpu]);
    }
    if (in->calls == 1 && is_counted(in->call[0].type) && lab_is_virtual(t))
        expect_spread(t, run, &in->call[0]);
    lab_host_bytes(t, run, "ring_reduce", 0, 0);
    lab_no_host_memory(t, run, "ring_reduce");
}

/* Bytes that rank r hands to the next one in a collective. */
static inline uint64_t bytes_handed_on(const struct ring_call *c, int what, int r)
{
    uint64_t each = type_bytes(c->type), all = c->count * each;
    uint64_t own = chunk_len(c->count, c->n, r) * each;
    uint64_t next = chunk_len(c->count, c->n, (r + 1) % c->n) * each;
    if (c->n == 1 || what == DO_ONE_SHOT)
        return 0;
    return what == DO_REDUCE_SCATTER ? all - own
           : what == DO_ALL_GATHER   ? all - next
                                     : 2 * all - own - next;
}

struct ring_work { /* of all calls of a run */
    uint64_t sent[LAB_MAX_GPUS][LAB_MAX_GPUS], read[LAB_MAX_GPUS][LAB_MAX_GPUS];
    bool may_read[LAB_MAX_GPUS][LAB_MAX_GPUS];
    bool pairs; /* who sends to whom is known */
};

static inline void add_moves(struct ring_work *work, const struct ring_call *c, uint64_t runs)
{
    uint64_t each = type_bytes(c->type);
    for (int r = 0; r < c->n && work->pairs && want_of(c) == LAB_OK; r++) {
        int gpu = c->gpu[r], next = c->gpu[(r + 1) % c->n];
        work->sent[gpu][next] += runs * bytes_handed_on(c, c->what, r);
        if (c->then)
            work->sent[gpu][next] += runs * bytes_handed_on(c, c->then, r);
        if (!is_counted(c->type)) {
            for (int p = 0; p < c->n && c->what == DO_ONE_SHOT; p++)
                work->may_read[gpu][c->gpu[p]] = true;
            continue;
        }
        for (int p = 0; p < c->n && c->what == DO_ONE_SHOT; p++)
            work->read[gpu][c->gpu[p]] += runs * c->count * each;
        if (c->what != DO_ONE_SHOT && c->what != DO_ALL_GATHER && c->n > 1) /* it adds n - 1 */
            work->read[gpu][gpu] += runs * (c->count - chunk_len(c->count, c->n, r)) * each;
    }
}

/* Of a graph the ring was used once before, with GUARD elements more (runner.c, run_graph). */
static inline void add_call(struct ring_work *work, const struct ring_call *c)
{
    uint64_t runs = (uint64_t)runs_of(c);
    struct ring_call first = *c;
    work->pairs &= c->what < DO_PICK && !c->by_links && !c->fails && !is_lost(c);
    add_moves(work, c, runs);
    first.count += GUARD;
    first.then = 0;
    if (c->graph)
        add_moves(work, &first, 1);
}

static inline void expect_pair(struct lab_test *t, const struct lab_witness *w,
                               const struct ring_work *work, int from, int to)
{
    uint64_t sent = w->copied[from][to], read = w->kernel_bytes[from][to];
    lab_expect(t, from == to || sent == work->sent[from][to],
               "%zu bytes were copied from GPU %d to GPU %d, expected %zu: a rank sends to the "
               "next one only, each chunk once that is needed there (in one shot, nothing is "
               "sent)",
               (size_t)sent, from, to, (size_t)work->sent[from][to]);
    lab_expect(t, from == to || read == 0 || work->read[from][to] > 0 || work->may_read[from][to],
               "a kernel on GPU %d used memory of GPU %d: the chunks are copied from rank to rank",
               from, to);
    lab_expect(t, read >= work->read[from][to],
               "kernels on GPU %d used %zu bytes of GPU %d, expected %zu at least: what a rank "
               "combines is combined on its GPU",
               from, (size_t)read, to, (size_t)work->read[from][to]);
}

static inline void expect_ring_work(struct lab_test *t, const struct lab_run *run,
                                    const struct rings_in *in)
{
    const struct lab_witness *w = lab_witness(run);
    struct ring_work work = {.pairs = true};
    if (!w)
        return;
    for (size_t i = 0; i < in->calls; i++)
        add_call(&work, &in->call[i]);
    for (int from = 0; from < LAB_MAX_GPUS && work.pairs; from++)
        for (int to = 0; to < LAB_MAX_GPUS; to++)
            expect_pair(t, w, &work, from, to);
    lab_host_bytes(t, run, "the collectives of this test", 0, 0);
    lab_no_host_memory(t, run, "the collectives of this test");
}

#endif
