/* SPDX-License-Identifier: MIT
 * work.h: what the GPUs did in lab 04's tests, as the node saw it: a sum that the host has added, a
 * kernel on another GPU and a time that nobody measured do not show in the numbers.
 */
#ifndef LAB04_WORK_H
#define LAB04_WORK_H

#include "numbers.h"

/* Kernels of one GPU: how many, and what they read and write of global memory: every element once,
 * and every partial, and the sum. */
/* Nothing but kernels writes partials and sums: a memset beside them writes a second time. */
static inline void expect_no_memsets(struct lab_test *t, const struct lab_run *run,
                                     const char *what)
{
    const struct lab_witness *w = lab_witness(run);
    for (unsigned i = 0; w && i < w->record_count; i++)
        for (unsigned k = 0; k < w->record_count && w->records[i].kind == LAB_MEMSET; k++)
            lab_expect(
                t, w->records[k].kind != LAB_KERNEL || w->records[k].stream != w->records[i].stream,
                "%s queued a memset of %zu bytes beside its kernel: it queues one kernel, "
                "which sets every result, once",
                what, (size_t)w->records[i].bytes);
}

static inline void expect_kernels(struct lab_test *t, const struct lab_run *run, const char *what,
                                  int gpu, unsigned count, uint64_t bytes)
{
    struct lab_kernels kernels = lab_kernels_within(run, NULL, gpu);
    if (!lab_is_virtual(t))
        return;
    lab_expect(t, kernels.count == count, "%s: %u kernels ran on GPU %d, expected %u", what,
               kernels.count, gpu, count);
    lab_expect(t, kernels.bytes >= bytes,
               "%s: the kernels on GPU %d read and wrote %zu bytes, expected %zu, all elements and "
               "partials: they are added up by that GPU",
               what, gpu, (size_t)kernels.bytes, (size_t)bytes);
    lab_expect(t, kernels.bytes <= bytes,
               "%s: the kernels on GPU %d read and wrote %zu bytes, expected %zu, all elements and "
               "partials: each is read once, and each result is written by one thread, once",
               what, gpu, (size_t)kernels.bytes, (size_t)bytes);
}

/* How the threads of a GPU's blocks have put their sums together: `full` of the `blocks` have
 * elements for all threads. */
static inline void expect_combining(struct lab_test *t, const struct lab_run *run, int32_t which,
                                    int gpu, uint64_t blocks, uint64_t full)
{
    struct lab_kernels k = lab_kernels_within(run, NULL, gpu);
    const uint64_t shuffles = full * SUM_THREADS * 5, shared = full * SUM_THREADS;
    if (!lab_is_virtual(t))
        return;
    lab_expect(
        t, k.atomics == 0,
        "the kernels on GPU %d made %zu atomic additions, expected none: their order, and so "
        "the last bits, differ from run to run",
        gpu, (size_t)k.atomics);
    if (which == BY_WARP) {
        lab_expect(t, k.shuffles >= shuffles,
                   "sum_warp: lanes took part in %zu shuffles on GPU %d, expected %zu or more: in "
                   "each of %zu blocks %d threads, 5 each, put a warp's 32 sums together",
                   (size_t)k.shuffles, gpu, (size_t)shuffles, (size_t)full, SUM_THREADS);
        lab_expect(t, k.barriers <= blocks,
                   "sum_warp: %zu blocks on GPU %d came to %zu barriers, expected one each: the "
                   "threads of a warp need none",
                   (size_t)blocks, gpu, (size_t)k.barriers);
    } else {
        lab_expect(
            t, k.shared_accesses >= shared && k.barriers >= full,
            "sum_shared: the kernels on GPU %d used shared memory %zu times and came to %zu "
            "barriers, expected %zu times and %zu barriers or more: in each of %zu blocks %d "
            "threads put their sums there, and add them up in a tree",
            gpu, (size_t)k.shared_accesses, (size_t)k.barriers, (size_t)shared, (size_t)full,
            (size_t)full, SUM_THREADS);
    }
}

/* A call of one block, each of whose threads has `each` elements. What a thread does besides is the
 * tree: three accesses a round. So many more are allowed as it takes to write it otherwise; where
 * one thread adds up the others' elements or sums, it makes more than these. */
static inline void expect_spread(struct lab_test *t, const struct lab_run *run, const char *what,
                                 uint64_t each)
{
    const uint64_t tree = 3 * 8, most = 2 * (each + tree) + 16;
    struct lab_kernels k = lab_kernels_within(run, NULL, 0);
    if (!lab_is_virtual(t))
        return;
    lab_expect(t, k.threads >= SUM_THREADS, "%s launched %zu threads for one block, expected %d",
               what, (size_t)k.threads, SUM_THREADS);
    lab_expect(
        t, k.busiest <= most,
        "%s: %zu elements for each of %d threads, and one thread made more than %zu accesses "
        "to memory (%zu were seen): each adds up its own elements, and what the block's "
        "threads have is added up in a tree",
        what, (size_t)each, SUM_THREADS, (size_t)most, (size_t)k.busiest);
}

/* One kernel a call on the call's GPU. What the test copies is sealed, so nothing comes to the
 * host, in no way: a kernel could otherwise leave its numbers in memory that both see. */
static inline void expect_block_work(struct lab_test *t, const struct lab_run *run,
                                     const struct block_call *calls, size_t n)
{
    unsigned kernels[2] = {0};
    uint64_t bytes[2] = {0}, blocks[2] = {0}, full[2] = {0};
    for (size_t i = 0; i < n; i++) {
        const struct block_call *c = &calls[i];
        if (bad_block_call(c))
            continue;
        kernels[c->gpu]++;
        bytes[c->gpu] += (c->n + (uint64_t)c->blocks) * sizeof(float);
        blocks[c->gpu] += (uint64_t)c->blocks;
        full[c->gpu] +=
            c->n / SUM_THREADS < (uint64_t)c->blocks ? c->n / SUM_THREADS : (uint64_t)c->blocks;
    }
    const char *what = calls[0].which == BY_WARP ? "sum_warp" : "sum_shared";
    for (int gpu = 0; gpu < 2; gpu++)
        expect_kernels(t, run, what, gpu, kernels[gpu], bytes[gpu]);
    for (int gpu = 0; gpu < 2; gpu++)
        expect_combining(t, run, calls[0].which, gpu, blocks[gpu], full[gpu]);
    expect_no_memsets(t, run, what);
    lab_host_bytes(t, run, what, 0, 0);
    lab_no_host_memory(t, run, what);
}

/* For each part the kernel of sum_start on its GPU; for sum_peer one more, on the root's; partials
 * come to the host for sum_host, for sum_peer the sum. */
static inline void expect_part_work(struct lab_test *t, const struct lab_run *run,
                                    const struct parts_in *in, const char *what)
{
    uint64_t down = 0, repeats = (uint64_t)in->repeats;
    int root_gpu = in->combine == COMBINE_PEER ? in->gpu[in->root] : -1;
    for (int gpu = 0; gpu < LAB_MAX_GPUS; gpu++) {
        unsigned kernels = gpu == root_gpu;
        uint64_t bytes = 0;
        for (int i = 0; i < in->parts; i++) {
            kernels += in->gpu[i] == gpu;
            bytes += in->gpu[i] == gpu ? in->count[i] + (uint64_t)in->blocks[i] : 0;
            bytes += gpu == root_gpu ? (uint64_t)in->blocks[i] : 0;
        }
        bytes = bytes * sizeof(float) + (gpu == root_gpu ? sizeof(double) : 0);
        expect_kernels(t, run, what, gpu, kernels * (unsigned)in->repeats, bytes * repeats);
    }
    for (int i = 0; i < in->parts && in->combine == COMBINE_HOST; i++)
        down += (uint64_t)in->blocks[i] * sizeof(float) * repeats;
    lab_host_bytes(t, run, what, root_gpu < 0 ? down : sizeof(double) * repeats, 0);
}

/* A time that sum_time has measured: the node was asked for it, and meanwhile the kernels of the
 * first `gpus` GPUs, and of no other, went through n elements. */
static inline void expect_timed(struct lab_test *t, const struct lab_run *run, const char *what,
                                double ms, size_t n, int gpus)
{
    const struct lab_record *told = NULL;
    if (!lab_is_virtual(t))
        return;
    while ((told = lab_told(run, ms * 1e-3, told))) {
        uint64_t bytes = 0;
        int busy = 0;
        for (int gpu = 0; gpu < LAB_MAX_GPUS; gpu++) {
            struct lab_kernels kernels = lab_kernels_within(run, told, gpu);
            bytes += kernels.bytes;
            busy += kernels.count > 0 ? 1 : 0;
        }
        if (busy == gpus && bytes >= n * sizeof(float))
            return;
    }
    lab_fail(t, "", 0, "measured",
             "%s: %.4f ms, but the node saw no such time between two events in which %d GPUs went "
             "through %zu elements: measure with sum_time",
             what, ms, gpus, n);
}

#endif
