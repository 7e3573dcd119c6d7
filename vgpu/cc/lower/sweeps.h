/* SPDX-License-Identifier: MIT
 * sweeps.h: a loop of one basic block, and those of its accesses that are counted and checked
 * together: lower_sweeps.c finds them, sweep_copy.c makes the loop's copy.
 */
#ifndef VGPU_CC_SWEEPS_H
#define VGPU_CC_SWEEPS_H

#include "lower.h"

enum { CC_SWEEPS_MAX = 8, CC_LOOP_INSTRUCTIONS_MAX = 128, CC_UNSEEN_SPACE = 1 };

struct cc_sweep {
    LLVMValueRef access;
    unsigned how; /* VGPU_SWEEP */
};

struct cc_loop {
    struct cc_lowering *l;
    LLVMBuilderRef b;
    LLVMValueRef function, compare;
    LLVMBasicBlockRef before, block, after;
    LLVMValueRef instruction[CC_LOOP_INSTRUCTIONS_MAX]; /* of the block, in order */
    LLVMValueRef copy[CC_LOOP_INSTRUCTIONS_MAX];        /* what stands for it in the copied loop */
    size_t count;
    struct cc_sweep sweep[CC_SWEEPS_MAX];
    size_t sweep_count;
};

/* Finds the loop that is the block o->block, and its sweeps. False: it has none. */
bool cc_find_loop(struct cc_loop *o);

/* Makes the copy of the loop that cc_find_loop() has found. */
void cc_divide_loop(struct cc_loop *o);

/* Lists the block's instructions. False: they are too many, or one calls a function or is an access
 * that other threads wait for. */
bool cc_list_instructions(struct cc_loop *o);
/* The instruction's place in that list; o->count if it is not in the list. */
size_t cc_instruction_index(const struct cc_loop *o, LLVMValueRef value);
bool cc_is_of_loop(const struct cc_loop *o, LLVMValueRef value);

/* Whether the value is the same in all rounds. A load of threadIdx or the like is. */
bool cc_stays(const struct cc_loop *o, LLVMValueRef value);
/* The value of the phi where it comes from that block. */
LLVMValueRef cc_value_from(LLVMValueRef phi, LLVMBasicBlockRef from);
/* An access to what ThreadSanitizer's pass does not report (indices.c, lower_work.c). */
bool cc_is_unseen(LLVMValueRef access);
/* A load of one of lower_work.c's counters. */
bool cc_counts_work(LLVMValueRef load);
/* Of an integer or a pointer. */
unsigned cc_value_bits(LLVMValueRef value);

#endif
