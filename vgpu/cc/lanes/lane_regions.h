/* SPDX-License-Identifier: MIT
 * lane_regions.h: the fast form (lanes.h) of a kernel with barriers. The code from one barrier to
 * the next barriers, or to the end, is a region with its own loops over the threads. All threads
 * must go to the same next region; otherwise the kernel has no fast form.
 *
 * If the kernel has operations of warps, these are barriers, too, and the regions' loops are over
 * one warp: it goes from region to region until it comes to a barrier of the block, and then the
 * next warp does, as in the careful form.
 */
#ifndef VGPU_CC_LANE_REGIONS_H
#define VGPU_CC_LANE_REGIONS_H

#include "lane_plan.h"
#include "lane_values.h"

struct cc_barrier {
    LLVMBasicBlockRef before; /* the barrier ends it */
    LLVMBasicBlockRef after;  /* `before` is its only predecessor */
    enum cc_meeting kind;
    uint32_t op, width;               /* of what is told: image.h's */
    LLVMValueRef told, asked, answer; /* variables, or arrays of a warp's; null: none */
};

struct cc_same { /* a uniform value: the variables that it is restored from and saved to */
    LLVMValueRef in, out, start; /* start: at the last barrier of the block, for each warp */
    LLVMTypeRef type;
};

struct cc_regions {
    struct cc_lowering *l;
    const struct cc_lanes_of *of;
    LLVMValueRef function;          /* contains the kernel's code once, without loops so far */
    LLVMBasicBlockRef first, done;  /* its first block, and the block after it */
    LLVMValueRef counted, shuffled; /* addresses of counters: barriers, lanes of shuffles */
    LLVMValueRef *counter;          /* variables, each changed in one block; added to the totals */
    LLVMValueRef totals;            /* their address */
    size_t counters;
    int *counter_block;
    bool *counts_once;   /* a thread comes to its block at most once between barriers */
    bool warps;          /* it has operations of warps */
    LLVMValueRef coming; /* variable: number of the barrier that was reached; barrier_count: the end
                            of the kernel */
    LLVMValueRef current;        /* variable: the region in which each warp starts */
    LLVMBasicBlockRef *start;    /* of all regions */
    LLVMBasicBlockRef warp_done; /* a warp has come to a barrier of the block */
    struct cc_graph graph;
    struct cc_barrier *barrier;
    size_t barrier_count, barrier_capacity;
    struct cc_numbers *numbers;
    struct cc_same *same;
    size_t same_count, same_capacity;
    bool *same_way;     /* of blocks: all threads of a block leave it by the same branch */
    LLVMValueRef *kept; /* variables and arrays of values that are kept across barriers */
    size_t kept_count, kept_capacity;
};

/* Returns null, or why the kernel cannot be divided. */
const char *cc_make_regions(struct cc_regions *r);

/* ---- lane_counters.c ---- */

/* Finds where they are changed. */
void cc_find_counters(struct cc_regions *r);
/* Makes a number of 32 bits of a region's own counter; its value at the builder's position. */
LLVMValueRef cc_narrow_counter(struct cc_regions *r, LLVMBuilderRef b, LLVMValueRef counter);

/* ---- lane_uniform.c ---- */

/* The instructions of the kernel's code, in the order of its blocks. */
struct cc_numbers {
    LLVMValueRef *value;
    int *block;           /* in which it is */
    bool *varies, *parts; /* from thread to thread of a block; of a warp */
    bool *joined;         /* blocks in which threads that had parted meet again; of a block */
    size_t count, room;
    size_t *at; /* a hash table: numbers plus 1 */
};

void cc_number_values(struct cc_regions *r);
/* -1: it is none of them. */
long cc_number_of(const struct cc_numbers *numbers, LLVMValueRef value);

/* The number of the barrier that ends the block, or -1. */
int cc_barrier_after(const struct cc_regions *r, int block);
bool cc_is_of_warp(const struct cc_regions *r, size_t barrier);

/* Finds the values that vary between threads. Returns null, or why threads of a block may reach
 * different barriers. */
const char *cc_check_uniform(struct cc_regions *r);

/* lane_series.c: divides values that grow by the same in all threads; true: there are other values
 * now. */
bool cc_divide_series(struct cc_regions *r);

/* lane_warp_same.c: whether the instruction has one result in a warp, though threadIdx.x, on which
 * it depends, differs. */
bool cc_is_same_in_warp(const struct cc_lanes_of *lanes, LLVMValueRef i);

/* ---- lane_meeting.c ---- */

/* Around the call: stores what a thread tells the others, and replaces the call by the answer. */
void cc_tell(struct cc_regions *r, LLVMValueRef call, struct cc_barrier *barrier);
/* All have told: computes the answers. */
void cc_answer_all(struct cc_regions *r, LLVMBuilderRef b, const struct cc_barrier *barrier);
/* For whom what is loaded from the variable is the same. */
enum cc_same_in { CC_SAME_NOWHERE, CC_SAME_IN_WARP, CC_SAME_IN_BLOCK };
enum cc_same_in cc_answer_is_same_in(const struct cc_regions *r, LLVMValueRef variable);

/* ---- lane_across.c ---- */

/* Passes values that are live across a barrier through memory, or recomputes them. */
const char *cc_keep_across(struct cc_regions *r);
/* Whether the instruction has no effect and takes little time. */
bool cc_is_cheap(const struct cc_regions *r, LLVMValueRef i);

/* ---- lane_ends.c ---- */

/* Of the region that starts with block `first` of the graph and has copies of some blocks. */
void cc_join_ends(const struct cc_regions *r, int first, const bool *has, LLVMBasicBlockRef *copy);

#endif
