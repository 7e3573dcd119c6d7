/* SPDX-License-Identifier: MIT
 * lane_regions.h: the fast form (lanes.h) of a kernel with barriers. The code from one barrier to
 * the next ones, or to the end, is a region, and has its own loops over the threads. Which region
 * comes next is the same for all threads, or there is no fast form.
 */
#ifndef VGPU_CC_LANE_REGIONS_H
#define VGPU_CC_LANE_REGIONS_H

#include "lane_plan.h"

struct cc_barrier {
    LLVMBasicBlockRef before, after; /* `before` ends with it, `after` comes from there only */
};

struct cc_same { /* a value that is the same in all threads: where they restore and save it */
    LLVMValueRef in, out;
    LLVMTypeRef type;
};

struct cc_regions {
    struct cc_lowering *l;
    const struct cc_lanes_of *of;
    LLVMValueRef function;         /* has the kernel's code once, with no loops yet */
    LLVMBasicBlockRef first, done; /* which begins here, and then comes there */
    LLVMValueRef counted;          /* address of the counter of barriers */
    struct cc_graph graph;
    struct cc_barrier *barrier;
    size_t barrier_count, barrier_capacity;
    struct cc_numbers *numbers;
    struct cc_same *same;
    size_t same_count, same_capacity;
};

/* Null, or why it cannot be divided. */
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

/* The barrier that the block ends with, or -1. */
int cc_barrier_after(const struct cc_regions *r, int block);

/* Finds out what varies. Null, or why some threads might come to another barrier than others. */
const char *cc_check_uniform(struct cc_regions *r);

/* ---- lane_across.c ---- */

/* What a thread has found before a barrier and uses behind it goes through memory, or is computed
 * again. */
const char *cc_keep_across(struct cc_regions *r);

#endif
