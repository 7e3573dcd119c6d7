/* SPDX-License-Identifier: MIT
 * common.h: what lab 08's public and hidden cases share: models, shards, layouts, tables, ledgers.
 * The schedule's referee is in referee.h.
 */
#ifndef LAB08_COMMON_H
#define LAB08_COMMON_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case.h"

#include "io.h"
#include "tables.h"

#define GB UINT64_C(1000000000)
#define COUNT(array) (int)(sizeof(array) / sizeof(array)[0])

static inline const char *rc_name(int rc)
{
    static const char *const names[] = {"LAB_OK",     "LAB_EINVAL", "LAB_ENOGPU", "LAB_ENOPEER",
                                        "LAB_ENOMEM", "LAB_ECUDA",  "LAB_EPEER",  "LAB_ERANGE"};
    return rc <= 0 && rc > -8 ? names[-rc] : "not a result of lab.h";
}

static inline void expect_rc(struct lab_test *t, const char *call, int got, int want)
{
    lab_expect(t, got == want, "%s returned %d (%s), expected %d (%s)", call, got, rc_name(got),
               want, rc_name(want));
}

static inline void expect_bytes(struct lab_test *t, const char *call, const char *what,
                                uint64_t got, uint64_t want)
{
    lab_expect(t, got == want, "%s: %s is %" PRIu64 ", expected %" PRIu64, call, what, got, want);
}

/* ---- models ---- */

static inline void add_tensor(struct io_model *m, const char *name, uint64_t count, int layer)
{
    struct zero_tensor *tensor = &m->tensor[m->tensors++];
    snprintf(tensor->name, sizeof tensor->name, "%s", name);
    tensor->count = count;
    tensor->layer = layer;
    m->layers = layer + 1;
}

/* The network that the lab trains: 13 inputs, 17 hidden, 5 outputs. */
static inline struct io_model mlp(void)
{
    struct io_model m = {.counted = 1, .activation_bytes = {24 * 17 * 4, 24 * 5 * 4}};
    add_tensor(&m, "fc1.weight", 13 * 17, 0);
    add_tensor(&m, "fc1.bias", 17, 0);
    add_tensor(&m, "fc2.weight", 17 * 5, 1);
    add_tensor(&m, "fc2.bias", 5, 1);
    return m;
}

/* Five layers of primes; the third has nothing for its backward. */
static inline struct io_model primes(void)
{
    static const uint64_t count[] = {1009, 7, 503, 1, 2003, 997, 11, 101, 89, 1999, 2};
    static const int layer[] = {0, 0, 1, 1, 1, 2, 2, 3, 3, 4, 4};
    struct io_model m = {.counted = 1, .activation_bytes = {4000, 30000, 0, 513, 12}};
    for (int i = 0; i < COUNT(count); i++) {
        char name[ZERO_NAME_BYTES];
        snprintf(name, sizeof name, "p%d", i);
        add_tensor(&m, name, count[i], layer[i]);
    }
    return m;
}

static inline struct io_model any_model(struct lab_test *t)
{
    struct io_model m = {.counted = (int)(lab_random(t) % 2)};
    int layers = 1 + (int)(lab_random(t) % 8);
    for (int l = 0; l < layers; l++) {
        m.activation_bytes[l] = lab_random(t) % 3 ? lab_random(t) % 100000 : 0;
        for (int i = (int)(lab_random(t) % 3); i >= 0; i--)
            add_tensor(&m, "t", 1 + lab_random(t) % 3000, l);
    }
    return m;
}

static inline struct zero_how any_how(struct lab_test *t)
{
    return (struct zero_how){.stage = (int)(lab_random(t) % 4),
                             .ranks = 1 + (int)(lab_random(t) % 16),
                             .per_tensor = lab_random(t) % 4 == 0,
                             .offload = lab_random(t) % 3 == 0,
                             .align = 1 + lab_random(t) % 16,
                             .bucket = lab_random(t) % 2 ? lab_random(t) % 4000 : 0};
}

static inline void describe(const struct zero_how *how, const char *what, char *text, size_t room)
{
    snprintf(text, room, "%s (stage %d, %d ranks, align %" PRIu64 ", bucket %" PRIu64 "%s%s)", what,
             how->stage, how->ranks, how->align, how->bucket, how->per_tensor ? ", per tensor" : "",
             how->offload ? ", offload" : "");
}

/* ---- shards ---- */

/* The length of a shard by the contract's words, for counts where nothing can overflow. */
static inline uint64_t want_shard(uint64_t count, int n, uint64_t align)
{
    uint64_t each = count / (uint64_t)n / align * align;
    while (each * (uint64_t)n < count)
        each += align;
    return each;
}

/* Every element is in one of the shards, if those of all ranks were asked for. */
static inline bool is_covered(const struct shard_in *in, const struct shard_out *out, int i)
{
    const struct shard_question *q = &in->q[i];
    int at = i - q->rank;
    uint64_t next = 0;
    if (at < 0 || at + q->n > in->asked)
        return true;
    for (int k = at; k < at + q->n; k++) {
        if (in->q[k].rank != k - at || in->q[k].count != q->count)
            return true;
        if (out->first[k] != next)
            return false;
        next += out->len[k];
    }
    return next == q->count;
}

static inline void check_shards_of(struct lab_test *t, const struct shard_in *in)
{
    struct lab_run *run = lab_run(t, "shard", in, sizeof *in, sizeof(struct shard_out));
    const struct shard_out *out = lab_output(run);
    for (int i = 0; i < in->asked; i++) {
        const struct shard_question *q = &in->q[i];
        uint64_t each = want_shard(q->count, q->n, q->align), first = each * (uint64_t)q->rank;
        char call[120];
        snprintf(call, sizeof call, "zero_shard(%" PRIu64 ", %d, %d, %" PRIu64 ")", q->count, q->n,
                 q->rank, q->align);
        first = first < q->count ? first : q->count;
        uint64_t len = q->count - first < each ? q->count - first : each;
        expect_rc(t, call, out->rc[i], LAB_OK);
        lab_expect_grave(t, is_covered(in, out, i) ? LAB_NOT_GRAVE : LAB_LOST_DATA,
                         out->first[i] == first && out->len[i] == len,
                         "%s gave %" PRIu64 " elements from %" PRIu64 " on, expected %" PRIu64
                         " from %" PRIu64 " on: shards equally long, a multiple of align, %" PRIu64
                         ", filled in the order of the ranks; the last may be short or empty",
                         call, out->len[i], out->first[i], len, first, each);
    }
}

/* ---- layouts ---- */

static inline struct lab_run *ask_layout(struct lab_test *t, const struct plan_in *in)
{
    return lab_run(t, "layout", in, sizeof *in, sizeof(struct layout_out));
}

/* The last tensor of the unit that begins with tensor `first`. */
static inline int want_last(const struct io_model *m, const struct zero_how *how, int first)
{
    uint64_t sum = m->tensor[first].count;
    int last = first;
    while (!how->per_tensor && last + 1 < m->tensors) {
        const struct zero_tensor *next = &m->tensor[last + 1];
        sum += next->count;
        if (how->stage == 3 ? next->layer != m->tensor[first].layer
                            : how->bucket > 0 && sum > how->bucket)
            break;
        last++;
    }
    return last;
}

static inline void check_unit(struct lab_test *t, const char *call, const struct plan_in *in, int u,
                              int first, const struct zero_unit *unit)
{
    const struct io_model *m = &in->model;
    int last = want_last(m, &in->how, first);
    uint64_t count = 0;
    for (int i = first; i <= last; i++)
        count += m->tensor[i].count;
    uint64_t shard = in->how.stage ? want_shard(count, in->how.ranks, in->how.align) : count;
    lab_expect(t, unit->tensor == first && unit->tensors == last - first + 1,
               "%s: unit %d is tensors %d .. %d, expected %d .. %d", call, u, unit->tensor,
               unit->tensor + unit->tensors - 1, first, last);
    lab_expect(
        t, unit->first_layer == m->tensor[first].layer && unit->last_layer == m->tensor[last].layer,
        "%s: unit %d is of layers %d .. %d, expected %d .. %d", call, u, unit->first_layer,
        unit->last_layer, m->tensor[first].layer, m->tensor[last].layer);
    lab_expect(t,
               unit->count == count && unit->shard == shard &&
                   unit->padded == (in->how.stage ? shard * (uint64_t)in->how.ranks : count),
               "%s: unit %d has count %" PRIu64 ", padded %" PRIu64 ", shard %" PRIu64
               "; expected %" PRIu64 " elements, cut in shards of %" PRIu64,
               call, u, unit->count, unit->padded, unit->shard, count, shard);
}

static const char *const kind_names[] = {"PARAM",    "GRAD",     "MASTER", "MOMENTUM",
                                         "VARIANCE", "GATHERED", "BUCKET", "ACTIVATION"};

/* What each kind of it takes on a rank; adds the unit, which check_unit found right, to `want`. */
static inline void check_unit_bytes(struct lab_test *t, const char *call,
                                    const struct zero_how *how, int u, const struct zero_unit *unit,
                                    struct zero_layout *want)
{
    static const int cut_at[] = {3, 2, 1, 1, 1, 9, 9};
    want->params += unit->count;
    want->padded += unit->padded;
    want->shard += unit->shard;
    for (int kind = 0; kind < ZERO_ACTIVATION; kind++) {
        uint64_t size = kind >= ZERO_MASTER && kind <= ZERO_VARIANCE ? 4 : 2;
        uint64_t bytes = size * (how->stage >= cut_at[kind] ? unit->shard : unit->padded);
        char what[60];
        snprintf(what, sizeof what, "unit %d's bytes[ZERO_%s]", u, kind_names[kind]);
        expect_bytes(t, call, what, unit->bytes[kind], bytes);
        if (how->offload && size == 4)
            want->host_bytes += bytes;
        else if (kind <= ZERO_VARIANCE)
            want->bytes[kind] += bytes;
    }
    expect_bytes(t, call, "a unit's bytes[ZERO_ACTIVATION]", unit->bytes[ZERO_ACTIVATION], 0);
}

static inline void check_bytes(struct lab_test *t, const char *call, const struct zero_layout *l,
                               const struct zero_layout *want)
{
    for (int kind = 0; kind < ZERO_KINDS; kind++) {
        char what[60];
        snprintf(what, sizeof what, "bytes[ZERO_%s]", kind_names[kind]);
        expect_bytes(t, call, what, l->bytes[kind], want->bytes[kind]);
    }
    expect_bytes(t, call, "host_bytes", l->host_bytes, want->host_bytes);
    expect_bytes(t, call, "params", l->params, want->params);
    expect_bytes(t, call, "padded", l->padded, want->padded);
    expect_bytes(t, call, "shard", l->shard, want->shard);
}

static inline void check_layout_of(struct lab_test *t, const struct plan_in *in)
{
    struct lab_run *run = ask_layout(t, in);
    const struct layout_out *out = lab_output(run);
    const struct zero_layout *l = &out->layout;
    struct zero_layout want = {.units = 0};
    char call[240];
    int u = 0;
    describe(&in->how, "zero_layout", call, sizeof call);
    expect_rc(t, call, out->rc, LAB_OK);
    for (int i = 0; i < in->model.tensors; i = want_last(&in->model, &in->how, i) + 1, u++) {
        lab_expect(t, u < l->units, "%s made %d units, expected more: one begins with tensor %d",
                   call, l->units, i);
        check_unit(t, call, in, u, i, &out->unit[u]);
        check_unit_bytes(t, call, &in->how, u, &out->unit[u], &want);
    }
    lab_expect(t, l->units == u, "%s made %d units, expected %d", call, l->units, u);
    lab_expect(t, memcmp(&l->how, &in->how, sizeof in->how) == 0, "%s did not keep `how`", call);
    check_bytes(t, call, l, &want);
}

static inline void refuse_layout(struct lab_test *t, const struct plan_in *in, const char *call,
                                 int want)
{
    struct lab_run *run = ask_layout(t, in);
    const struct layout_out *out = lab_output(run);
    expect_rc(t, call, out->rc, want);
    lab_expect(t, out->untouched, "%s failed and changed *layout all the same", call);
}

/* ---- the paper's numbers ---- */

/* GB as Table 1 prints them: see tables.h. */
static inline void mixed_rounding(uint64_t bytes, char *text, size_t room)
{
    uint64_t tenth = GB / 10, hundredth = GB / 100;
    if (bytes >= 100 * GB)
        snprintf(text, room, "%" PRIu64, bytes / GB);
    else if (bytes >= 10 * GB)
        snprintf(text, room, "%.1f", (double)((bytes + tenth / 2) / tenth) / 10);
    else
        snprintf(text, room, "%.2f", (double)((bytes + hundredth / 2) / hundredth) / 100);
    char *point = strchr(text, '.'), *end = text + strlen(text);
    while (point && end > point && (end[-1] == '0' || end[-1] == '.'))
        *--end = '\0';
}

static inline void one_digit(uint64_t bytes, char *text, size_t room)
{
    uint64_t tenths = (bytes + GB / 20) / (GB / 10);
    snprintf(text, room, tenths % 10 ? "%" PRIu64 ".%" PRIu64 : "%" PRIu64, tenths / 10,
             tenths % 10);
}

/* Lays every cell out and prints it as the paper does. */
static inline void check_cells(struct lab_test *t, const char *table, const struct cell *cell,
                               int cells, void (*print)(uint64_t, char *, size_t))
{
    struct states_in in = {.asked = cells};
    for (int i = 0; i < cells; i++)
        in.q[i] = (struct states_question){cell[i].params, cell[i].stage, cell[i].ranks};
    struct lab_run *run = lab_run(t, "states", &in, sizeof in, sizeof(struct states_out));
    const struct states_out *out = lab_output(run);
    for (int i = 0; i < cells; i++) {
        char got[32];
        expect_rc(t, "zero_layout", out->rc[i], LAB_OK);
        print(out->bytes[i], got, sizeof got);
        lab_expect(t, strcmp(got, cell[i].printed) == 0,
                   "%s: %" PRIu64 " parameters, stage %d on %d ranks: %s GB (%" PRIu64
                   " bytes), and the paper prints %s",
                   table, cell[i].params, cell[i].stage, cell[i].ranks, got, out->bytes[i],
                   cell[i].printed);
    }
}

/* ---- the ledger ---- */

/* Keeps its own books and compares after every step. */
static inline void describe_booking(const struct ledger_step *s, int i, const struct zero_ledger *l,
                                    char *text, size_t room)
{
    char limit[40] = "no limit";
    if (l->limit_bytes)
        snprintf(limit, sizeof limit, "limit %" PRIu64, l->limit_bytes);
    snprintf(text, room,
             "step %d: ledger_%s(%s, rank %d, %" PRIu64 " bytes) with %s and granule %" PRIu64, i,
             s->what == BOOK_DROP ? "drop" : "add",
             s->kind <= ZERO_GRAD ? (s->kind ? "gradients" : "parameters") : "another kind",
             s->rank, s->bytes, limit, l->granule_bytes);
}

static inline int want_booked(const struct ledger_step *s, const struct zero_ledger *l,
                              uint64_t bytes)
{
    uint64_t most = l->limit_bytes ? l->limit_bytes : UINT64_MAX, held = l->held[s->rank];
    if (s->what == BOOK_DROP)
        return bytes > l->now[s->rank][s->kind] ? LAB_EINVAL : LAB_OK;
    return held > most || bytes > most - held ? LAB_ENOMEM : LAB_OK;
}

static inline void check_books(struct lab_test *t, const struct ledger_in *in)
{
    struct lab_run *run = lab_run(t, "ledger", in, sizeof *in, sizeof(struct ledger_out));
    const struct ledger_out *out = lab_output(run);
    struct zero_ledger want = {
        .ranks = in->ranks, .granule_bytes = in->granule_bytes, .limit_bytes = in->limit_bytes};
    for (int i = 0; i < in->asked; i++) {
        const struct ledger_step *s = &in->step[i];
        uint64_t g = in->granule_bytes, bytes = (s->bytes - 1) / g * g + g;
        uint64_t *now = &want.now[s->rank][s->kind], *held = &want.held[s->rank];
        const struct zero_ledger *got = &out->after[i];
        char call[160];
        if (s->what == BOOK_LIMIT) {
            want.limit_bytes = s->bytes;
            continue;
        }
        int rc = want_booked(s, &want, bytes);
        describe_booking(s, i, &want, call, sizeof call);
        expect_rc(t, call, out->rc[i], rc);
        if (rc == LAB_OK) {
            *now += s->what == BOOK_DROP ? -bytes : bytes;
            *held += s->what == BOOK_DROP ? -bytes : bytes;
        }
        if (*now > want.peak[s->rank][s->kind])
            want.peak[s->rank][s->kind] = *now;
        if (*held > want.most[s->rank])
            want.most[s->rank] = *held;
        expect_bytes(t, call,
                     rc ? "nothing is booked when it is refused: now[rank][kind]"
                        : "now[rank][kind]",
                     got->now[s->rank][s->kind], *now);
        expect_bytes(t, call, "held[rank]", got->held[s->rank], *held);
        expect_bytes(t, call, "peak[rank][kind] (the most of a kind at one time)",
                     got->peak[s->rank][s->kind], want.peak[s->rank][s->kind]);
        expect_bytes(t, call, "most[rank] (the most of all kinds at one time)", got->most[s->rank],
                     want.most[s->rank]);
        lab_expect(t, memcmp(got, &want, sizeof want) == 0,
                   "%s changed something else: another rank, another kind, a setting", call);
    }
}

static inline void refuse_books(struct lab_test *t, const struct ledger_in *in, const char *what)
{
    struct lab_run *run = lab_run(t, "ledger", in, sizeof *in, sizeof(struct ledger_out));
    const struct ledger_out *out = lab_output(run);
    for (int i = 0; i < in->asked; i++) {
        expect_rc(t, what, out->rc[i], LAB_EINVAL);
        for (int r = 0; r < ZERO_MAX_RANKS; r++)
            lab_expect(t, out->after[i].held[r] == 0, "%s was refused and booked all the same",
                       what);
    }
}

#endif
