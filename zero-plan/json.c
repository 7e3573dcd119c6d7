/* SPDX-License-Identifier: MIT
 * json.c: everything that zero-plan knows, as JSON; see show.h. Bytes are whole numbers, times
 * seconds.
 */
#include "show.h"

#include <inttypes.h>
#include <stdio.h>

static void model(const struct plan *p)
{
    const struct gpt *g = &p->asked.model;
    printf("{\"name\": \"%s\", \"params\": %" PRIu64 ", \"layers\": %" PRIu64
           ", \"hidden\": %" PRIu64 ", \"heads\": %" PRIu64 ", \"vocab\": %" PRIu64
           ", \"sequence\": %" PRIu64 ", \"batch\": %" PRIu64 "}",
           g->name, p->params, g->layers, g->hidden, g->heads, g->vocab, g->sequence, g->batch);
}

/* A name may hold what JSON does not allow: it comes from a file. */
static void text(const char *t)
{
    putchar('"');
    for (; *t; t++) {
        if (*t == '"' || *t == '\\')
            putchar('\\');
        if ((unsigned char)*t >= ' ')
            putchar(*t);
    }
    putchar('"');
}

static void machine(const struct plan *p)
{
    const struct machine *m = &p->asked.machine;
    printf("{\"node\": ");
    text(m->name);
    printf(", \"gpu\": ");
    text(m->gpu);
    printf(", \"gpus_a_node\": %d, \"memory_bytes\": %" PRIu64
           ", \"ring_bytes_s\": %.0f, \"step_s\": %.9g, \"pcie_bytes_s\": %.0f, \"flops\": %.0f}",
           m->gpus_a_node, m->memory_bytes, machine_ring_rate(m, p->asked.gpus), m->step_s,
           m->pcie_bytes_s, m->flops);
}

static void stage(const struct stage *s)
{
    static const char *const keys[ZERO_KINDS] = {"parameters", "gradients",  "master",
                                                 "momentum",   "variance",   "gathered",
                                                 "buckets",    "activations"};
    char gb[24];
    show_gb(s->states, gb);
    printf("{\"stage\": %d, \"offload\": %s, \"fits\": %s, \"no_room_for\": ", s->stage,
           s->offload ? "true" : "false", s->fits ? "true" : "false");
    text(s->misses);
    printf(", \"states_bytes\": %" PRIu64 ", \"states_gb\": \"%s\", \"peak_bytes\": %" PRIu64
           ", \"host_bytes\": %" PRIu64 ", \"at_peak\": {",
           s->states, gb, s->peak, s->host);
    for (int k = 0; k < ZERO_KINDS; k++)
        printf("%s\"%s\": %" PRIu64, k ? ", " : "", keys[k], s->at_peak[k]);
    printf("}, \"sent_bytes\": %" PRIu64 ", \"pcie_bytes\": %" PRIu64
           ", \"compute_s\": %.9g, \"communication_s\": %.9g, \"overlapped_s\": %.9g, "
           "\"one_layer_ahead_bytes\": %" PRIu64 "}",
           s->sent, s->bus, s->compute_s, s->comm_s, s->overlapped_s, s->ahead);
}

static void stages(const struct plan *p)
{
    for (int i = 0; i < PLAN_STAGES; i++) {
        printf("%s\n    ", i ? "," : "");
        stage(&p->stage[i]);
    }
}

/* The same model on other numbers of GPUs, for the picture. */
static int sweep(const struct question *q)
{
    struct question other = *q;
    struct plan p;
    for (other.gpus = 1; other.gpus <= 1024; other.gpus *= 4) {
        int rc = plan_make(&other, &p);
        if (rc)
            return rc;
        printf("%s\n    {\"gpus\": %d, \"stages\": [", other.gpus > 1 ? "," : "", other.gpus);
        stages(&p);
        printf("]}");
    }
    return LAB_OK;
}

static void block(const struct options *o)
{
    const struct gpt *g = &o->q.model;
    int t = o->tensor;
    printf(
        "{\"tensor\": %d, \"none\": %.0f, \"tp\": %.0f, \"tp_sp\": %.0f, \"tp_selective\": %.0f, "
        "\"tp_sp_selective\": %.0f, \"full\": %.0f}",
        t, gpt_block_bytes(g, RECOMPUTE_NONE, 1, 0), gpt_block_bytes(g, RECOMPUTE_NONE, t, 0),
        gpt_block_bytes(g, RECOMPUTE_NONE, t, 1), gpt_block_bytes(g, RECOMPUTE_SELECTIVE, t, 0),
        gpt_block_bytes(g, RECOMPUTE_SELECTIVE, t, 1), gpt_block_bytes(g, RECOMPUTE_FULL, t, 0));
}

static void ddp(const struct found *f)
{
    for (int i = 0; i < DDP_ROWS; i++) {
        const struct ddp_row *r = &f->ddp[i];
        printf("%s\n    {\"params\": %.0f, \"bytes\": %.0f, \"source_s\": %.9g, \"bound_s\": %.9g, "
               "\"one_call_s\": %.9g, \"buckets_s\": %.9g}",
               i ? "," : "", r->params, r->bytes, r->source_s, r->bound_s, r->one_call_s,
               r->buckets_s);
    }
}

static void splits(const struct found *f)
{
    for (int i = 0; i < f->splits; i++) {
        const struct split *s = &f->split[i];
        printf("%s\n    {\"data\": %d, \"tensor\": %d, \"pipeline\": %d, \"states_bytes\": %" PRIu64
               ", \"activations_bytes\": %" PRIu64
               ", \"fits\": %s, \"tensor_bytes\": %.0f, \"pipeline_bytes\": %.0f, "
               "\"data_bytes\": %.0f, \"bubble\": %.9g, \"step_s\": %.9g}",
               i ? "," : "", s->data, s->tensor, s->pipeline, s->states, s->activations,
               s->fits ? "true" : "false", s->tensor_bytes, s->pipeline_bytes, s->data_bytes,
               s->bubble, s->step_s);
    }
}

static void like(const struct found *f)
{
    for (int i = 0; i < f->like.rows; i++) {
        const struct like_row *r = &f->like.row[i];
        printf("%s\n    {\"what\": \"%s\", \"value\": %.12g, \"unit\": \"%s\"}", i ? "," : "",
               r->what, r->value, r->unit);
    }
}

int show_json(const struct found *f)
{
    printf("{\n  \"model\": ");
    model(&f->plan);
    printf(",\n  \"machine\": ");
    machine(&f->plan);
    printf(",\n  \"gpus\": %d,\n  \"best\": %d,\n  \"stages\": [", f->plan.asked.gpus,
           f->plan.best);
    stages(&f->plan);
    printf("],\n  \"block_activations_bytes\": ");
    block(f->options);
    printf(",\n  \"activations_bytes\": {\"none\": %.0f, \"selective\": %.0f, \"full\": %.0f}",
           gpt_blocks_bytes(&f->plan.asked.model, RECOMPUTE_NONE),
           gpt_blocks_bytes(&f->plan.asked.model, RECOMPUTE_SELECTIVE),
           gpt_blocks_bytes(&f->plan.asked.model, RECOMPUTE_FULL));
    printf(",\n  \"ddp\": [");
    ddp(f);
    printf("],\n  \"splits\": [");
    splits(f);
    printf("],\n  \"like\": [");
    like(f);
    printf("],\n  \"sweep\": [");
    int rc = sweep(&f->plan.asked);
    printf("]\n}\n");
    return rc;
}
