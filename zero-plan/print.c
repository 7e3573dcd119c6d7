/* SPDX-License-Identifier: MIT
 * print.c: the tables; see show.h.
 */
#include "show.h"

#include <inttypes.h>
#include <stdio.h>

void show_gb(uint64_t bytes, char text[24])
{
    uint64_t tenths = bytes / 100000000 + (bytes % 100000000 >= 50000000);
    snprintf(text, 24, tenths % 10 ? "%" PRIu64 ".%" PRIu64 : "%" PRIu64, tenths / 10, tenths % 10);
}

static void column(uint64_t bytes, int width)
{
    char text[24];
    show_gb(bytes, text);
    printf("%*s", width, bytes > 0 && bytes < 50000000 ? "<0.1" : text);
}

static void head(const struct plan *p)
{
    static const char *const recompute[] = {"nothing", "attention", "everything"};
    const struct question *q = &p->asked;
    const struct gpt *g = &q->model;
    int nodes = (q->gpus + q->machine.gpus_a_node - 1) / q->machine.gpus_a_node;
    char memory[24];
    show_gb(q->machine.memory_bytes, memory);
    printf("%s: %" PRIu64 " parameters, %" PRIu64 " layers of %" PRIu64 ", %" PRIu64
           " heads, sequence %" PRIu64 ", batch %" PRIu64 " a GPU\n",
           g->name, p->params, g->layers, g->hidden, g->heads, g->sequence, g->batch);
    printf("%d x %s with %s GB for us (%d x %s); the backward recomputes %s\n\n", q->gpus,
           q->machine.gpu, memory, nodes, q->machine.name, recompute[q->recompute]);
}

static void memory_row(const struct stage *s)
{
    uint64_t fp32 = s->at_peak[ZERO_MASTER] + s->at_peak[ZERO_MOMENTUM] + s->at_peak[ZERO_VARIANCE];
    printf("%d%-9s", s->stage, s->offload ? " offload" : "");
    column(s->at_peak[ZERO_PARAM], 10);
    column(s->at_peak[ZERO_GRAD], 11);
    column(fp32, 13);
    column(s->states, 8);
    column(s->at_peak[ZERO_ACTIVATION], 13);
    column(s->at_peak[ZERO_GATHERED] + s->at_peak[ZERO_BUCKET], 9);
    column(s->peak, 8);
    column(s->host, 8);
    printf("  %s%s\n", s->fits ? "fits" : "no room for ", s->misses);
}

static void memory(const struct plan *p)
{
    puts("GB (1e9 bytes) a GPU, at the moment when it holds most; states = the three before\n"
         "stage     parameters  gradients  fp32 states  states  activations  buffers    peak    "
         "host");
    for (int i = 0; i < PLAN_STAGES; i++)
        memory_row(&p->stage[i]);
    if (p->best < 0) {
        puts("\nNothing fits: not even stage 3 with offload.");
        return;
    }
    const struct stage *best = &p->stage[p->best];
    printf("\nThe smallest stage that fits: %d%s\n", best->stage,
           best->offload ? ", with the fp32 states on the host: none fits without" : "");
}

static void step(const struct plan *p)
{
    const struct question *q = &p->asked;
    char ahead[24];
    printf(
        "\nA step: GB sent by a GPU, GB over its PCIe, milliseconds (%.0f TFLOP/s a GPU, ring at "
        "%.1f GB/s,\n%.2f us a hop, buckets of %.0f MB); exposed: what overlapping leaves of "
        "the communication\n",
        q->machine.flops / 1e12, machine_ring_rate(&q->machine, q->gpus) / 1e9,
        q->machine.step_s * 1e6, (double)q->bucket_bytes / 1e6);
    puts("stage       sent    PCIe   computing  communication  one after the other  overlapped  "
         "exposed");
    for (int i = 0; i < PLAN_STAGES; i++) {
        const struct stage *s = &p->stage[i];
        printf("%d%-9s", s->stage, s->offload ? " offload" : "");
        column(s->sent, 6);
        column(s->bus, 8);
        printf("%12.1f%15.1f%21.1f%12.1f%9.1f\n", s->compute_s * 1e3, s->comm_s * 1e3,
               (s->compute_s + s->comm_s) * 1e3, s->overlapped_s * 1e3,
               (s->overlapped_s - s->compute_s) * 1e3);
    }
    show_gb(p->stage[3].ahead, ahead);
    printf("Overlapped, stage 3 gathers one layer ahead and holds %s GB more.\n", ahead);
}

static void activations(const struct options *o)
{
    const struct gpt *g = &o->q.model;
    const double mib = 1 << 20;
    int t = o->tensor;
    printf("\nActivations of one block, MiB a GPU, %d-way tensor parallel (Korthikanti et al.)\n"
           "  all of them %.1f  selective recomputation %.1f  full recomputation %.1f\n"
           "  with sequence parallelism %.1f and %.1f\n",
           t, gpt_block_bytes(g, RECOMPUTE_NONE, t, t == 1) / mib,
           gpt_block_bytes(g, RECOMPUTE_SELECTIVE, t, t == 1) / mib,
           gpt_block_bytes(g, RECOMPUTE_FULL, t, 0) / mib,
           gpt_block_bytes(g, RECOMPUTE_NONE, t, 1) / mib,
           gpt_block_bytes(g, RECOMPUTE_SELECTIVE, t, 1) / mib);
    printf(
        "in all blocks, on one GPU, GB: all %.1f  selective %.1f  full %.1f (and one block's own "
        "%.1f at a time)\n",
        gpt_blocks_bytes(g, RECOMPUTE_NONE) / 1e9, gpt_blocks_bytes(g, RECOMPUTE_SELECTIVE) / 1e9,
        gpt_blocks_bytes(g, RECOMPUTE_FULL) / 1e9, gpt_block_bytes(g, RECOMPUTE_NONE, 1, 0) / 1e9);
}

static void ddp(const struct found *f)
{
    const struct machine *m = &f->plan.asked.machine;
    printf("\nAn all-reduce of all fp16 gradients on %d GPUs, ms\n"
           "parameters      GB  often printed  bound at 450 GB/s  one call  buckets of %.0f MB\n",
           DDP_GPUS, (double)f->plan.asked.bucket_bytes / 1e6);
    for (int i = 0; i < DDP_ROWS; i++) {
        const struct ddp_row *r = &f->ddp[i];
        printf("%8.0f B%9.0f%15.0f%19.1f%10.1f%17.1f\n", r->params / 1e9, r->bytes / 1e9,
               r->source_s * 1e3, r->bound_s * 1e3, r->one_call_s * 1e3, r->buckets_s * 1e3);
    }
    printf(
        "The printed figures are bytes / 450 GB/s: they leave out that a ring sends 2 (N - 1) / N "
        "= 1.75 times\nthe bytes (or count both directions of the links as one). The bound has "
        "that. One call has the %.1f GB/s\nthat copies reach on %s; buckets pay %d hops of %.2f us "
        "each, and may overlap.\n",
        m->link_bytes_s / 1e9, m->name, 2 * (DDP_GPUS - 1), m->step_s * 1e6);
}

static void splits(const struct found *f)
{
    int shown = f->splits < 16 ? f->splits : 16;
    puts("\nData x tensor x pipeline, the same sequences a step, stage 1 over the data parallel "
         "ranks; GB a GPU\n"
         "   d   t   p  states  activations  sent: tensor  pipeline    data  bubble   step ms");
    for (int i = 0; i < shown; i++) {
        const struct split *s = &f->split[i];
        printf("%4d%4d%4d", s->data, s->tensor, s->pipeline);
        column(s->states, 8);
        column(s->activations, 13);
        column((uint64_t)s->tensor_bytes, 14);
        column((uint64_t)s->pipeline_bytes, 10);
        column((uint64_t)s->data_bytes, 8);
        printf("%7.1f%%%10.1f  %s\n", s->bubble * 100, s->step_s * 1e3,
               s->fits ? "fits" : "does not fit");
    }
    if (shown < f->splits)
        printf("and %d more: --json has all of them\n", f->splits - shown);
}

static void like(const struct found *f)
{
    static const char *const whose[] = {"", "ZeRO's paper", "DeepSpeed's estimator",
                                        "ZeRO-Infinity's paper", "ZeRO++"};
    printf("\nLike %s\n", whose[f->options->like]);
    for (int i = 0; i < f->like.rows; i++)
        printf("  %-52s %10.2f %s\n", f->like.row[i].what, f->like.row[i].value,
               f->like.row[i].unit);
    printf("%s\n", f->like.why);
}

void show_text(const struct found *f)
{
    head(&f->plan);
    memory(&f->plan);
    step(&f->plan);
    activations(f->options);
    if (f->options->ddp)
        ddp(f);
    if (f->options->splits)
        splits(f);
    if (f->options->like != LIKE_NONE)
        like(f);
}

void show_presets(void)
{
    puts("model         parameters  layers  hidden  heads   vocab  sequence");
    for (int i = 0; gpt_preset(i); i++) {
        const struct gpt *g = gpt_preset(i);
        printf("%-11s %12" PRIu64 "  %6" PRIu64 "  %6" PRIu64 "  %5" PRIu64 "  %6" PRIu64
               "  %8" PRIu64 "\n",
               g->name, gpt_params(g), g->layers, g->hidden, g->heads, g->vocab, g->sequence);
    }
}
