/* SPDX-License-Identifier: MIT
 * gpt.c: see gpt.h.
 */
#include "gpt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* name, params, layers, hidden, heads, vocab, sequence, batch, kv, ffn, gated, largest layer.
 * GPT-2 XL and 175B: OpenAI's papers. 7B, 13B, 70B: the shapes of Llama 2. 7.5B, 128B and 1T are
 * sizes of ZeRO's paper, which gives no shape for them: ours, the nearest in its Table 4 and in
 * Korthikanti et al.; their number of parameters is the paper's all the same. t5: sizes as
 * DeepSpeed's manual has them, shapes only near. */
static const struct gpt presets[] = {
    {"gpt2-xl", 0, 48, 1600, 25, 50257, 1024, 1, 1600, 6400, 0, 0},
    {"7B", 0, 32, 4096, 32, 32000, 4096, 1, 4096, 11008, 1, 0},
    {"13B", 0, 40, 5120, 40, 32000, 4096, 1, 5120, 13824, 1, 0},
    {"70B", 0, 80, 8192, 64, 32000, 4096, 1, 1024, 28672, 1, 0},
    {"175B", 0, 96, 12288, 96, 50257, 2048, 1, 12288, 49152, 0, 0},
    {"7.5B", 7500000000u, 36, 4096, 32, 50257, 1024, 1, 4096, 16384, 0, 0},
    {"128B", 128000000000u, 100, 10240, 80, 50257, 1024, 1, 10240, 40960, 0, 0},
    {"1T", 1000000000000u, 128, 25600, 160, 51200, 2048, 1, 25600, 102400, 0, 0},
    {"t5-3b", 2851598336u, 48, 1024, 32, 32128, 512, 1, 4096, 16384, 0, 32899072},
    {"t5-3b-cold", 2851000000u, 48, 1024, 32, 32128, 512, 1, 4096, 16384, 0, 32000000},
    {"t5-large", 737668096u, 48, 1024, 16, 32128, 512, 1, 1024, 4096, 0, 32899072},
};

const struct gpt *gpt_preset(int i)
{
    return i >= 0 && i < (int)(sizeof presets / sizeof *presets) ? &presets[i] : NULL;
}

const struct gpt *gpt_find(const char *name)
{
    for (int i = 0; gpt_preset(i); i++)
        if (strcasecmp(presets[i].name, name) == 0)
            return &presets[i];
    return NULL;
}

const char *gpt_check(const struct gpt *g, char *why, int room)
{
    const struct {
        const char *name;
        uint64_t value, most;
    } fields[] = {{"layers", g->layers, 10000},      {"hidden", g->hidden, 1 << 20},
                  {"heads", g->heads, 1 << 16},      {"vocab", g->vocab, 1 << 24},
                  {"seq", g->sequence, 1 << 24},     {"batch", g->batch, 1 << 20},
                  {"ffn", g->ffn, (uint64_t)1 << 22}};
    for (int i = 0; i < (int)(sizeof fields / sizeof *fields); i++) {
        if (fields[i].value >= 1 && fields[i].value <= fields[i].most)
            continue;
        snprintf(why, (size_t)room, "is %llu, expected 1 to %llu",
                 (unsigned long long)fields[i].value, (unsigned long long)fields[i].most);
        return fields[i].name;
    }
    if (g->hidden % g->heads != 0) {
        snprintf(why, (size_t)room, "is %llu, and hidden, %llu, is not a multiple of it",
                 (unsigned long long)g->heads, (unsigned long long)g->hidden);
        return "heads";
    }
    if (g->params > 0 && g->params < 8 * g->layers) {
        snprintf(why, (size_t)room, "is %llu, too few for %llu layers",
                 (unsigned long long)g->params, (unsigned long long)g->layers);
        return "params";
    }
    return NULL;
}

/* ---- tensors ---- */

struct list {
    struct zero_tensor *tensor;
    int count, room, layer;
};

static void add(struct list *l, const char *name, uint64_t count)
{
    if (count == 0 || l->count == l->room)
        return;
    struct zero_tensor *t = &l->tensor[l->count++];
    snprintf(t->name, sizeof t->name, "%.15s.%d", name, l->layer);
    t->count = count;
    t->layer = l->layer;
}

/* A block of a model of which only the size is known: 4 : 8 of twelfths to attention and MLP. */
static void add_even_block(struct list *l, uint64_t params)
{
    uint64_t twelfth = params / 12;
    add(l, "attn.qkv", 3 * twelfth);
    add(l, "attn.out", twelfth);
    add(l, "mlp.up", 4 * twelfth);
    add(l, "mlp.down", params - 8 * twelfth);
}

static void add_block(struct list *l, const struct gpt *g)
{
    uint64_t h = g->hidden;
    add(l, "attn.qkv", h * (h + 2 * g->kv_hidden));
    add(l, "attn.out", h * h);
    add(l, "mlp.up", h * g->ffn);
    add(l, "mlp.gate", g->gated ? h * g->ffn : 0);
    add(l, "mlp.down", g->ffn * h);
    add(l, "norms", g->gated ? 2 * h : 4 * h + h + 2 * g->kv_hidden + h + g->ffn + h);
}

struct zero_tensor *gpt_tensors(const struct gpt *g, int *tensors, int *layers)
{
    struct list l = {.room = (int)g->layers * 6 + 4};
    uint64_t each = g->params / g->layers;
    if (!(l.tensor = calloc((size_t)l.room, sizeof *l.tensor)))
        return NULL;
    if (g->params == 0) {
        add(&l, "embedding", g->vocab * g->hidden);
        add(&l, "positions", g->gated ? 0 : g->sequence * g->hidden);
        l.layer++;
    }
    for (uint64_t i = 0; i < g->layers; i++, l.layer++) {
        if (g->params > 0)
            add_even_block(&l, i + 1 < g->layers ? each : g->params - each * i);
        else
            add_block(&l, g);
    }
    if (g->params == 0) {
        add(&l, "norm", g->gated ? g->hidden : 2 * g->hidden);
        add(&l, "output", g->gated ? g->vocab * g->hidden : 0);
        l.layer++;
    }
    *tensors = l.count;
    *layers = l.layer;
    return l.tensor;
}

uint64_t gpt_params(const struct gpt *g)
{
    uint64_t sum = 0;
    int tensors = 0, layers;
    struct zero_tensor *tensor = gpt_tensors(g, &tensors, &layers);
    for (int i = 0; tensor && i < tensors; i++)
        sum += tensor[i].count;
    free(tensor);
    return sum;
}

/* ---- activations ---- */

double gpt_block_bytes(const struct gpt *g, enum recompute recompute, int tensor, int sequence)
{
    double sbh = (double)g->sequence * (double)g->batch * (double)g->hidden, t = tensor;
    double scores = recompute == RECOMPUTE_NONE
                        ? 5 * (double)g->heads * (double)g->sequence / (double)g->hidden
                        : 0;
    if (recompute == RECOMPUTE_FULL)
        return 2 * sbh;
    if (sequence)
        return sbh * (34 + scores) / t;
    return sbh * (10 + (24 + scores) / t);
}

double gpt_blocks_bytes(const struct gpt *g, enum recompute recompute)
{
    return (double)g->layers * gpt_block_bytes(g, recompute, 1, 0);
}

uint64_t *gpt_activations(const struct gpt *g, enum recompute recompute)
{
    int first = g->params == 0, blocks = (int)g->layers;
    uint64_t *bytes = calloc((size_t)blocks + 2, sizeof *bytes);
    if (!bytes)
        return NULL;
    for (int i = 0; i < blocks; i++)
        bytes[first + i] = (uint64_t)gpt_block_bytes(g, recompute, 1, 0);
    /* The block that is being recomputed has all of its own again; the last one is the worst, since
     * everybody's checkpoints are there still. */
    if (recompute == RECOMPUTE_FULL)
        bytes[first + blocks - 1] += (uint64_t)gpt_block_bytes(g, RECOMPUTE_NONE, 1, 0);
    return bytes;
}
