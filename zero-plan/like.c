/* SPDX-License-Identifier: MIT
 * like.c: see like.h. DeepSpeed's are those of its code (stage_1_and_2.py and stage3.py,
 * estimate_zero*_model_states_mem_needs, at edaa72212), with its truncations, in 2^30 bytes that it
 * prints as "GB".
 */
#include "like.h"

#include <math.h>
#include <stdio.h>

#define GIB 1073741824.0
#define TIB (GIB * 1024)

static void add(struct like_table *t, const char *what, double value, const char *unit)
{
    if (t->rows == LIKE_ROWS)
        return;
    struct like_row *row = &t->row[t->rows++];
    snprintf(row->what, sizeof row->what, "%s", what);
    row->value = value;
    row->unit = unit;
}

/* ---- ZeRO's paper ---- */

double like_largest(int stage, int n, double bytes)
{
    switch (stage) {
    case 0:
        return bytes / 16;
    case 1:
        return bytes / (4 + 12.0 / n);
    case 2:
        return bytes / (2 + 14.0 / n);
    default:
        return bytes / (16.0 / n);
    }
}

static void paper(const struct options *o, const struct plan *plan, struct like_table *t)
{
    static const char *const names[] = {"baseline", "Pos", "Pos+g", "Pos+g+p"};
    char what[64];
    for (int s = 0; s < 4; s++) {
        snprintf(what, sizeof what, "%s, states a GPU", names[s]);
        add(t, what, (double)plan->stage[s].states / 1e9, "GB");
    }
    for (int s = 0; s < 4; s++) {
        snprintf(what, sizeof what, "%s, largest model for this memory", names[s]);
        add(t, what, like_largest(s, o->q.gpus, (double)o->q.machine.memory_bytes) / 1e9, "B");
    }
    t->why =
        "The paper counts 16 bytes a parameter: fp16 parameter and gradient, fp32 master copy, "
        "momentum and\nvariance. DeepSpeed's estimator counts 18 and in 2^30 bytes. Activations "
        "and buffers are in neither.";
}

/* ---- DeepSpeed ---- */

#define CPU_FACTOR 1.5 /* its additional_buffer_factor */

struct estimate {
    double params, largest, total, per_node, nodes;
};

static double most(double a, double b)
{
    return a > b ? a : b;
}

static void stage2(const struct estimate *e, struct like_table *t)
{
    double p = e->params;
    add(t, "stage 2, offload_optimizer=cpu, gpu", 2 * p / GIB, "GiB");
    add(t, "stage 2, offload_optimizer=cpu, cpu", p * most(4 * e->total, 16) * CPU_FACTOR / GIB,
        "GiB");
    add(t, "stage 2, offload_optimizer=none, gpu", (2 * p + floor(18 * p / e->total)) / GIB, "GiB");
    add(t, "stage 2, offload_optimizer=none, cpu", p * 4 * e->per_node * CPU_FACTOR / GIB, "GiB");
}

/* One of stage 3's cases: what lies on the host, and whether the model is built in shards. */
static void stage3(const struct estimate *e, int param_cpu, int opt_cpu, int zero_init,
                   struct like_table *t)
{
    double p = e->params, share = 1 / e->nodes, largest = 4 * e->largest, gpu, cpu;
    double moved = param_cpu ? 18 : 16;
    char what[64];
    if (opt_cpu) {
        gpu = largest + (param_cpu ? 0 : floor(2 * p / e->total));
        cpu = zero_init ? moved * p * share * CPU_FACTOR
                        : p * most(4 * e->per_node, moved * share) * CPU_FACTOR;
    } else {
        gpu = largest + floor(18 * p / e->total);
        cpu = (zero_init ? e->largest : p) * 4 * e->per_node * CPU_FACTOR;
    }
    snprintf(what, sizeof what, "stage 3, param=%s opt=%s zero_init=%d, gpu",
             param_cpu ? "cpu" : "none", opt_cpu ? "cpu" : "none", zero_init);
    add(t, what, gpu / GIB, "GiB");
    snprintf(what, sizeof what, "stage 3, param=%s opt=%s zero_init=%d, cpu",
             param_cpu ? "cpu" : "none", opt_cpu ? "cpu" : "none", zero_init);
    add(t, what, cpu / GIB, "GiB");
}

static uint64_t largest_layer(const struct gpt *g, uint64_t params)
{
    uint64_t block = g->params ? params / g->layers
                               : g->hidden * (2 * g->hidden + 2 * g->kv_hidden) +
                                     (g->gated ? 3 : 2) * g->hidden * g->ffn;
    uint64_t embedding = g->params ? 0 : g->vocab * g->hidden;
    return g->largest_layer ? g->largest_layer : block > embedding ? block : embedding;
}

static void deepspeed(const struct options *o, const struct plan *plan, struct like_table *t)
{
    int a_node = o->q.machine.gpus_a_node < o->q.gpus ? o->q.machine.gpus_a_node : o->q.gpus;
    struct estimate e = {(double)plan->params, (double)largest_layer(&o->q.model, plan->params),
                         o->q.gpus, a_node, ceil((double)o->q.gpus / a_node)};
    stage2(&e, t);
    for (int zero_init = 1; zero_init >= 0; zero_init--) {
        stage3(&e, 1, 1, zero_init, t);
        stage3(&e, 0, 1, zero_init, t);
        stage3(&e, 0, 0, zero_init, t);
    }
    t->why =
        "DeepSpeed's estimator counts 18 bytes a parameter, the paper 16: 4 bytes of fp32 "
        "gradients during\nthe step in place of 2 of fp16. It prints 2^30 bytes as GB, adds the "
        "largest layer in stage 3, and\nhalf as much again on the host. Its manual shows 15.93 "
        "for t5-3b's stage 2 on 8 GPUs, where its code\ngives 11.28: the manual is older.";
}

/* ---- ZeRO-Infinity and ZeRO++ ---- */

static void infinity(const struct options *o, struct like_table *t)
{
    const struct gpt *g = &o->q.model;
    double layers = (double)g->layers, h = (double)g->hidden, heads = (double)g->heads;
    double seq = (double)g->sequence;
    add(t, "parameters, 12 nl hd^2", 12 * layers * h * h / 1e12, "1e12");
    add(t, "model states, 20 bytes each", 240 * layers * h * h / TIB, "TiB");
    add(t, "activation checkpoints of 32 sequences", 2 * 32 * seq * h * layers / TIB, "TiB");
    add(t, "working memory of model states, 16 hd^2", 16 * h * h / GIB, "GiB");
    add(t, "working memory of activations, 4 sequences", 4 * seq * (16 * h + 2 * heads * seq) / GIB,
        "GiB");
    t->why = "ZeRO-Infinity counts 20 bytes a parameter: fp32 gradients beside the paper's 16. It "
             "leaves out\nembeddings, biases and norms.";
}

static void zeropp(struct like_table *t)
{
    const double fp16 = 16, int8 = 8, int4 = 4;
    add(t, "forward all-gather, weights in int8", int8 / fp16, "x M");
    add(t, "backward all-gather, within the node", 0, "x M");
    add(t, "reduce-scatter, gradients in int4", int4 / fp16, "x M");
    add(t, "in all between nodes", (int8 + int4) / fp16, "x M");
    t->why = "M is the model in fp16; stage 3 sends 3 M. ZeRO++ keeps a second copy of the weights "
             "in every node\nfor the backward, which costs memory.";
}

void like_make(const struct options *o, const struct plan *plan, struct like_table *table)
{
    *table = (struct like_table){.rows = 0};
    if (o->like == LIKE_PAPER)
        paper(o, plan, table);
    else if (o->like == LIKE_DEEPSPEED)
        deepspeed(o, plan, table);
    else if (o->like == LIKE_INFINITY)
        infinity(o, table);
    else if (o->like == LIKE_ZEROPP)
        zeropp(table);
}
