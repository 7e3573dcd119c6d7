/* SPDX-License-Identifier: MIT
 * runs.h: lab 08's adapters of the run; included by runner.c.
 */
#ifndef LAB08_RUNS_H
#define LAB08_RUNS_H

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cuda.h>

#include "../run.h"

#include "io_run.h"

static struct zero_net net_of(const struct io_net *n)
{
    return (struct zero_net){n->inputs, n->hidden, n->outputs, n->batch, n->seed};
}

LAB_RUN(place)
{
    const struct place_in *in = lab_input(io, sizeof *in);
    struct place_out *out = lab_result(io, sizeof *out);
    struct zero_unit unit[IO_UNITS];
    struct zero_run run;
    memset(&run, 0, sizeof run);
    memset(unit, 0, sizeof unit);
    run.ring.n = in->ranks;
    run.work.layout.how = (struct zero_how){.stage = in->stage, .ranks = in->ranks, .align = 1};
    run.work.layout.unit = unit;
    run.work.layout.units = IO_UNITS;
    for (int u = 0; u < IO_UNITS; u++) {
        unit[u].shard = in->shard;
        for (int r = 0; r < in->ranks; r++)
            for (int k = 0; k < ZERO_KINDS; k++)
                run.rank[r].at[k][u] = (void *)(uintptr_t)in->at[r][k][u];
    }
    for (int i = 0; i < in->asked; i++) {
        struct zero_place place;
        memset(&place, IO_FILL, sizeof place);
        out->rc[i] = zero_place(in->q[i].null == 1 ? NULL : &run, in->q[i].rank,
                                (enum zero_kind)in->q[i].kind, in->q[i].unit,
                                in->q[i].null == 2 ? NULL : &place);
        out->untouched[i] = all_bytes(&place, sizeof place);
        out->whole[i] = (uint64_t)(uintptr_t)place.whole;
        out->owned[i] = (uint64_t)(uintptr_t)place.owned;
    }
}

/* ---- memory ---- */

static int where_is(const void *at)
{
    struct cudaPointerAttributes found;
    if (!at)
        return -2;
    if (cudaPointerGetAttributes(&found, at) != cudaSuccess)
        return -3;
    return found.type == cudaMemoryTypeDevice ? found.device
           : found.type == cudaMemoryTypeHost ? -1
                                              : -3;
}

/* Found by the runtime, not by the linker: libcuda.so.1 comes with a GPU's driver, and most tests
 * of this lab need no GPU. */
static CUresult address_range(CUdeviceptr *base, size_t *bytes, CUdeviceptr at)
{
    CUresult (*call)(CUdeviceptr *, size_t *, CUdeviceptr) = NULL;
    void *found = NULL;
    enum cudaDriverEntryPointQueryResult status;
#if CUDART_VERSION >= 12050
    (void)cudaGetDriverEntryPointByVersion("cuMemGetAddressRange", &found, 12000, cudaEnableDefault,
                                           &status);
#else
    (void)cudaGetDriverEntryPoint("cuMemGetAddressRange", &found, cudaEnableDefault, &status);
#endif
    memcpy(&call, &found, sizeof call);
    return call ? call(base, bytes, at) : CUDA_ERROR_NOT_FOUND;
}

static uint64_t size_of(const void *at)
{
    CUdeviceptr base;
    size_t bytes = 0;
    if (where_is(at) >= 0 && address_range(&base, &bytes, (CUdeviceptr)at) != CUDA_SUCCESS)
        bytes = 0;
    return bytes;
}

/* Leaves 1 MiB of room in both ledgers of a rank. */
static void limit(struct zero_run *run, int rank)
{
    const uint64_t most = (uint64_t)1 << 30, room = (uint64_t)1 << 20;
    struct zero_ledger *ledgers[] = {&run->gpu, &run->host};
    for (int i = 0; i < 2; i++) {
        ledgers[i]->limit_bytes = ledgers[i]->held[rank] + most;
        (void)ledger_add(ledgers[i], rank, ZERO_ACTIVATION, most - room);
    }
}

/* Takes all memory of a GPU but `leave` bytes: those in front, where the next allocations go. */
static void *ballast(int gpu, uint64_t leave)
{
    size_t there = 0, total = 0;
    void *taken = NULL, *front = NULL;
    (void)cudaSetDevice(gpu);
    if (leave > 0)
        (void)cudaMalloc(&front, leave);
    if (cudaMemGetInfo(&there, &total) == cudaSuccess && there > 0)
        (void)cudaMalloc(&taken, there);
    (void)cudaFree(front);
    return taken;
}

/* The run keeps its rings; rank[r].gpu alone says where rank r's memory is to be. */
static void turn(struct zero_run *run)
{
    int first = run->rank[0].gpu;
    for (int r = 0; r + 1 < run->ring.n; r++)
        run->rank[r].gpu = run->rank[r + 1].gpu;
    run->rank[run->ring.n - 1].gpu = first;
}

LAB_RUN(memory)
{
    const struct memory_in *in = lab_input(io, sizeof *in);
    struct memory_out *out = lab_result(io, sizeof *out);
    struct zero_net net = net_of(&in->net);
    struct zero_run run;
    memset(out, 0, sizeof *out);
    if ((out->opened = zero_run_open(&run, &net, &in->how)))
        return;
    void *taken = in->full >= 0 ? ballast(in->full, 0) : NULL;
    if (in->limited)
        limit(&run, in->limited);
    if (in->turned)
        turn(&run);
    for (int i = 0; i < in->asked; i++) {
        const struct zero_op *op = &in->op[i];
        out->rc[i] = zero_memory(in->null == 1 ? NULL : &run, in->null == 2 ? NULL : op);
        for (int r = 0; r < in->how.ranks; r++) {
            const void *at = run.rank[r].at[op->kind % ZERO_KINDS][op->index % IO_UNITS];
            out->where[i][r] = where_is(at);
            out->bytes[i][r] = size_of(at);
            out->held[i][r] = run.gpu.held[r];
            out->host[i][r] = run.host.held[r];
        }
    }
    (void)cudaFree(taken);
    zero_run_close(&run);
}

/* ---- moving ---- */

static void write_known(struct zero_run *run, int rank, void *to, uint64_t first, uint64_t count)
{
    float value[IO_PARAMS];
    uint16_t half[IO_PARAMS];
    for (uint64_t i = 0; i < count; i++)
        value[i] = io_element(rank, (int)(first + i));
    zero_halves(value, half, count);
    (void)cudaSetDevice(run->rank[rank].gpu);
    if (to)
        (void)cudaMemcpy(to, half, 2 * count, cudaMemcpyDefault);
    (void)cudaDeviceSynchronize();
}

static void write_sealed(const struct zero_run *run, int rank, void *to, uint64_t count)
{
    const struct moved_halves *data = lab_sealed_input();
    (void)cudaSetDevice(run->rank[rank].gpu);
    if (to)
        (void)cudaMemcpy(to, data->half[rank], 2 * count, cudaMemcpyDefault);
    (void)cudaDeviceSynchronize();
}

/* What the operation needs besides what is resident, and known numbers where it reads. */
static void prepare_move(struct zero_run *run, const struct move_in *in, uint64_t shard,
                         uint64_t padded)
{
    int grads = in->moved == MOVED_REDUCE || in->moved == MOVED_TO_HOST;
    for (int r = 0; r < run->ring.n; r++) {
        struct zero_rank *me = &run->rank[r];
        struct zero_place place = {NULL, NULL};
        (void)cudaSetDevice(me->gpu);
        (void)cudaMalloc(&me->at[ZERO_BUCKET][in->unit], 2 * padded);
        (void)cudaMalloc(&me->at[ZERO_GATHERED][in->unit], 2 * padded);
        (void)zero_place(run, r, grads ? ZERO_GRAD : ZERO_PARAM, in->unit, &place);
        if (in->moved == MOVED_REDUCE)
            write_sealed(run, r, place.whole, padded);
        else if (in->moved == MOVED_TO_GPU)
            write_known(run, r, me->halves[in->unit], 0, shard);
        else if (in->moved == MOVED_GATHER)
            write_sealed(run, r, place.owned, shard);
        else
            write_known(run, r, place.owned, 0, shard);
    }
}

static void read_moved(struct zero_run *run, const struct move_in *in, struct move_out *out)
{
    struct moved_halves *sealed = lab_sealed_result();
    for (int r = 0; r < run->ring.n; r++) {
        struct zero_place place = {NULL, NULL};
        const void *from;
        (void)zero_place(run, r, in->moved == MOVED_REDUCE ? ZERO_GRAD : ZERO_PARAM, in->unit,
                         &place);
        from = in->moved == MOVED_GATHER    ? place.whole
               : in->moved == MOVED_TO_HOST ? run->rank[r].halves[in->unit]
                                            : place.owned;
        void *to = io_is_collective(in->moved) ? sealed->half[r] : out->half[r];
        if (from)
            (void)cudaMemcpy(to, from, 2 * out->elements, cudaMemcpyDefault);
    }
}

static int move(struct zero_run *run, int moved, const struct zero_op *op)
{
    return moved == MOVED_REDUCE   ? zero_reduce(run, op)
           : moved == MOVED_GATHER ? zero_gather(run, op)
                                   : zero_bus(run, op);
}

/* Keeps a stream busy until a function that queues its work has come back, at most 1 s: a
 * function that waits for it is not kept longer. (On a busy machine queueing takes more than 50 ms
 * now and then.) */
static void CUDART_CB take_long(void *came_back)
{
    for (int ms = 0; ms < 1000 && !atomic_load((atomic_int *)came_back); ms++)
        (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

LAB_RUN(move)
{
    static const enum zero_what what[] = {ZERO_REDUCE_SCATTER, ZERO_ALL_GATHER, ZERO_TO_HOST,
                                          ZERO_TO_GPU};
    const struct move_in *in = lab_input(io, sizeof *in);
    struct move_out *out = lab_result(io, sizeof *out);
    struct zero_net net = net_of(&in->net);
    struct zero_run run;
    memset(out, 0, sizeof *out);
    if ((out->opened = zero_run_open(&run, &net, &in->how)))
        return;
    if (!(out->started = zero_run_start(&run))) {
        const struct zero_unit *unit = &run.work.layout.unit[in->unit];
        struct zero_op op = {.what = what[in->moved], .kind = ZERO_KINDS, .index = in->unit};
        if (in->moved == MOVED_REDUCE && in->how.stage == 0)
            op.what = ZERO_ALL_REDUCE;
        op.bytes = 2 * (in->moved >= MOVED_TO_HOST ? unit->shard : unit->padded);
        out->padded = unit->padded;
        out->shard = unit->shard;
        out->elements = in->moved == MOVED_GATHER ? unit->padded : unit->shard;
        prepare_move(&run, in, unit->shard, unit->padded);
        out->null_rc[0] = move(NULL, in->moved, &op);
        out->null_rc[1] = move(&run, in->moved, NULL);
        struct zero_op wrong = op;
        wrong.what = ZERO_FORWARD;
        out->wrong_rc = move(&run, in->moved, &wrong);
        wrong = op;
        wrong.index = run.work.layout.units;
        out->unit_rc = move(&run, in->moved, &wrong);
        wrong =
            (struct zero_op){.what = ZERO_TO_HOST, .kind = ZERO_KINDS, .bytes = 2 * unit->shard};
        out->bus_rc = in->how.offload ? LAB_EINVAL : zero_bus(&run, &wrong);
        static atomic_int came_back;
        atomic_store(&came_back, 0);
        (void)cudaLaunchHostFunc(run.ring.rank[0].stream, take_long, &came_back);
        out->rc = move(&run, in->moved, &op);
        out->busy = cudaStreamQuery(run.ring.rank[0].stream) == cudaErrorNotReady;
        atomic_store(&came_back, 1);
        (void)ring_wait(&run.ring);
        read_moved(&run, in, out);
    }
    zero_run_close(&run);
}

/* ---- sizes that 32 bits do not hold ---- */

#define SMALL_BYTES 4096

static struct large_out *watching; /* NULL: the lab's functions do what they are for */
static enum zero_kind watched_kind;

/* What the file with the tasks calls in the place of these (WATCHED in solutions/CMakeLists.txt).
 */
int lab_watched_zero_copy(const struct zero_run *run, int rank, void *to, const void *from,
                          uint64_t bytes);
int lab_watched_ring_reduce_scatter(struct ring *ring, void *const *buf, size_t count,
                                    enum ring_type type, enum ring_op op);
int lab_watched_ring_all_gather(struct ring *ring, void *const *buf, size_t count,
                                enum ring_type type);

int lab_watched_zero_copy(const struct zero_run *run, int rank, void *to, const void *from,
                          uint64_t bytes)
{
    void *whole[RING_RANKS] = {0};
    if (!watching)
        return zero_copy(run, rank, to, from, bytes);
    int i = watching->copies++;
    (void)zero_wholes(run, watched_kind, 0, whole);
    if (i >= LARGE_COPIES || rank < 0 || rank >= run->ring.n)
        return LAB_OK;
    const void *side = watched_kind == ZERO_GRAD ? from : to;
    watching->rank[i] = rank;
    watching->bytes[i] = bytes;
    watching->at[i] = (int64_t)((intptr_t)side - (intptr_t)whole[rank]);
    return LAB_OK;
}

int lab_watched_ring_reduce_scatter(struct ring *ring, void *const *buf, size_t count,
                                    enum ring_type type, enum ring_op op)
{
    return watching ? LAB_OK : ring_reduce_scatter(ring, buf, count, type, op);
}

int lab_watched_ring_all_gather(struct ring *ring, void *const *buf, size_t count,
                                enum ring_type type)
{
    return watching ? LAB_OK : ring_all_gather(ring, buf, count, type);
}

static void free_large(struct zero_run *run)
{
    for (int r = 0; r < run->ring.n; r++)
        for (int k = 0; k < ZERO_KINDS; k++)
            (void)cudaFree(run->rank[r].at[k][0]);
}

/* One unit whose memory is small: a copy of what it says there is must be refused. */
LAB_RUN(large)
{
    static const int kinds[] = {ZERO_PARAM, ZERO_GRAD, ZERO_GATHERED, ZERO_BUCKET};
    const struct large_in *in = lab_input(io, sizeof *in);
    struct large_out *out = lab_result(io, sizeof *out);
    struct zero_run run;
    int gpu[RING_RANKS] = {0}, gpus = 1;
    struct zero_unit unit = {.shard = LARGE_SHARD};
    struct zero_op op = {.what = ZERO_ALL_GATHER, .kind = ZERO_KINDS};
    memset(&run, 0, sizeof run);
    unit.count = unit.padded = unit.shard * (uint64_t)in->ranks;
    if (in->moved == MOVED_REDUCE)
        op.what = in->stage ? ZERO_REDUCE_SCATTER : ZERO_ALL_REDUCE;
    op.bytes = 2 * unit.padded;
    (void)cudaGetDeviceCount(&gpus);
    for (int r = 0; r < in->ranks; r++)
        gpu[r] = run.rank[r].gpu = r % gpus;
    if ((out->opened = ring_open(&run.ring, gpu, in->ranks, SMALL_BYTES)))
        return;
    run.ring.inbox_bytes = op.bytes; /* or the ring would refuse the size */
    run.work.layout = (struct zero_layout){.unit = &unit, .cap = 1, .units = 1};
    run.work.layout.how = (struct zero_how){.stage = in->stage, .ranks = in->ranks, .align = 1};
    for (int r = 0; r < in->ranks; r++) {
        (void)cudaSetDevice(gpu[r]);
        for (int k = 0; k < 4; k++)
            (void)cudaMalloc(&run.rank[r].at[kinds[k]][0], SMALL_BYTES);
    }
    out->copies = 0;
    watched_kind = in->moved == MOVED_REDUCE ? ZERO_GRAD : ZERO_PARAM;
    watching = in->watched ? out : NULL;
    out->rc = move(&run, in->moved, &op);
    watching = NULL;
    (void)ring_wait(&run.ring);
    free_large(&run);
    ring_close(&run.ring);
}

/* ---- training ---- */

static void predict_it(struct zero_run *run, const struct train_in *in, struct train_out *out)
{
    struct zero_ledger ledger = {.ranks = run->gpu.ranks,
                                 .granule_bytes = run->gpu.granule_bytes,
                                 .limit_bytes = in->room_bytes};
    out->predicted_op = -1;
    out->predicted = zero_predict(&run->work.schedule, &ledger, 0, &out->predicted_op);
}

static void name_op(const struct zero_run *run, int op, char name[96])
{
    if (op >= 0 && op < run->work.schedule.count)
        zero_op_name(&run->model, &run->work.layout, &run->work.schedule.op[op], name, 96);
}

/* In stages 0 to 2 every rank has all parameters: do they agree with their owners'? */
static int differs(struct zero_run *run, const struct train_out *out)
{
    uint16_t theirs[IO_PARAMS];
    for (int r = 0; r < run->ring.n && run->work.layout.how.stage < 3; r++) {
        uint64_t at = 0;
        for (int u = 0; u < run->work.layout.units; u++) {
            uint64_t count = run->work.layout.unit[u].count;
            (void)cudaMemcpy(theirs, run->rank[r].at[ZERO_PARAM][u], 2 * count, cudaMemcpyDefault);
            if (memcmp(theirs, out->param + at, 2 * count) != 0)
                return r;
            at += count;
        }
    }
    return -1;
}

static void train(struct zero_run *run, const struct train_in *in, struct train_out *out)
{
    int small = out->params <= IO_PARAMS;
    for (int i = 0; i < in->steps; i++) {
        if ((out->rc[i] = zero_step(run)))
            return;
        (void)zero_run_loss(run, &out->loss[i]);
        if (i == 0 && small) {
            (void)zero_run_read(run, ZERO_GRAD, out->first_gradient);
            (void)zero_run_read(run, ZERO_MASTER, out->first_master);
        }
    }
    if (!small)
        return;
    (void)zero_run_read(run, ZERO_PARAM, out->param);
    (void)zero_run_read(run, ZERO_MASTER, out->master);
    out->rank_differs = differs(run, out);
}

static void report(const struct zero_run *run, struct train_out *out)
{
    out->steps = run->steps;
    out->failed = run->failed;
    name_op(run, out->predicted_op, out->name[0]);
    name_op(run, run->failed, out->name[1]);
    for (int r = 0; r < run->ring.n; r++) {
        out->most[r] = run->gpu.most[r];
        out->held[r] = run->gpu.held[r];
        out->host_most[r] = run->host.most[r];
        out->host_held[r] = run->host.held[r];
        memcpy(out->resident[r], run->gpu.now[r], sizeof out->resident[r]);
    }
}

LAB_RUN(train)
{
    const struct train_in *in = lab_input(io, sizeof *in);
    struct train_out *out = lab_result(io, sizeof *out);
    struct zero_net net = net_of(&in->net);
    void *taken[IO_RANKS] = {NULL};
    struct zero_run run;
    memset(out, 0, sizeof *out);
    out->rank_differs = -1;
    if ((out->opened = zero_run_open(in->null == 1 ? NULL : &run, in->null == 2 ? NULL : &net,
                                     in->null == 3 ? NULL : &in->how)))
        return;
    if (in->granule_bytes)
        run.gpu.granule_bytes = run.host.granule_bytes = in->granule_bytes;
    out->params = run.work.layout.params;
    out->padded = run.work.layout.padded;
    out->shard = run.work.layout.shard;
    out->others = run.others_bytes;
    out->sent = zero_traffic(&run.work.schedule, run.ring.n);
    predict_it(&run, in, out);
    for (int r = 0; r < run.ring.n && in->room_bytes; r++)
        taken[r] = ballast(run.rank[r].gpu, in->room_bytes);
    if (!(out->started = zero_run_start(&run)))
        train(&run, in, out);
    out->null_rc = zero_step(NULL);
    report(&run, out);
    for (int r = 0; r < IO_RANKS; r++)
        (void)cudaFree(taken[r]);
    zero_run_close(&run);
    out->closed_rc = zero_step(&run);
}

#endif
