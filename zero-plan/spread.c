/* SPDX-License-Identifier: MIT
 * spread.c: see spread.h.
 */
#include "spread.h"

#include <math.h>
#include <stdlib.h>

#define LINE_RATE 450e9 /* one way, of the NVLinks of a Hopper, by data sheet */

void spread_ddp(const struct question *q, struct ddp_row row[DDP_ROWS])
{
    static const double params[DDP_ROWS] = {1e9, 7e9, 70e9};
    struct machine one = q->machine; /* eight of its GPUs in one node */
    one.gpus_a_node = DDP_GPUS;
    for (int i = 0; i < DDP_ROWS; i++) {
        double bytes = 2 * params[i], bucket = (double)q->bucket_bytes;
        double whole = floor(bytes / bucket), rest = bytes - whole * bucket;
        row[i] = (struct ddp_row){.params = params[i], .bytes = bytes};
        row[i].source_s = bytes / LINE_RATE;
        row[i].bound_s = row[i].source_s * 2 * (DDP_GPUS - 1) / DDP_GPUS;
        row[i].one_call_s = machine_ring_s(&one, DDP_GPUS, bytes, 2);
        row[i].buckets_s = whole * machine_ring_s(&one, DDP_GPUS, bucket, 2);
        if (rest > 0)
            row[i].buckets_s += machine_ring_s(&one, DDP_GPUS, rest, 2);
    }
}

/* ---- splits ---- */

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

/* One way and GPU, of a ring of data parallel ranks. They sit t * p GPUs apart: over nodes the
 * rings of a node share its cards. */
static double data_rate(const struct machine *m, const struct split *s, int gpus)
{
    if (gpus <= m->gpus_a_node)
        return m->link_bytes_s;
    double rings = smaller(s->tensor * s->pipeline, m->gpus_a_node);
    double cards = m->net_bytes_s * m->gpus_a_node / rings;
    return m->gpus_a_node > 1 ? smaller(m->link_bytes_s, cards) : cards;
}

/* What is sent. A block's attention and its MLP are all-reduced once each in forward and backward;
 * stages hand activations on and gradients back; gradients are reduced once a step. */
static void traffic(const struct question *q, uint64_t params, double micro, struct split *s)
{
    const struct gpt *g = &q->model;
    double t = s->tensor, d = s->data, layers = (double)g->layers / s->pipeline;
    double activation = 2 * (double)g->sequence * (double)g->hidden;
    s->tensor_bytes = 4 * 2 * (t - 1) / t * activation * layers * micro;
    s->pipeline_bytes = s->pipeline > 1 ? 2 * activation / t * micro : 0;
    s->data_bytes = 2 * (d - 1) / d * 2 * (double)params / (t * s->pipeline);
}

static void times(const struct question *q, uint64_t params, double micro, struct split *s)
{
    const struct machine *m = &q->machine;
    double model = s->tensor * s->pipeline, tokens = micro * (double)q->model.sequence;
    double flops = (q->recompute == RECOMPUTE_FULL ? 8 : 6) * (double)params / model * tokens;
    double hop = model <= m->gpus_a_node ? m->link_bytes_s : m->net_bytes_s;
    double within = flops / m->flops;
    if (s->tensor > 1)
        within += s->tensor_bytes / m->link_bytes_s;
    if (s->pipeline > 1)
        within += s->pipeline_bytes / hop;
    s->bubble = (s->pipeline - 1) / (micro + s->pipeline - 1);
    s->step_s = within / (1 - s->bubble);
    if (s->data > 1)
        s->step_s += s->data_bytes / data_rate(m, s, q->gpus);
}

static void memory(const struct question *q, uint64_t params, double micro, struct split *s)
{
    double model = s->tensor * s->pipeline, own = (double)params / model;
    struct gpt one = q->model;
    one.batch = 1; /* a microbatch is one sequence */
    double blocks = ceil((double)one.layers / s->pipeline), flying = smaller(micro, s->pipeline);
    double kept = gpt_block_bytes(&one, q->recompute, s->tensor, 1);
    s->states = (uint64_t)(4 * own + 12 * own / s->data);
    s->activations = (uint64_t)(kept * blocks * flying);
    if (q->recompute == RECOMPUTE_FULL)
        s->activations += (uint64_t)gpt_block_bytes(&one, RECOMPUTE_NONE, s->tensor, 1);
    s->fits = s->states + s->activations <= q->machine.memory_bytes;
}

static int order(const void *a, const void *b)
{
    const struct split *x = a, *y = b;
    if (x->fits != y->fits)
        return y->fits - x->fits;
    return (x->step_s > y->step_s) - (x->step_s < y->step_s);
}

int spread_splits(const struct question *q, uint64_t params, struct split split[SPLITS_MOST])
{
    int count = 0;
    for (int t = 1; t <= q->machine.gpus_a_node && t <= q->gpus; t *= 2) {
        for (int p = 1; p <= q->gpus / t && (uint64_t)p <= q->model.layers; p *= 2) {
            if (q->gpus % (t * p) != 0 || q->model.heads % (uint64_t)t || count == SPLITS_MOST)
                continue;
            struct split *s = &split[count++];
            /* the same sequences a step as with data parallelism alone */
            double micro = (double)q->model.batch * t * p;
            *s = (struct split){.data = q->gpus / (t * p), .tensor = t, .pipeline = p};
            traffic(q, params, micro, s);
            times(q, params, micro, s);
            memory(q, params, micro, s);
        }
    }
    qsort(split, (size_t)count, sizeof *split, order);
    return count;
}
