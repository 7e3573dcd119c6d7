/* SPDX-License-Identifier: MIT
 * moves.h: lab 08's cases of single functions of the run: places, memory, what is moved; and of
 * runs that do not fit.
 */
#ifndef LAB08_MOVES_H
#define LAB08_MOVES_H

#include "trains.h"

/* ---- zero_place ---- */

static inline void check_place_answer(struct lab_test *t, const struct place_in *in,
                                      const struct place_out *out, int i)
{
    int rank = in->q[i].rank, unit = in->q[i].unit, grad = in->q[i].kind == ZERO_GRAD;
    const uint64_t(*at)[IO_UNITS] = in->at[rank];
    int apart = in->stage >= (grad ? 2 : 3);
    uint64_t kept = at[in->q[i].kind][unit],
             gathered = at[grad ? ZERO_BUCKET : ZERO_GATHERED][unit];
    uint64_t owned = !apart && in->stage && kept ? kept + 2 * in->shard * (uint64_t)rank : kept;
    char call[160];
    snprintf(call, sizeof call, "zero_place(rank %d, %s, unit %d) in stage %d", rank,
             grad ? "ZERO_GRAD" : "ZERO_PARAM", unit, in->stage);
    expect_rc(t, call, out->rc[i], LAB_OK);
    lab_expect(t, out->whole[i] == (apart ? gathered : kept),
               "%s: whole is %#" PRIx64 ", expected %#" PRIx64 ", %s", call, out->whole[i],
               apart ? gathered : kept,
               apart ? "where it is gathered, or the bucket" : "the allocation of its kind");
    lab_expect(t, out->owned[i] == owned, "%s: owned is %#" PRIx64 ", expected %#" PRIx64, call,
               out->owned[i], owned);
}

static inline void check_places_of(struct lab_test *t, int stage, int ranks, uint64_t shard)
{
    struct place_in in = {.stage = stage, .ranks = ranks, .shard = shard};
    for (int r = 0; r < ranks; r++)
        for (int k = 0; k < ZERO_KINDS; k++)
            for (int u = 0; u < IO_UNITS; u++)
                in.at[r][k][u] = 0x100000u + (uint64_t)((r * ZERO_KINDS + k) * IO_UNITS + u) * 4096;
    in.at[1][ZERO_BUCKET][2] = in.at[1][ZERO_GATHERED][2] = 0; /* not allocated at the moment */
    in.at[2][ZERO_PARAM][3] = in.at[2][ZERO_GRAD][3] = 0;
    for (int r = 0; r < ranks; r++)
        for (int u = 0; u < IO_UNITS; u++)
            for (int kind = ZERO_PARAM; kind <= ZERO_GRAD; kind++) {
                in.q[in.asked].rank = r;
                in.q[in.asked].unit = u;
                in.q[in.asked++].kind = kind;
            }
    int good = in.asked;
    const int bad[][4] = {{ranks, 0, 0, 0},       {-1, 0, 0, 0}, {0, 0, IO_UNITS, 0}, {0, 0, -1, 0},
                          {0, ZERO_MASTER, 0, 0}, {0, 0, 0, 1},  {0, 0, 0, 2}};
    for (int i = 0; i < COUNT(bad); i++, in.asked++) {
        in.q[in.asked].rank = bad[i][0];
        in.q[in.asked].kind = bad[i][1];
        in.q[in.asked].unit = bad[i][2];
        in.q[in.asked].null = bad[i][3];
    }
    struct lab_run *run = lab_run(t, "place", &in, sizeof in, sizeof(struct place_out));
    const struct place_out *out = lab_output(run);
    for (int i = 0; i < good; i++)
        check_place_answer(t, &in, out, i);
    for (int i = good; i < in.asked; i++) {
        expect_rc(t, "zero_place of what makes no sense", out->rc[i], LAB_EINVAL);
        lab_expect(t, out->untouched[i], "zero_place failed and wrote *place all the same");
    }
}

/* ---- zero_memory ---- */

static inline int gpu_of(const struct memory_in *in, int rank, int gpus)
{
    return (in->turned ? (rank + 1) % in->how.ranks : rank) % gpus;
}

/* What was allocated in GPU memory at one time, on each GPU, was the node's to give out, whatever
 * the program says of its pointers. */
static inline void expect_taken(struct lab_test *t, const struct lab_run *run,
                                const struct memory_in *in, const struct memory_out *out)
{
    const struct lab_witness *w = lab_witness(run);
    int gpus = lab_gpus(t);
    for (int i = 0; i < in->asked && w; i++) {
        uint64_t want[LAB_MAX_GPUS] = {0};
        for (int r = 0; r < in->how.ranks && out->rc[i] == LAB_OK && in->op[i].what == ZERO_ALLOC;
             r++)
            want[gpu_of(in, r, gpus)] += in->op[i].host ? 0 : in->op[i].bytes;
        for (int gpu = 0; gpu < gpus; gpu++)
            lab_expect(t, w->peak_asked_bytes[gpu] >= want[gpu],
                       "zero_memory said that it allocated %" PRIu64 " bytes on GPU %d; the node "
                       "gave out %" PRIu64 " there at most",
                       want[gpu], gpu, w->peak_asked_bytes[gpu]);
    }
}

static inline const struct memory_out *ask_memory(struct lab_test *t, const struct memory_in *in)
{
    struct lab_run *run = lab_run(t, "memory", in, sizeof *in, sizeof(struct memory_out));
    const struct memory_out *out = lab_output(run);
    expect_rc(t, "zero_run_open", out->opened, LAB_OK);
    lab_nothing_leaked(t, run);
    expect_taken(t, run, in, out);
    return out;
}

/* Two allocations and their ends, of GPU memory and, with offload, of the host's; on so many GPUs
 * that 3 ranks go around. Rank r's GPU is not r. */
static inline void check_memory_of(struct lab_test *t, int offload, int gpus)
{
    struct memory_in in = {.net = small_net,
                           .how = {.stage = 2, .ranks = 3, .align = 1, .offload = offload},
                           .full = -1,
                           .turned = 1,
                           .asked = 4,
                           .op = {{ZERO_ALLOC, ZERO_GRAD, 0, 0, 1000},
                                  {ZERO_ALLOC, ZERO_MOMENTUM, 0, offload, 600},
                                  {ZERO_FREE, ZERO_GRAD, 0, 0, 1000},
                                  {ZERO_FREE, ZERO_MOMENTUM, 0, offload, 600}}};
    uint64_t held[] = {1024, 1024, 0, 0}, host[] = {0, 0, 0, 0};
    const struct memory_out *out = ask_memory(t, &in);
    host[1] = host[2] = offload ? 1024 : 0;
    held[1] += offload ? 0 : 1024;
    held[2] += offload ? 0 : 1024;
    for (int i = 0; i < in.asked; i++) {
        char call[120];
        snprintf(call, sizeof call, "zero_memory(%s of %s)", i < 2 ? "allocation" : "end",
                 i % 2 ? "momentum" : "gradients");
        expect_rc(t, call, out->rc[i], LAB_OK);
        for (int r = 0; r < in.how.ranks; r++) {
            int want = i >= 2 ? -2 : i == 1 && offload ? -1 : gpu_of(&in, r, gpus);
            lab_expect(t, out->where[i][r] == want,
                       "%s: rank %d's lies %s %d, expected %s %d (-1: pinned, -2: nowhere); "
                       "rank[r].gpu says which GPU is rank r's",
                       call, r, out->where[i][r] < 0 ? "at" : "on GPU", out->where[i][r],
                       want < 0 ? "at" : "on GPU", want);
            lab_expect(t, i >= 2 || out->bytes[i][r] == 0 || out->bytes[i][r] >= in.op[i].bytes,
                       "%s: rank %d's has %" PRIu64 " bytes, expected %" PRIu64, call, r,
                       out->bytes[i][r], in.op[i].bytes);
            expect_bytes(t, call, "the ledger's run->gpu.held[rank]", out->held[i][r], held[i]);
            expect_bytes(t, call, "the ledger's run->host.held[rank]", out->host[i][r], host[i]);
        }
    }
    in.asked = 1;
    for (in.null = 0; in.null < 3; in.null++) {
        in.op[0].what = in.null ? ZERO_ALLOC : ZERO_UPDATE;
        expect_rc(t, "zero_memory of what makes no sense", ask_memory(t, &in)->rc[0], LAB_EINVAL);
    }
}

/* More than 4 GiB a rank. */
static inline void check_memory_large(struct lab_test *t)
{
    const uint64_t bytes = ((uint64_t)5 << 30) + 512;
    struct memory_in in = {.net = small_net,
                           .how = {.stage = 2, .ranks = 2, .align = 1},
                           .full = -1,
                           .asked = 1,
                           .op = {{ZERO_ALLOC, ZERO_GRAD, 0, 0, bytes}}};
    const struct memory_out *out = ask_memory(t, &in);
    expect_rc(t, "zero_memory(5 GiB)", out->rc[0], LAB_OK);
    for (int r = 0; r < in.how.ranks; r++) {
        lab_expect(t, out->bytes[0][r] >= bytes,
                   "zero_memory(5 GiB): rank %d's has %" PRIu64 " bytes, expected %" PRIu64, r,
                   out->bytes[0][r], bytes);
        expect_bytes(t, "zero_memory(5 GiB)", "run->gpu.held[rank]", out->held[0][r], bytes);
    }
}

/* A ledger says no, of GPU memory or of the host's: nothing stays. */
static inline void check_memory_limit(struct lab_test *t, int offload)
{
    struct memory_in in = {.net = small_net,
                           .how = {.stage = 1, .ranks = 3, .align = 1, .offload = offload},
                           .full = -1,
                           .limited = 1,
                           .asked = 2,
                           .op = {{ZERO_ALLOC, ZERO_MASTER, 1, offload, 600 << 10},
                                  {ZERO_ALLOC, ZERO_MASTER, 0, offload, 600 << 10}}};
    const struct memory_out *out = ask_memory(t, &in);
    const char *call = "zero_memory(600 KiB) where rank 1's ledger has no room for it";
    expect_rc(t, "zero_memory(600 KiB) where each ledger has room for it", out->rc[0], LAB_OK);
    expect_rc(t, call, out->rc[1], LAB_ENOMEM);
    for (int r = 0; r < in.how.ranks; r++) {
        lab_expect(t, out->where[1][r] == -2, "%s: rank %d has an allocation all the same", call,
                   r);
        expect_bytes(t, call, "the ledger's run->gpu.held[rank], with another unit's allocation,",
                     out->held[1][r], out->held[0][r]);
        expect_bytes(t, call, "the ledger's run->host.held[rank], with another unit's allocation,",
                     out->host[1][r], out->host[0][r]);
    }
}

/* One GPU is full: nobody has anything afterwards. */
static inline void check_memory_full_of(struct lab_test *t, int full)
{
    struct memory_in in = {.net = small_net,
                           .how = {.stage = 1, .ranks = 3, .align = 1},
                           .full = full,
                           .asked = 1,
                           .op = {{ZERO_ALLOC, ZERO_MASTER, 0, 0, 3 << 20}}};
    const struct memory_out *out = ask_memory(t, &in);
    char call[120];
    snprintf(call, sizeof call, "zero_memory(3 MiB) while GPU %d is full", full);
    expect_rc(t, call, out->rc[0], LAB_ENOMEM);
    for (int r = 0; r < in.how.ranks; r++) {
        lab_expect(t, out->where[0][r] == -2, "%s: rank %d has an allocation all the same", call,
                   r);
        expect_bytes(t, call, "the ledger's run->gpu.held[rank]", out->held[0][r], 0);
    }
}

/* ---- zero_reduce, zero_gather, zero_bus ---- */

/* A whole number from -32 to 31: sums of eight are exact. */
static inline uint16_t small_half(uint64_t bits)
{
    int value = (int)(bits % 64) - 32, size = value < 0 ? -value : value, exponent = 0;
    if (size == 0)
        return 0;
    while (size >> (exponent + 1) != 0)
        exponent++;
    int mantissa = size << (10 - exponent) & 0x3FF;
    return (uint16_t)((value < 0 ? 0x8000 : 0) | (exponent + 15) << 10 | mantissa);
}

static inline const struct moved_halves *seal_moved(struct lab_test *t)
{
    static struct moved_halves data;
    for (int r = 0; r < IO_RANKS; r++)
        for (int i = 0; i < IO_PARAMS; i++)
            data.half[r][i] = small_half(lab_secret(t));
    lab_seal(t, &data, sizeof data, sizeof data);
    return &data;
}

static inline float want_moved(const struct move_in *in, const struct move_out *out,
                               const struct moved_halves *data, int rank, int i)
{
    int shard = (int)out->shard;
    float sum = 0;
    switch (in->moved) {
    case MOVED_REDUCE:
        for (int r = 0; r < in->how.ranks; r++)
            sum += half_value(data->half[r][i + (in->how.stage ? rank * shard : 0)]);
        return sum;
    case MOVED_GATHER:
        return half_value(data->half[i / shard][i % shard]);
    default:
        return io_element(rank, i);
    }
}

/* The first element that is not what it should be: false, if there is one. */
static inline bool moved_right(const struct move_in *in, const struct move_out *out,
                               const struct moved_halves *got, const struct moved_halves *data,
                               int *rank, int *element)
{
    for (*rank = 0; *rank < in->how.ranks; ++*rank)
        for (*element = 0; *element < (int)out->elements; ++*element)
            if (half_value(got->half[*rank][*element]) !=
                want_moved(in, out, data, *rank, *element))
                return false;
    return true;
}

static inline const struct moved_halves *moved_to(const struct lab_run *run,
                                                  const struct move_in *in)
{
    const struct move_out *out = lab_output(run);
    const struct moved_halves *known = (const struct moved_halves *)out->half;
    return io_is_collective(in->moved) ? lab_sealed_output(run) : known;
}

/* What the collectives sent, and that sums were made on GPUs. */
static inline void expect_moved_between(struct lab_test *t, const struct lab_run *run,
                                        const struct move_in *in, const struct move_out *out,
                                        const char *call)
{
    const struct lab_witness *w = lab_witness(run);
    uint64_t strayed, others = (uint64_t)in->how.ranks - 1, times = in->how.stage ? 1 : 2;
    bool collective = io_is_collective(in->moved);
    uint64_t want = collective ? times * 2 * out->padded * others : 0;
    if (!w)
        return;
    expect_bytes(t, call, "between GPUs", between_gpus(w, in->how.ranks, &strayed), want);
    for (int r = 0; r < in->how.ranks && collective; r++)
        expect_bytes(t, call, "to the host", w->copied[r][LAB_HOST], 0);
    for (int r = 0; r < in->how.ranks && in->moved == MOVED_REDUCE; r++)
        lab_expect(t, lab_kernels_within(run, NULL, r).count > 0,
                   "%s: no kernel ran on GPU %d: gradients are added where they lie", call, r);
    uint64_t own = in->moved == MOVED_REDUCE ? in->how.stage >= 2 : in->how.stage == 3;
    for (int r = 0; r < in->how.ranks && collective; r++)
        lab_expect(t, w->copied[r][r] <= own * 2 * out->shard,
                   "%s: rank %d copied %" PRIu64
                   " bytes inside GPU %d: in this stage what is owned "
                   "%s",
                   call, r, w->copied[r][r], r,
                   own ? "has less" : "is a part of the whole, and nothing is copied");
    for (int r = 0; r < in->how.ranks && !collective; r++)
        lab_expect(t,
                   in->moved == MOVED_TO_HOST ? w->copied[r][LAB_HOST] >= 2 * out->shard
                                              : w->copied[LAB_HOST][r] >= 2 * out->shard,
                   "%s: rank %d copied less than its shard over PCIe", call, r);
}

static inline void check_moved(struct lab_test *t, const struct move_in *in)
{
    static const char *const names[] = {"zero_reduce", "zero_gather", "zero_bus, to the host",
                                        "zero_bus, to the GPU"};
    static const char *const places[] = {"owned gradient", "whole parameter", "halves[]",
                                         "owned parameter"};
    static const char *const hints[] = {
        "with the unit's padded elements, chunk r of the ring is shard r",
        "each rank's shard is copied to its own place in the whole first",
        "the owned gradients go down, `shard` of them", "the owned parameters come back"};
    const struct moved_halves *data = seal_moved(t);
    struct lab_run *run = lab_run(t, "move", in, sizeof *in, sizeof(struct move_out));
    const struct move_out *out = lab_output(run);
    int r, i;
    char call[240];
    describe(&in->how, names[in->moved], call, sizeof call);
    expect_rc(t, "zero_run_open", out->opened, LAB_OK);
    expect_rc(t, "zero_run_start", out->started, LAB_OK);
    expect_rc(t, call, out->rc, LAB_OK);
    lab_expect_no_wait(
        t, out->busy || !lab_is_virtual(t), /* loading a kernel may wait on real GPUs */
        "%s: rank 0's stream was idle right after it: the function waited for the GPU, and "
        "is to queue its work",
        call);
    if (!moved_right(in, out, moved_to(run, in), data, &r, &i)) {
        lab_is_grave(t, LAB_LOST_DATA);
        lab_fail(t, __FILE__, __LINE__, "moved", "%s: rank %d's %s %d is %g, expected %g (%s)",
                 call, r, places[in->moved], i, half_value(moved_to(run, in)->half[r][i]),
                 want_moved(in, out, data, r, i), hints[in->moved]);
    }
    expect_rc(t, "zero_reduce, zero_gather or zero_bus without a run", out->null_rc[0], LAB_EINVAL);
    expect_rc(t, "zero_reduce, zero_gather or zero_bus without an operation", out->null_rc[1],
              LAB_EINVAL);
    expect_rc(t, "zero_reduce, zero_gather or zero_bus of another operation", out->wrong_rc,
              LAB_EINVAL);
    expect_rc(t, "zero_reduce, zero_gather or zero_bus of a unit that is not there", out->unit_rc,
              LAB_EINVAL);
    expect_rc(t, "zero_bus without offload", out->bus_rc, LAB_EINVAL);
    expect_moved_between(t, run, in, out, call);
    lab_nothing_leaked(t, run);
}

/* ---- memory that is not enough ---- */

#define CHUNK ((uint64_t)2 << 20)

/* Every allocation of this network takes whole chunks of 2 MiB, as large ones do on hardware: what
 * is free before the first one decides, to the chunk, which of them fails. One sample: how much is
 * computed does not matter here. */
static inline void check_full(struct lab_test *t, int stage)
{
    struct train_in in = {.net = {2, 270000, 2, 1, 3},
                          .how = {.stage = stage, .ranks = 1, .align = 1},
                          .granule_bytes = CHUNK,
                          .steps = 1};
    int seen = -1, different = 0;
    for (uint64_t room = 1; room <= 40; room += 3) {
        in.room_bytes = room * CHUNK;
        const struct train_out *out = ask_train(t, &in, NULL);
        int rc = out->started ? out->started : out->rc[0];
        char call[240];
        describe(&in.how, "a step", call, sizeof call);
        expect_rc(t, "zero_run_open", out->opened, LAB_OK);
        expect_rc(t, "zero_run_start and zero_step, by zero_predict", rc, out->predicted);
        lab_expect(
            t, out->failed == out->predicted_op,
            "%s with %" PRIu64 " MiB: operation %d failed (%s), expected %d (%s), as predicted",
            call, in.room_bytes >> 20, out->failed, out->name[1], out->predicted_op, out->name[0]);
        lab_expect(t, strcmp(out->name[0], out->name[1]) == 0, "%s: %s failed, %s was predicted",
                   call, out->name[1], out->name[0]);
        lab_expect(t, out->steps == (rc == LAB_OK),
                   "%s with %" PRIu64 " MiB: run->steps is %d after a step that %s, expected %d",
                   call, in.room_bytes >> 20, out->steps, rc ? "failed" : "did not fail",
                   rc == LAB_OK);
        different += out->failed != seen;
        seen = out->failed;
        if (rc == LAB_OK)
            break;
    }
    lab_expect(
        t, seen == -1 && different > 2,
        "stage %d: expected some sizes that fail at different tensors and one that fits, saw "
        "%d, last operation %d",
        stage, different, seen);
}

/* ---- offload ---- */

static inline void check_offloaded(struct lab_test *t, struct train_in in,
                                   const struct train_out *want)
{
    const struct lab_witness *w, *without;
    const struct train_out *out = must_train(t, &in, &w);
    uint64_t moved = (uint64_t)in.steps * 4 * out->shard; /* both ways, each rank */
    char call[240];
    describe(&in.how, "four steps", call, sizeof call);
    check_first_step(t, &in, out);
    check_same(t, &in, out, want);
    check_held(t, &in, out, w);
    uint64_t most = out->most[0], host = out->host_most[0];
    lab_expect(t, host >= 12 * out->shard && host < 12 * out->shard + 3 * IO_UNITS * 512,
               "%s: %" PRIu64 " bytes pinned a rank, expected %" PRIu64, call, host,
               12 * out->shard);
    uint64_t with_ps = w->now_ps;
    in.how.offload = 0;
    out = must_train(t, &in, &without);
    lab_expect(t, most < out->most[0],
               "%s: a GPU held %" PRIu64 " bytes at most, %" PRIu64 " without offload", call, most,
               out->most[0]);
    /* 55 GB/s is the most that the node's PCIe carries. */
    lab_expect(t, (double)(with_ps - without->now_ps) > (double)moved / 55e9 * 1e12,
               "%s took %.1f us, %.1f without offload: what crosses PCIe costs time", call,
               (double)with_ps / 1e6, (double)without->now_ps / 1e6);
}

#endif
