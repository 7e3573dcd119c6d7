/* SPDX-License-Identifier: MIT
 * gpt.h: the models zero-plan knows, as lab 08's tensors; and what their activations take.
 *
 * Block i of a model is layer i + 1 of the lab's: the embeddings are layer 0, the last norm and an
 * output matrix of its own are the last one.
 */
#ifndef ZERO_PLAN_GPT_H
#define ZERO_PLAN_GPT_H

#include <stdint.h>

#include "lab08.h"

enum recompute { RECOMPUTE_NONE, RECOMPUTE_SELECTIVE, RECOMPUTE_FULL };

struct gpt {
    char name[32];
    uint64_t params; /* 0: counted from the shape; else spread evenly over the blocks */
    uint64_t layers, hidden, heads, vocab, sequence, batch; /* batch: sequences a GPU and step */
    uint64_t kv_hidden;     /* of keys and values; hidden where all heads have their own */
    uint64_t ffn;           /* width of the MLP */
    int gated;              /* a third matrix in the MLP, no biases, no positions, own output */
    uint64_t largest_layer; /* in parameters, of models known only by their size; else 0 */
};

/* The presets, for --list; NULL past the last. */
const struct gpt *gpt_preset(int i);
/* NULL: no such preset. Names are compared without regard to case. */
const struct gpt *gpt_find(const char *name);

/* NULL when the shape makes sense, else the name of the first field that does not, with the reason
 * in `why`. */
const char *gpt_check(const struct gpt *g, char *why, int room);

/* The model's tensors, with the activations of one step on one GPU that computes a `tensor`-th of
 * each block (1: all of it). Both arrays are the caller's to free. LAB_ENOMEM. */
struct zero_tensor *gpt_tensors(const struct gpt *g, int *tensors, int *layers);
uint64_t *gpt_activations(const struct gpt *g, enum recompute recompute);

uint64_t gpt_params(const struct gpt *g);

/* Bytes that one block keeps for its backward: Korthikanti et al., arXiv:2205.05198, Table 2, on
 * one of `tensor` GPUs; `sequence`: with sequence parallelism. */
double gpt_block_bytes(const struct gpt *g, enum recompute recompute, int tensor, int sequence);
/* Of all blocks, on one GPU. */
double gpt_blocks_bytes(const struct gpt *g, enum recompute recompute);

#endif
