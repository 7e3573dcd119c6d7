/* SPDX-License-Identifier: MIT
 * fits.h: what lab 08's cases of TODO 5 share: a peak from first principles, and who must fit.
 */
#ifndef LAB08_FITS_H
#define LAB08_FITS_H

#include "common.h"

/* ---- the peak ---- */

static inline uint64_t up(uint64_t bytes, uint64_t granule)
{
    return (bytes + granule - 1) / granule * granule;
}

/* What one unit keeps on a GPU from the first step to the last. */
static inline uint64_t unit_resident(const struct zero_how *how, uint64_t padded, uint64_t shard,
                                     uint64_t granule)
{
    uint64_t states = up(4 * (how->stage >= 1 ? shard : padded), granule);
    return up(2 * (how->stage >= 3 ? shard : padded), granule) +
           up(2 * (how->stage >= 2 ? shard : padded), granule) + (how->offload ? 0 : 3 * states);
}

/* The most that a rank holds: what is resident, and the worst of every layer's forward and
 * backward. */
static inline uint64_t want_peak(const struct io_model *m, const struct zero_how *how,
                                 uint64_t granule)
{
    uint64_t resident = 0, worst = 0, activations = 0, forward[IO_LAYERS] = {0};
    uint64_t backward[IO_LAYERS] = {0};
    for (int first = 0, last; first < m->tensors; first = last + 1) {
        uint64_t count = 0;
        last = want_last(m, how, first);
        for (int i = first; i <= last; i++)
            count += m->tensor[i].count;
        uint64_t shard = how->stage ? want_shard(count, how->ranks, how->align) : count;
        uint64_t padded = how->stage ? shard * (uint64_t)how->ranks : count;
        resident += unit_resident(how, padded, shard, granule);
        for (int l = m->tensor[first].layer; l <= m->tensor[last].layer; l++) {
            forward[l] += how->stage == 3 ? up(2 * padded, granule) : 0;
            backward[l] += how->stage >= 2 ? up(2 * padded, granule) : 0;
        }
    }
    for (int l = 0; l < m->layers; l++) {
        activations += m->counted ? up(m->activation_bytes[l], granule) : 0;
        uint64_t most = activations + forward[l] + backward[l];
        worst = most > worst ? most : worst;
    }
    return resident + worst;
}

/* ---- zero_predict ---- */

static inline void add_op(struct predict_in *in, enum zero_what what, enum zero_kind kind,
                          uint64_t bytes, int host)
{
    in->op[in->count] = (struct zero_op){what, kind, in->count, host, bytes};
    in->count++;
}

/* Some allocations on the GPU and the host, some of them freed again, other work in between. */
static inline struct predict_in any_schedule(struct lab_test *t)
{
    struct predict_in in = {.granule_bytes = 512, .rank = (int)(lab_random(t) % ZERO_MAX_RANKS)};
    for (int i = 0; i < 60; i++) {
        enum zero_kind kind = (enum zero_kind)(lab_random(t) % ZERO_KINDS);
        uint64_t bytes = 1 + lab_random(t) % 5000;
        int host = lab_random(t) % 4 == 0;
        add_op(&in, ZERO_ALLOC, kind, bytes, host);
        add_op(&in, (enum zero_what)(ZERO_FORWARD + lab_random(t) % 5), ZERO_KINDS, 1 << 20, 0);
        if (lab_random(t) % 3)
            add_op(&in, ZERO_FREE, kind, bytes, host);
    }
    return in;
}

/* Walks along until something does not fit: what is held then, and `peak`, what was at most. */
static inline int walk_until_full(const struct predict_in *in, uint64_t *held_then, uint64_t *peak)
{
    uint64_t held = 0;
    *peak = *held_then = 0;
    for (int i = 0; i < in->count; i++) {
        const struct zero_op *op = &in->op[i];
        uint64_t bytes = up(op->bytes, in->granule_bytes);
        if (op->host || (op->what != ZERO_ALLOC && op->what != ZERO_FREE))
            continue;
        if (op->what == ZERO_ALLOC && in->limit_bytes && held + bytes > in->limit_bytes)
            return i;
        held += op->what == ZERO_ALLOC ? bytes : -bytes;
        *held_then = held;
        *peak = held > *peak ? held : *peak;
    }
    return -1;
}

static inline int first_too_large(const struct predict_in *in, uint64_t *peak)
{
    uint64_t held;
    return walk_until_full(in, &held, peak);
}

static inline void check_predicted(struct lab_test *t, const struct predict_in *in)
{
    struct lab_run *run = lab_run(t, "predict", in, sizeof *in, sizeof(struct predict_out));
    const struct predict_out *out = lab_output(run);
    uint64_t held, peak;
    int failed = walk_until_full(in, &held, &peak);
    char call[120];
    snprintf(call, sizeof call, "zero_predict with %" PRIu64 " bytes, rank %d", in->limit_bytes,
             in->rank);
    expect_rc(t, call, out->rc, failed < 0 ? LAB_OK : LAB_ENOMEM);
    lab_expect(t, out->failed == failed,
               "%s: operation %d fails first, expected %d (-1: all of them fit)", call, out->failed,
               failed);
    expect_bytes(t, call, "most[rank]", out->ledger.most[in->rank], peak);
    expect_bytes(t, call, "held[rank], as of that moment,", out->ledger.held[in->rank], held);
    uint64_t now = 0;
    for (int kind = 0; kind < ZERO_KINDS; kind++)
        now += out->ledger.now[in->rank][kind];
    expect_bytes(t, call, "now[rank][], of all kinds together,", now, held);
    for (int r = 0; r < ZERO_MAX_RANKS; r++)
        lab_expect(t, r == in->rank || out->ledger.most[r] == 0, "%s booked for rank %d", call, r);
}

static inline void refuse_predict(struct lab_test *t, const struct predict_in *in, const char *call)
{
    struct lab_run *run = lab_run(t, "predict", in, sizeof *in, sizeof(struct predict_out));
    const struct predict_out *out = lab_output(run);
    expect_rc(t, call, out->rc, LAB_EINVAL);
    lab_expect(t, out->failed == IO_FILL * 0x01010101,
               "%s failed and set *failed to %d all the same: *failed is set only where memory "
               "does not suffice",
               call, out->failed);
}

static inline void check_predict_bad(struct lab_test *t)
{
    struct predict_in in = any_schedule(t);
    for (in.null = 1; in.null <= 3; in.null++)
        refuse_predict(t, &in, "zero_predict with a null pointer");
    in.null = 0;
    in.rank = ZERO_MAX_RANKS;
    refuse_predict(t, &in, "zero_predict for a rank that is not there");
    struct predict_in empty = {.granule_bytes = 512, .null = 2};
    refuse_predict(t, &empty, "zero_predict of no operation without a ledger");
    in.rank = 0;
    add_op(&in, ZERO_FREE, ZERO_MASTER, (uint64_t)1 << 40, 0);
    refuse_predict(t, &in, "zero_predict of a schedule that frees more than there is");
}

/* ---- zero_fit ---- */

/* Limits just below and at every stage's peak; each must get the first that fits. */
static inline void check_fits_of(struct lab_test *t, const struct io_model *m, struct zero_how how,
                                 uint64_t granule)
{
    struct fit_in in = {.model = *m, .how = how};
    uint64_t peak[8];
    for (int i = 0; i < 8; i++) {
        how.stage = i % 4;
        how.offload = i / 4;
        peak[i] = want_peak(m, &how, granule);
        in.q[in.asked++] = (struct fit_question){granule, peak[i] - 1, 0};
        in.q[in.asked++] = (struct fit_question){granule, peak[i], 0};
    }
    struct lab_run *run = lab_run(t, "fit", &in, sizeof in, sizeof(struct fit_out));
    const struct fit_out *out = lab_output(run);
    for (int i = 0; i < in.asked; i++) {
        const struct zero_fit *got = &out->fit[i];
        int want = 0;
        char call[240], what[80];
        while (want < 8 && peak[want] > in.q[i].limit_bytes)
            want++;
        snprintf(what, sizeof what, "zero_fit into %" PRIu64 " bytes", in.q[i].limit_bytes);
        describe(&in.how, what, call, sizeof call);
        expect_rc(t, call, out->rc[i], want < 8 ? LAB_OK : LAB_ENOMEM);
        if (want == 8) {
            lab_expect(t, out->untouched[i], "%s failed and wrote *fit all the same", call);
            continue;
        }
        int gathers = want / 4 * 4 + 3;
        lab_expect(t, got->stage == want % 4 && got->offload == want / 4,
                   "%s chose stage %d %s offload, expected stage %d %s: the first that fits, with "
                   "%" PRIu64 " bytes%s",
                   call, got->stage, got->offload ? "with" : "without", want % 4,
                   want / 4 ? "with it" : "without it", peak[want],
                   peak[gathers] > in.q[i].limit_bytes
                       ? " (stage 3 does not fit: it gathers parameters, and may need more than "
                         "the stages before it)"
                       : "");
        expect_bytes(t, call, "peak_bytes", got->peak_bytes, peak[want]);
    }
    expect_bytes(t, "zero_fit", "what it allocated and did not free (zero_work_close)",
                 out->left_bytes, 0);
}

#endif
