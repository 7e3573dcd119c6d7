/* SPDX-License-Identifier: MIT
 * lane_values.h: the steps of a kernel's values: lane_plan.c visits its blocks, lane_values.c their
 * instructions.
 */
#ifndef VGPU_CC_LANE_VALUES_H
#define VGPU_CC_LANE_VALUES_H

#include "comparison.h"
#include "lane_plan.h"

struct cc_binding { /* refined range of a value in a block and those it dominates */
    LLVMValueRef value;
    uint16_t step;
    struct cc_binding *next;
};

struct cc_noted { /* a value's step */
    LLVMValueRef value;
    uint16_t step;
};

struct cc_planner {
    struct cc_lowering *l;
    LLVMValueRef kernel, call; /* called by the entry */
    struct cc_graph graph;
    struct cc_lane_plan *plan;
    uint16_t *place;           /* step for whether each block is reachable */
    struct cc_binding **known; /* refinements by block */
    struct cc_noted *noted;    /* a hash table */
    size_t noted_count, noted_room;
};

/* Width of an integer's or a pointer's step; 0: other types have none. */
uint8_t cc_step_bits(struct cc_lowering *l, LLVMValueRef value);

/* The value's step in that block. VGPU_NO_STEP: it has none, or not yet. */
uint16_t cc_step_of(struct cc_planner *p, LLVMValueRef value, int block);
uint16_t cc_unknown_step(struct cc_planner *p, LLVMValueRef value);
void cc_note_value(struct cc_planner *p, LLVMValueRef value, uint16_t step);
void cc_bind_value(struct cc_planner *p, int block, LLVMValueRef value, uint16_t step);

/* The object of the plan in which the address is, if accesses to it are not counted; or -1. */
int cc_uncounted_object(struct cc_planner *p, LLVMValueRef address, int block);

/* The condition is `value` only if its operand 0 is, and also the operand whose index is returned;
 * 0: it is no such conjunction. */
unsigned cc_second_part(LLVMValueRef condition, bool value);

/* The comparisons that hold where a condition is true, or false: those of a && b, of !(a || b). */
struct cc_comparisons {
    int count;
    LLVMValueRef compare[8];
    int how[8];
};
void cc_find_implied(LLVMValueRef condition, bool holds, struct cc_comparisons *implied);

/* The refined step of the value where comparison `how` holds. */
uint16_t cc_refined_step(struct cc_planner *p, LLVMValueRef value, uint16_t step,
                         LLVMValueRef compare, int how, int block);

/* The offset that a GEP adds to its pointer. */
uint16_t cc_offset_step(struct cc_planner *p, LLVMValueRef gep, int block);

void cc_add_demand(struct cc_lane_plan *plan, struct vgpu_lane_demand demand);
/* Whether the step depends on memory contents; it does not, and depends on the block, or on no
 * index. */
bool cc_depends_on_unknown(const struct cc_lane_plan *plan, uint16_t step);
bool cc_varies_by_block(const struct cc_lane_plan *plan, uint16_t step);
/* Whether the step is the same in all threads of a block. */
bool cc_is_same_for_all(const struct cc_lane_plan *plan, uint16_t step);

/* Adds the instruction to the plan; returns null, or why there is no fast form. */
const char *cc_plan_instruction(struct cc_planner *p, LLVMValueRef instruction, int block);

/* lane_atomic.c: of a call of vgpu_atomic: what kind of access it is, and its address. Both return
 * null, or why it excludes the fast form. */
const char *cc_plan_atomic(struct cc_planner *p, LLVMValueRef call, int block,
                           struct vgpu_lane_access *access, LLVMValueRef *address);
const char *cc_refused_atomic(LLVMValueRef call);

/* lane_objects.c: the steps of a global, of a parameter that is a structure and the kernel's
 * argument number `index`, and of a load. */
uint16_t cc_global_step(struct cc_planner *p, LLVMValueRef value);
uint16_t cc_structure_step(struct cc_planner *p, LLVMValueRef parameter, unsigned index);
uint16_t cc_loaded_step(struct cc_planner *p, LLVMValueRef load, int object);
/* Whether accesses to it may not be counted: a parameter or a constant. */
bool cc_is_uncounted(LLVMValueRef object);

/* lane_split.c: finds the loops at which the wide form divides the kernel. */
void cc_plan_splits(struct cc_planner *p);

/* lane_rules.c: whether the function, which is declared only, uses no memory and returns. */
bool cc_is_pure_call(LLVMValueRef called);

/* lane_divide.c: whether the division can have a result for each divisor; gives it one, and counts
 * divisions by zero in the variable `counter`. */
bool cc_is_guarded_division(struct cc_lowering *l, LLVMValueRef division);
void cc_guard_division(struct cc_lowering *l, LLVMBuilderRef b, LLVMValueRef division,
                       LLVMValueRef counter, bool vectors);
/* A division of which it is known that it does not trap, as one that LLVM makes vectors of. */
void cc_divide_vectors(struct cc_lowering *l, LLVMBuilderRef b, LLVMValueRef division);

/* lane_rules.c: why some instruction of the kernel excludes the fast form; null: none does. */
const char *cc_refused_instruction(struct cc_lowering *l, LLVMValueRef kernel);
#endif
