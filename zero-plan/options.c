/* SPDX-License-Identifier: MIT
 * options.c: see options.h.
 */
#include "options.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char options_help[] =
    "usage: zero-plan MODEL [options]\n"
    "\n"
    "Where the memory goes when MODEL is trained with ZeRO's stages, whether it fits, what a step\n"
    "sends, and how long that takes.\n"
    "\n"
    "MODEL is a preset (zero-plan --list) or `custom` with --layers, --hidden, --heads, --vocab.\n"
    "  --gpus N            GPUs in all (default: those of the node)\n"
    "  --node NODE         node description: a name as hgx-h200-4 (the default), or a file\n"
    "  --per-node N        GPUs of a node, where it is not what the description has\n"
    "  --memory GB         memory of a GPU in 1e9 bytes, likewise\n"
    "  --layers, --hidden, --heads, --vocab, --ffn, --seq, --batch N   the model's shape; batch "
    "is\n"
    "                      sequences a GPU and step (1)\n"
    "  --params N          parameters, spread evenly over the layers\n"
    "  --recompute WHAT    of activations: none, selective, full (the default)\n"
    "  --bucket MB         of gradients that are sent at once, 1e6 bytes (25)\n"
    "  --align N           elements of which a shard is a multiple (1)\n"
    "  --between GB/s      of a GPU to other nodes, one way (50)\n"
    "  --tflops N          what a GPU sustains (400)\n"
    "  --tensor N          tensor parallelism, for activations a block (1)\n"
    "  --ddp               how long an all-reduce of 1, 7 and 70 B gradients takes on 8 GPUs\n"
    "  --splits            data x tensor x pipeline parallel: memory, traffic, bubble\n"
    "  --like WHOM         the numbers of others: paper, deepspeed, infinity, zero++\n"
    "  --json              all of it as JSON (zero-picture draws it)\n"
    "  --list              the presets\n"
    "\n"
    "exit status: 0 something fits, 1 nothing does, 2 wrong use\n";

struct given { /* what the command line says, before a preset is known */
    const char *model, *node, *recompute, *like;
    double gpus, per_node, memory_gb, layers, hidden, heads, vocab, ffn, seq, batch, params;
    double bucket_mb, align, between_gbs, tflops, tensor;
};

struct number {
    const char *name;
    double *to, least, most;
    int whole;
};

/* Takes --NAME's value. 1: it is one of them; 0: none; -1: a complaint. */
static int take_number(const struct number *numbers, const char *name, const char *text,
                       char *error, int room)
{
    for (const struct number *n = numbers; n->name; n++) {
        char *end;
        if (strcmp(name, n->name) != 0)
            continue;
        double value = text ? strtod(text, &end) : 0;
        if (!text || end == text || *end || !(value >= n->least && value <= n->most) ||
            (n->whole && value != floor(value))) {
            snprintf(error, (size_t)room, "--%s is \"%s\", expected a %snumber from %.15g to %.15g",
                     n->name, text ? text : "", n->whole ? "whole " : "", n->least, n->most);
            return -1;
        }
        *n->to = value;
        return 1;
    }
    return 0;
}

static int take_text(struct given *g, const char *name, const char *text)
{
    const char **to = strcmp(name, "node") == 0        ? &g->node
                      : strcmp(name, "recompute") == 0 ? &g->recompute
                      : strcmp(name, "like") == 0      ? &g->like
                                                       : NULL;
    if (!to || !text)
        return 0;
    *to = text;
    return 1;
}

static int take_flag(struct options *o, const char *name)
{
    int *to = strcmp(name, "ddp") == 0      ? &o->ddp
              : strcmp(name, "splits") == 0 ? &o->splits
              : strcmp(name, "json") == 0   ? &o->json
              : strcmp(name, "list") == 0   ? &o->list
              : strcmp(name, "help") == 0   ? &o->help
                                            : NULL;
    if (to)
        *to = 1;
    return to != NULL;
}

static int read_words(struct options *o, struct given *g, int argc, char **argv, char *error,
                      int room)
{
    const struct number numbers[] = {{"gpus", &g->gpus, 1, 1 << 20, 1},
                                     {"per-node", &g->per_node, 1, 1024, 1},
                                     {"memory", &g->memory_gb, 0.001, 1e6, 0},
                                     {"layers", &g->layers, 1, 10000, 1},
                                     {"hidden", &g->hidden, 1, 1 << 20, 1},
                                     {"heads", &g->heads, 1, 1 << 16, 1},
                                     {"vocab", &g->vocab, 1, 1 << 24, 1},
                                     {"ffn", &g->ffn, 1, 1 << 22, 1},
                                     {"seq", &g->seq, 1, 1 << 24, 1},
                                     {"batch", &g->batch, 1, 1 << 20, 1},
                                     {"params", &g->params, 8, 1e15, 1},
                                     {"bucket", &g->bucket_mb, 0.001, 1e6, 0},
                                     {"align", &g->align, 1, 1 << 20, 1},
                                     {"between", &g->between_gbs, 0.001, 1e5, 0},
                                     {"tflops", &g->tflops, 0.001, 1e6, 0},
                                     {"tensor", &g->tensor, 1, 1024, 1},
                                     {NULL, NULL, 0, 0, 0}};
    for (int i = 1; i < argc; i++) {
        const char *name = strncmp(argv[i], "--", 2) == 0 ? argv[i] + 2 : NULL;
        if (!name && !g->model && argv[i][0] != '-') {
            g->model = argv[i];
            continue;
        }
        if (name && take_flag(o, name))
            continue;
        int taken = name ? take_number(numbers, name, argv[i + 1], error, room) : 0;
        if (taken == 0 && name)
            taken = take_text(g, name, argv[i + 1]);
        if (taken == 0)
            snprintf(error, (size_t)room, "%s: not known, or without its value; see --help",
                     argv[i]);
        if (taken <= 0)
            return -1;
        i++;
    }
    return 0;
}

/* The number that a word of `words` stands for, or -1. */
static int word_of(const char *word, const char *const *words)
{
    for (int i = 0; words[i]; i++)
        if (strcasecmp(word, words[i]) == 0)
            return i;
    return -1;
}

static int set_words(struct options *o, const struct given *g, char *error, int room)
{
    static const char *const recompute[] = {"none", "selective", "full", NULL};
    static const char *const like[] = {"", "paper", "deepspeed", "infinity", "zero++", NULL};
    int r = word_of(g->recompute, recompute), l = word_of(g->like, like);
    if (r < 0)
        snprintf(error, (size_t)room, "--recompute is \"%s\", expected none, selective or full",
                 g->recompute);
    else if (l < 0)
        snprintf(error, (size_t)room,
                 "--like is \"%s\", expected paper, deepspeed, infinity or zero++", g->like);
    o->q.recompute = (enum recompute)r;
    o->like = (enum like)l;
    return r < 0 || l < 0 ? -1 : 0;
}

static void replace(uint64_t *field, double value)
{
    if (value > 0)
        *field = (uint64_t)value;
}

static int set_model(struct options *o, const struct given *g, char *error, int room)
{
    const struct gpt *preset = gpt_find(g->model);
    struct gpt *m = &o->q.model;
    char why[200];
    if (preset)
        *m = *preset;
    else if (strcasecmp(g->model, "custom") == 0)
        *m = (struct gpt){.name = "custom", .vocab = 50257, .sequence = 1024, .batch = 1};
    else {
        snprintf(error, (size_t)room,
                 "MODEL is \"%s\", expected a preset (see --list) or `custom` with its shape",
                 g->model);
        return -1;
    }
    uint64_t hidden = m->hidden;
    replace(&m->layers, g->layers);
    replace(&m->hidden, g->hidden);
    replace(&m->heads, g->heads);
    replace(&m->vocab, g->vocab);
    replace(&m->sequence, g->seq);
    replace(&m->batch, g->batch);
    replace(&m->params, g->params);
    if (m->hidden != hidden) {
        m->kv_hidden = m->hidden;
        m->ffn = 4 * m->hidden;
    }
    replace(&m->ffn, g->ffn);
    const char *field = gpt_check(m, why, (int)sizeof why);
    if (field)
        snprintf(error, (size_t)room, "--%s %s", field, why);
    return field ? -1 : 0;
}

static int set_machine(struct options *o, const struct given *g, char *error, int room)
{
    struct machine *m = &o->q.machine;
    char why[900];
    if (machine_read(m, g->node, why, (int)sizeof why) != 0) {
        snprintf(error, (size_t)room, "--node %s: %s", g->node, why);
        return -1;
    }
    m->net_bytes_s = g->between_gbs * 1e9;
    m->flops = g->tflops * 1e12;
    if (g->memory_gb > 0)
        m->memory_bytes = (uint64_t)(g->memory_gb * 1e9);
    if (g->per_node > 0)
        m->gpus_a_node = (int)g->per_node;
    o->q.gpus = g->gpus > 0 ? (int)g->gpus : m->gpus_a_node;
    if (m->gpus_a_node > 1 && m->link_bytes_s <= 0) {
        snprintf(error, (size_t)room,
                 "--per-node is %d, and node %s has one GPU, so no link between two",
                 m->gpus_a_node, m->name);
        return -1;
    }
    return 0;
}

int options_read(struct options *o, int argc, char **argv, char *error, int room)
{
    struct given g = {.node = "hgx-h200-4",
                      .recompute = "full",
                      .like = "",
                      .bucket_mb = 25,
                      .align = 1,
                      .between_gbs = 50,
                      .tflops = 400,
                      .tensor = 1};
    *o = (struct options){.tensor = 1};
    if (read_words(o, &g, argc, argv, error, room) != 0)
        return -1;
    if (o->help || o->list)
        return 0;
    if (!g.model) {
        snprintf(error, (size_t)room, "MODEL is missing; see --help");
        return -1;
    }
    o->tensor = (int)g.tensor;
    o->q.align = (uint64_t)g.align;
    o->q.bucket_bytes = (uint64_t)(g.bucket_mb * 1e6);
    if (set_words(o, &g, error, room) != 0 || set_model(o, &g, error, room) != 0)
        return -1;
    return set_machine(o, &g, error, room);
}
