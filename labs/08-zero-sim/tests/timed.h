/* SPDX-License-Identifier: MIT
 * timed.h: the adapter of the timed task (part of runner.c): gradients are reduced and parameters
 * gathered, once, as in a step of stage 2. All numbers are sealed; the time is the node's: timed.c.
 */
#ifndef LAB08_TIMED_H
#define LAB08_TIMED_H

/* Fp16 numbers from sealed memory to a rank, on its stream, or back. Returns what follows them. */
static const uint16_t *load(const struct zero_run *run, int rank, void *to, const uint16_t *from,
                            uint64_t count)
{
    (void)zero_copy(run, rank, to, from, 2 * count);
    return from + count;
}

static uint16_t *store(const struct zero_run *run, int rank, uint16_t *to, const void *from,
                       uint64_t count)
{
    (void)zero_copy(run, rank, to, from, 2 * count);
    return to + count;
}

static void load_timed(struct zero_run *run, const struct timed_out *out)
{
    const uint16_t *from = lab_sealed_input();
    struct zero_place place = {NULL, NULL};
    for (int r = 0; r < run->ring.n; r++) {
        (void)zero_place(run, r, ZERO_GRAD, 0, &place);
        from = load(run, r, place.whole, from, out->padded);
        (void)zero_place(run, r, ZERO_PARAM, 0, &place);
        from = load(run, r, place.owned, from, out->shard);
    }
    (void)ring_wait(&run->ring);
}

static void store_timed(struct zero_run *run, const struct timed_out *out)
{
    uint16_t *to = lab_sealed_result();
    struct zero_place place = {NULL, NULL};
    for (int r = 0; r < run->ring.n; r++) {
        (void)zero_place(run, r, ZERO_GRAD, 0, &place);
        to = store(run, r, to, place.owned, out->shard);
        (void)zero_place(run, r, ZERO_PARAM, 0, &place);
        to = store(run, r, to, place.whole, out->padded);
    }
    (void)ring_wait(&run->ring);
}

static int reduce_naively(struct zero_run *run, uint64_t padded, uint64_t shard)
{
    struct zero_place place = {NULL, NULL};
    void *whole[RING_RANKS];
    int rc = zero_wholes(run, ZERO_GRAD, 0, whole);
    rc = rc ? rc : ring_all_reduce(&run->ring, whole, whole, padded, RING_FLOAT16, RING_SUM);
    for (int r = 0; r < run->ring.n && !rc; r++) {
        (void)zero_place(run, r, ZERO_GRAD, 0, &place);
        rc = zero_copy(run, r, place.owned, (uint16_t *)whole[r] + shard * (uint64_t)r, 2 * shard);
    }
    return rc;
}

static void capture_timed(struct zero_run *run, const struct timed_in *in, struct timed_out *out,
                          cudaGraphExec_t *graph)
{
    struct zero_op op = {.what = ZERO_REDUCE_SCATTER, .kind = ZERO_KINDS, .bytes = 2 * out->padded};
    out->captured = ring_capture_begin(&run->ring);
    out->reduced = in->naive ? reduce_naively(run, out->padded, out->shard) : zero_reduce(run, &op);
    op.what = ZERO_ALL_GATHER;
    out->gathered = zero_gather(run, &op);
    int ended = ring_capture_end(&run->ring, graph);
    out->captured = out->captured ? out->captured : ended;
}

static void step_timed(struct zero_run *run, const struct timed_in *in, struct timed_out *out)
{
    cudaGraphExec_t graph = NULL;
    capture_timed(run, in, out, &graph);
    for (int round = 0; round < lab_timed_rounds(); round++) {
        load_timed(run, out);
        double began = lab_seconds();
        if (!out->captured)
            out->captured = ring_result(cudaGraphLaunch(graph, run->ring.rank[0].stream));
        out->ended = ring_wait(&run->ring);
        out->seconds = lab_seconds() - began;
    }
    store_timed(run, out);
    if (graph)
        (void)cudaGraphExecDestroy(graph);
}

LAB_RUN(timed)
{
    const struct timed_in *in = lab_input(io, sizeof *in);
    struct timed_out *out = lab_result(io, sizeof *out);
    const struct zero_how how = {.stage = 2, .ranks = in->ranks, .align = 1};
    struct zero_net net = net_of(&in->net);
    struct zero_run run;
    memset(out, 0, sizeof *out);
    if ((out->opened = zero_run_open(&run, &net, &how)))
        return;
    for (int i = 0; i < run.work.schedule.step && !out->started; i++)
        out->started = zero_memory(&run, &run.work.schedule.op[i]);
    out->padded = run.work.layout.unit[0].padded;
    out->shard = run.work.layout.unit[0].shard;
    for (int r = 0; r < in->ranks; r++) {
        (void)cudaSetDevice(run.rank[r].gpu);
        (void)cudaMalloc(&run.rank[r].at[ZERO_BUCKET][0], 2 * out->padded);
    }
    if (!out->started)
        step_timed(&run, in, out);
    zero_run_close(&run);
}

#endif
