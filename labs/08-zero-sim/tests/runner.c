/* SPDX-License-Identifier: MIT
 * runner.c: lab 08's adapters: a question from the verifier, the student's functions, the answer.
 */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"

#include "io.h"

static int all_bytes(const void *what, size_t bytes)
{
    const unsigned char *byte = what;
    while (bytes > 0 && *byte == IO_FILL)
        byte++, bytes--;
    return bytes == 0;
}

static struct zero_model model_of(const struct io_model *m)
{
    return (struct zero_model){.tensor = m->tensor,
                               .tensors = m->tensors,
                               .layers = m->layers,
                               .activation_bytes = m->counted ? m->activation_bytes : NULL};
}

#include "runs.h"
#include "timed.h"

LAB_RUN(shard)
{
    const struct shard_in *in = lab_input(io, sizeof *in);
    struct shard_out *out = lab_result(io, sizeof *out);
    for (int i = 0; i < in->asked; i++) {
        const struct shard_question *q = &in->q[i];
        memset(&out->first[i], IO_FILL, sizeof out->first[i]);
        memset(&out->len[i], IO_FILL, sizeof out->len[i]);
        out->rc[i] =
            zero_shard(q->count, q->n, q->rank, q->align, q->null == 1 ? NULL : &out->first[i],
                       q->null == 2 ? NULL : &out->len[i]);
        out->untouched[i] = all_bytes(&out->first[i], sizeof out->first[i]) &&
                            all_bytes(&out->len[i], sizeof out->len[i]);
    }
}

LAB_RUN(layout)
{
    const struct plan_in *in = lab_input(io, sizeof *in);
    struct layout_out *out = lab_result(io, sizeof *out);
    struct zero_model model = model_of(&in->model);
    struct zero_layout layout, before;
    memset(out, 0, sizeof *out);
    memset(&layout, IO_FILL, sizeof layout);
    layout.unit = in->null == 4 ? NULL : out->unit;
    layout.cap = in->cap ? in->cap : IO_TENSORS;
    before = layout;
    lab_doing("zero_layout(%s, %s, %s)", in->null == 1 ? "NULL" : "&model",
              in->null == 2 ? "NULL" : "&how",
              in->null == 3   ? "NULL"
              : in->null == 4 ? "&layout, whose unit is NULL"
                              : "&layout");
    out->rc = zero_layout(in->null == 1 ? NULL : &model, in->null == 2 ? NULL : &in->how,
                          in->null == 3 ? NULL : &layout);
    out->untouched = memcmp(&layout, &before, sizeof layout) == 0;
    out->layout = layout;
}

LAB_RUN(states)
{
    const struct states_in *in = lab_input(io, sizeof *in);
    struct states_out *out = lab_result(io, sizeof *out);
    for (int i = 0; i < in->asked; i++) {
        struct zero_tensor tensor = {.name = "all", .count = in->q[i].params};
        struct zero_model model = {.tensor = &tensor, .tensors = 1, .layers = 1};
        struct zero_how how = {.stage = in->q[i].stage, .ranks = in->q[i].ranks, .align = 1};
        struct zero_unit unit;
        struct zero_layout layout;
        memset(&layout, 0, sizeof layout);
        layout.unit = &unit;
        layout.cap = 1;
        out->rc[i] = zero_layout(&model, &how, &layout);
        out->bytes[i] = zero_states(&layout);
    }
}

LAB_RUN(ledger)
{
    const struct ledger_in *in = lab_input(io, sizeof *in);
    struct ledger_out *out = lab_result(io, sizeof *out);
    struct zero_ledger ledger = {
        .ranks = in->ranks, .granule_bytes = in->granule_bytes, .limit_bytes = in->limit_bytes};
    for (int i = 0; i < in->asked; i++) {
        const struct ledger_step *s = &in->step[i];
        struct zero_ledger *to = in->null ? NULL : &ledger;
        lab_doing("%s(%s, %d, kind %d, %zu)", s->what == BOOK_DROP ? "ledger_drop" : "ledger_add",
                  in->null ? "NULL" : "&ledger", (int)s->rank, (int)s->kind, (size_t)s->bytes);
        if (s->what == BOOK_LIMIT)
            ledger.limit_bytes = s->bytes;
        else
            out->rc[i] = s->what == BOOK_DROP
                             ? ledger_drop(to, s->rank, (enum zero_kind)s->kind, s->bytes)
                             : ledger_add(to, s->rank, (enum zero_kind)s->kind, s->bytes);
        out->after[i] = ledger;
    }
}

/* Behind the layout's units lies what looks like one. */
static void fill_behind(struct zero_layout *layout)
{
    for (int u = layout->units; u < IO_TENSORS; u++) {
        layout->unit[u] = layout->unit[0];
        layout->unit[u].first_layer = layout->unit[u].last_layer = 0;
    }
}

LAB_RUN(schedule)
{
    const struct plan_in *in = lab_input(io, sizeof *in);
    struct schedule_out *out = lab_result(io, sizeof *out);
    struct zero_model model = model_of(&in->model);
    struct zero_schedule s, before;
    memset(out, 0, sizeof *out);
    memset(&s, IO_FILL, sizeof s);
    out->layout.unit = out->unit;
    out->layout.cap = IO_TENSORS;
    lab_doing("zero_layout(&model, &how, &layout)");
    if ((out->laid_out = zero_layout(&model, &in->how, &out->layout)))
        return;
    fill_behind(&out->layout);
    s.op = in->null == 4 ? NULL : out->op;
    s.cap = in->cap ? in->cap : IO_OPS;
    before = s;
    lab_doing("zero_schedule(%s, %s, %s)", in->null == 1 ? "NULL" : "&model",
              in->null == 2 ? "NULL" : "&layout",
              in->null == 3   ? "NULL"
              : in->null == 4 ? "&s, whose op is NULL"
                              : "&s");
    out->rc = zero_schedule(in->null == 1 ? NULL : &model, in->null == 2 ? NULL : &out->layout,
                            in->null == 3 ? NULL : &s);
    out->untouched = memcmp(&s, &before, sizeof s) == 0;
    out->count = s.count;
    out->step = s.step;
}

LAB_RUN(predict)
{
    const struct predict_in *in = lab_input(io, sizeof *in);
    struct predict_out *out = lab_result(io, sizeof *out);
    struct zero_op *op = malloc(sizeof in->op);
    memset(out, 0, sizeof *out);
    if (!op)
        return;
    memcpy(op, in->op, sizeof in->op);
    struct zero_schedule s = {.op = op, .cap = IO_OPS, .count = in->count, .step = in->step};
    out->ledger = (struct zero_ledger){.ranks = ZERO_MAX_RANKS,
                                       .granule_bytes = in->granule_bytes,
                                       .limit_bytes = in->limit_bytes};
    memset(&out->failed, IO_FILL, sizeof out->failed);
    lab_doing("zero_predict(%s, %s, %d, %s)", in->null == 1 ? "NULL" : "&s",
              in->null == 2 ? "NULL" : "&ledger", in->rank, in->null == 3 ? "NULL" : "&failed");
    out->rc = zero_predict(in->null == 1 ? NULL : &s, in->null == 2 ? NULL : &out->ledger, in->rank,
                           in->null == 3 ? NULL : &out->failed);
    free(op);
}

/* Bytes that malloc has given out; 0 where the C library does not say. */
static uint64_t allocated(void)
{
#if defined __GLIBC_PREREQ && __GLIBC_PREREQ(2, 33)
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
#else
    return 0;
#endif
}

static void ask_fits(const struct fit_in *in, struct fit_out *out)
{
    struct zero_model model = model_of(&in->model);
    for (int i = 0; i < in->asked; i++) {
        const struct fit_question *q = &in->q[i];
        memset(&out->fit[i], IO_FILL, sizeof out->fit[i]);
        lab_doing("zero_fit(%s, %s, %zu, %zu, %s)", q->null == 1 ? "NULL" : "&model",
                  q->null == 2 ? "NULL" : "&how", (size_t)q->granule_bytes, (size_t)q->limit_bytes,
                  q->null == 3 ? "NULL" : "&fit");
        out->rc[i] = zero_fit(q->null == 1 ? NULL : &model, q->null == 2 ? NULL : &in->how,
                              q->granule_bytes, q->limit_bytes, q->null == 3 ? NULL : &out->fit[i]);
        out->untouched[i] = all_bytes(&out->fit[i], sizeof out->fit[i]);
    }
}

LAB_RUN(fit)
{
    const struct fit_in *in = lab_input(io, sizeof *in);
    struct fit_out *out = lab_result(io, sizeof *out);
    for (int i = 0; i < 8; i++) /* malloc keeps some of what is freed, and counts it as in use */
        ask_fits(in, out);
    uint64_t before = allocated();
    ask_fits(in, out);
    out->left_bytes = allocated() - before;
}

LAB_RUNS = {LAB_ENTRY(shard),    LAB_ENTRY(layout),
            LAB_ENTRY(states),   LAB_ENTRY(ledger),
            LAB_ENTRY(schedule), LAB_ENTRY(predict),
            LAB_ENTRY(fit),      LAB_ENTRY(place),
            LAB_ENTRY(memory),   LAB_ENTRY(move),
            LAB_ENTRY(large),    LAB_ENTRY(train),
            LAB_ENTRY(timed),    LAB_END};
