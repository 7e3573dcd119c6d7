/* SPDX-License-Identifier: MIT
 * lane_regions.h: the fast form (lanes.h) of a kernel with barriers. The code from one barrier to
 * the next barriers, or to the end, is a region with its own loops over the threads. All threads
 * must go to the same next region; otherwise the kernel has no fast form.
 */
#ifndef VGPU_CC_LANE_REGIONS_H
#define VGPU_CC_LANE_REGIONS_H

#include "lane_plan.h"

struct cc_barrier {
    LLVMBasicBlockRef before; /* the barrier ends it */
    LLVMBasicBlockRef after;  /* `before` is its only predecessor */
    bool counts;              /* it is one of the kernel's own */
};

struct cc_same { /* a uniform value: the variables that it is restored from and saved to */
    LLVMValueRef in, out;
    LLVMTypeRef type;
};

struct cc_regions {
    struct cc_lowering *l;
    const struct cc_lanes_of *of;
    LLVMValueRef function;         /* contains the kernel's code once, without loops so far */
    LLVMBasicBlockRef first, done; /* its first block, and the block after it */
    LLVMValueRef counted;          /* address of the barrier counter */
    struct cc_graph graph;
    struct cc_barrier *barrier;
    size_t barrier_count, barrier_capacity;
    struct cc_numbers *numbers;
    struct cc_same *same;
    size_t same_count, same_capacity;
};

/* Returns null, or why the kernel cannot be divided. */
const char *cc_make_regions(struct cc_regions *r);

/* ---- lane_uniform.c ---- */

/* The instructions of the kernel's code, in the order of its blocks. */
struct cc_numbers {
    LLVMValueRef *value;
    int *block;   /* in which it is */
    bool *varies; /* from thread to thread */
    size_t count, room;
    size_t *at; /* a hash table: numbers plus 1 */
};

void cc_number_values(struct cc_regions *r);
/* -1: it is none of them. */
long cc_number_of(const struct cc_numbers *numbers, LLVMValueRef value);

/* The number of the barrier that ends the block, or -1. */
int cc_barrier_after(const struct cc_regions *r, int block);

/* Finds the values that vary between threads. Returns null, or why threads of a block may reach
 * different barriers. */
const char *cc_check_uniform(struct cc_regions *r);

/* ---- lane_across.c ---- */

/* Passes values that are live across a barrier through memory, or recomputes them. */
const char *cc_keep_across(struct cc_regions *r);

#endif
