/* SPDX-License-Identifier: MIT
 * public_counts.h: lab 08's public cases of what only counts, TODO 1 to 3: shards, layouts, the
 * ledger; included by public.c.
 */
#ifndef LAB08_PUBLIC_COUNTS_H
#define LAB08_PUBLIC_COUNTS_H

#include "common.h"

/* ---- TODO 1 ---- */

static void check_shard(struct lab_test *t)
{
    static const uint64_t counts[] = {0, 1, 3, 4, 5, 8, 328, 1000003};
    for (int n = 1; n <= 5; n += 2) {
        struct shard_in in = {.asked = 0};
        for (int c = 0; c < COUNT(counts); c++)
            for (int rank = 0; rank < n; rank++)
                in.q[in.asked++] = (struct shard_question){counts[c], 1, n, rank, 0};
        check_shards_of(t, &in);
    }
}

/* Counts, shards and alignments that 32 bits do not hold, and the largest there are. */
static void check_shard_large(struct lab_test *t)
{
    static const struct shard_question large[] = {
        {UINT64_C(2) << 32 | 5, UINT64_C(3) << 32, 2, 0, 0},
        {UINT64_C(1) << 32, 1, 3, 0, 0},
        {UINT64_C(4) << 32, 1, 4, 0, 0},
        {UINT64_MAX, 1, 1, 0, 0},
        {UINT64_MAX, 1, 3, 0, 0}, /* a multiple of 3, 5 and 17 */
        {UINT64_MAX, 1, 5, 0, 0},
        {UINT64_MAX - 16, 17, 15, 0, 0},
        {UINT64_MAX - 1, 1, 2, 0, 0}};
    struct shard_in in = {.asked = 0};
    for (int i = 0; i < COUNT(large); i++)
        for (int rank = 0; rank < large[i].n; rank++) {
            in.q[in.asked] = large[i];
            in.q[in.asked++].rank = rank;
        }
    check_shards_of(t, &in);
}

static void check_shard_align(struct lab_test *t)
{
    static const uint64_t counts[] = {0, 1, 16, 17, 63, 64, 65, 328};
    for (uint64_t align = 4; align <= 16; align += 6) {
        struct shard_in in = {.asked = 0};
        for (int c = 0; c < COUNT(counts); c++)
            for (int rank = 0; rank < 4; rank++)
                in.q[in.asked++] = (struct shard_question){counts[c], align, 4, rank, 0};
        check_shards_of(t, &in);
    }
    check_shard_large(t);
}

static void check_shard_bad(struct lab_test *t)
{
    static const int want[] = {LAB_EINVAL, LAB_EINVAL, LAB_EINVAL, LAB_EINVAL, LAB_EINVAL,
                               LAB_EINVAL, LAB_EINVAL, LAB_ERANGE, LAB_ERANGE, LAB_ERANGE,
                               LAB_ERANGE, LAB_ERANGE, LAB_ERANGE, LAB_ERANGE};
    const uint64_t three = UINT64_C(3) << 61; /* the third multiple is 2^64 + 2^61 */
    struct shard_in in = {.asked = COUNT(want),
                          .q = {{10, 1, 0, 0, 0},
                                {10, 1, -1, 0, 0},
                                {10, 1, 4, 4, 0},
                                {10, 1, 4, -1, 0},
                                {10, 0, 4, 0, 0},
                                {10, 1, 4, 0, 1},
                                {10, 1, 4, 0, 2},
                                {UINT64_MAX, 1, 2, 0, 0},
                                {UINT64_MAX - 8, 16, 1, 0, 0},
                                {UINT64_MAX, 7, 1, 0, 0},
                                {1, (UINT64_C(1) << 63) + 2, 2, 0, 0},
                                {UINT64_MAX - (UINT64_C(2) << 32) + 8, three, 1, 0, 0},
                                {UINT64_MAX - (UINT64_C(2) << 32) - 6, three, 1, 0, 0},
                                {UINT64_MAX - (UINT64_C(4) << 32) - 13, three, 2, 0, 0}}};
    struct lab_run *run = lab_run(t, "shard", &in, sizeof in, sizeof(struct shard_out));
    const struct shard_out *out = lab_output(run);
    for (int i = 0; i < in.asked; i++) {
        char call[120];
        snprintf(call, sizeof call, "zero_shard(%" PRIu64 ", %d, %d, %" PRIu64 ")%s", in.q[i].count,
                 in.q[i].n, in.q[i].rank, in.q[i].align,
                 in.q[i].null ? " with a null pointer" : "");
        expect_rc(t, call, out->rc[i], want[i]);
        lab_expect(t, out->untouched[i], "%s failed and wrote its outputs all the same", call);
    }
}

/* ---- TODO 2 ---- */

static void check_layout(struct lab_test *t)
{
    for (int ranks = 1; ranks <= 4; ranks++) {
        for (int stage = 0; stage < 4; stage++) {
            struct plan_in in = {.model = mlp(),
                                 .how = {.stage = stage, .ranks = ranks, .align = 1}};
            check_layout_of(t, &in);
        }
    }
}

/* As many elements as 16 bytes each in a uint64_t allow, cut and not. */
static void check_layout_large(struct lab_test *t)
{
    struct io_model two = {.tensors = 0};
    add_tensor(&two, "first", UINT64_C(1) << 59, 0);
    add_tensor(&two, "second", (UINT64_C(1) << 59) - 1, 0);
    for (int stage = 0; stage < 4; stage += 3) {
        struct plan_in in = {.model = two,
                             .how = {.stage = stage, .ranks = 1, .align = 1, .per_tensor = 1}};
        check_layout_of(t, &in);
    }
}

static void check_layout_units(struct lab_test *t)
{
    static const uint64_t buckets[] = {0, 1, 1016, 2500};
    for (int stage = 0; stage < 4; stage++) {
        for (int i = 0; i < COUNT(buckets); i++) {
            struct plan_in in = {
                .model = primes(),
                .how = {.stage = stage, .ranks = 3, .align = 8, .bucket = buckets[i]}};
            check_layout_of(t, &in);
        }
        struct plan_in in = {.model = primes(),
                             .how = {.stage = stage, .ranks = 8, .align = 2, .per_tensor = 1}};
        check_layout_of(t, &in);
        in.how.offload = 1;
        check_layout_of(t, &in);
    }
    check_layout_large(t);
}

/* Sums that a uint64_t does not hold: of a unit's tensors, of its shards, of all units. */
static void check_layout_overflows(struct lab_test *t)
{
    struct plan_in in = {.model = primes(), .how = {.stage = 0, .ranks = 4, .align = 1}};
    in.model.tensor[0].count = (UINT64_C(1) << 63) - 1;
    in.model.tensor[1].count = 1;
    in.model.tensor[2].count = UINT64_C(1) << 63;
    refuse_layout(t, &in, "zero_layout of one unit of more than 2^64 elements", LAB_ERANGE);
    in.model = primes();
    in.model.tensor[0].count = UINT64_MAX;
    in.how.stage = 1;
    in.how.per_tensor = 1;
    refuse_layout(t, &in, "zero_layout of 11 units, the first of 2^64 - 1 elements", LAB_ERANGE);
    in.model.tensor[0].count = in.model.tensor[1].count = UINT64_C(3) << 58;
    refuse_layout(t, &in, "zero_layout of two units that are 2^60 elements together", LAB_ERANGE);
    in = (struct plan_in){
        .how = {.stage = 1, .ranks = 2, .align = UINT64_C(1) << 58, .per_tensor = 1}};
    add_tensor(&in.model, "first", 1, 0);
    add_tensor(&in.model, "second", 1, 0);
    refuse_layout(t, &in, "zero_layout of two units of 1 element, 2^60 with the padding",
                  LAB_ERANGE);
}

static void check_layout_bad(struct lab_test *t)
{
    struct plan_in good = {.model = primes(), .how = {.stage = 1, .ranks = 4, .align = 1}}, in;
    for (int null = 1; null <= 4; null++) {
        in = good;
        in.null = null;
        refuse_layout(t, &in, "zero_layout with a null pointer", LAB_EINVAL);
    }
    in = good;
    in.how.stage = 4;
    refuse_layout(t, &in, "zero_layout of stage 4", LAB_EINVAL);
    in = good;
    in.how.align = 0;
    refuse_layout(t, &in, "zero_layout with align 0", LAB_EINVAL);
    in = good;
    in.model.tensor[3].layer = 4;
    refuse_layout(t, &in, "zero_layout of layers out of order", LAB_EINVAL);
    in = good;
    in.how.per_tensor = 1;
    in.cap = 10;
    refuse_layout(t, &in, "zero_layout of 11 tensors into 10 units", LAB_ERANGE);
    in = good;
    in.model.tensor[5].count = UINT64_MAX / 16;
    refuse_layout(t, &in, "zero_layout of 2^60 parameters", LAB_ERANGE);
    check_layout_overflows(t);
}

static void check_table1(struct lab_test *t)
{
    check_cells(t, "Table 1", table1, COUNT(table1), mixed_rounding);
}

static void check_figure1(struct lab_test *t)
{
    check_cells(t, "Figure 1", figure1, COUNT(figure1), one_digit);
}

/* ---- TODO 3 ---- */

static void check_ledger(struct lab_test *t)
{
    struct ledger_in in = {.ranks = 3,
                           .granule_bytes = 512,
                           .asked = 10,
                           .step = {{0, 0, ZERO_PARAM, 1000},
                                    {0, 0, ZERO_GRAD, 512},
                                    {0, 2, ZERO_PARAM, 1},
                                    {1, 0, ZERO_PARAM, 1000},
                                    {0, 0, ZERO_BUCKET, 700},
                                    {0, 0, ZERO_PARAM, 600},
                                    {1, 0, ZERO_GRAD, 512},
                                    {1, 0, ZERO_BUCKET, 700},
                                    {0, 0, ZERO_GRAD, 513},
                                    {1, 0, ZERO_MOMENTUM, 512}}};
    check_books(t, &in);
    for (int i = 0; i < in.asked; i++) /* a model of billions of parameters */
        in.step[i].bytes = (in.step[i].bytes << 27) + 1;
    in.granule_bytes = 2 << 20;
    check_books(t, &in);
    in.granule_bytes = 3 << 20; /* no power of two */
    check_books(t, &in);
    struct ledger_in most = {.ranks = 1,
                             .granule_bytes = 512,
                             .asked = 5,
                             .step = {{BOOK_ADD, 0, ZERO_PARAM, UINT64_C(1) << 32},
                                      {BOOK_DROP, 0, ZERO_PARAM, UINT64_C(1) << 32},
                                      {BOOK_ADD, 0, ZERO_PARAM, UINT64_MAX - 511},
                                      {BOOK_ADD, 0, ZERO_GRAD, 1},
                                      {BOOK_DROP, 0, ZERO_PARAM, UINT64_MAX - 511}}};
    check_books(t, &most);
    most.granule_bytes = 1;
    check_books(t, &most);
}

static void check_ledger_limit(struct lab_test *t)
{
    struct ledger_in in = {.ranks = 2,
                           .granule_bytes = 256,
                           .limit_bytes = 1024,
                           .asked = 8,
                           .step = {{0, 1, ZERO_PARAM, 700},
                                    {0, 1, ZERO_GRAD, 257},
                                    {0, 0, ZERO_GRAD, 1025},
                                    {0, 0, ZERO_GRAD, 1024},
                                    {0, 1, ZERO_MASTER, 256},
                                    {0, 1, ZERO_MASTER, 1},
                                    {1, 1, ZERO_PARAM, 700},
                                    {0, 1, ZERO_MASTER, 768}}};
    check_books(t, &in);
    struct ledger_in moved = {.ranks = 2,
                              .granule_bytes = 256,
                              .limit_bytes = 1000, /* no multiple of the granule */
                              .asked = 8,
                              .step = {{BOOK_ADD, 1, ZERO_PARAM, 900},
                                       {BOOK_ADD, 1, ZERO_PARAM, 700},
                                       {BOOK_LIMIT, 0, 0, 500}, /* less than is held */
                                       {BOOK_ADD, 1, ZERO_GRAD, 1},
                                       {BOOK_DROP, 1, ZERO_PARAM, 500},
                                       {BOOK_ADD, 1, ZERO_GRAD, 200},
                                       {BOOK_LIMIT, 0, 0, 512}, /* less than was held once */
                                       {BOOK_ADD, 1, ZERO_GRAD, 200}}};
    check_books(t, &moved);
}

static void check_ledger_bad(struct lab_test *t)
{
    struct ledger_in in = {.ranks = 2,
                           .granule_bytes = 512,
                           .asked = 9,
                           .step = {{0, 2, ZERO_PARAM, 1},
                                    {0, -1, ZERO_PARAM, 1},
                                    {0, 0, ZERO_KINDS, 1},
                                    {0, 0, -1, 1},
                                    {0, 0, ZERO_PARAM, 0},
                                    {1, 0, ZERO_PARAM, 1},
                                    {1, 2, ZERO_PARAM, 1},
                                    {1, 0, ZERO_PARAM, 0},
                                    {0, 0, ZERO_PARAM, UINT64_MAX}}};
    refuse_books(t, &in, "a booking that makes no sense");
    in.null = 1;
    in.step[0].rank = 0;
    refuse_books(t, &in, "a booking without a ledger");
    struct ledger_in none = {
        .ranks = 2, .asked = 2, .step = {{0, 0, ZERO_PARAM, 1}, {1, 0, ZERO_PARAM, 1}}};
    refuse_books(t, &none, "a booking in a ledger without a granule");
    none.granule_bytes = 512;
    none.ranks = ZERO_MAX_RANKS + 1;
    none.step[0].rank = none.step[1].rank = ZERO_MAX_RANKS;
    refuse_books(t, &none, "a booking in a ledger of too many ranks");
}

#endif
