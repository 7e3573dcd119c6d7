/* SPDX-License-Identifier: MIT
 * lane_plan.h: the parts of lane_form.c, which makes the fast form of kernels (lanes.h).
 */
#ifndef VGPU_CC_LANE_PLAN_H
#define VGPU_CC_LANE_PLAN_H

#include "lanes.h"
#include "add_lanes.h"

/* ---- block_graph.c: the basic blocks of a function ---- */

enum { CC_NO_BLOCK = -1, CC_BLOCKS_MAX = 512 };

struct cc_block {
    LLVMBasicBlockRef block;
    LLVMValueRef terminator;
    int *from, from_count; /* predecessors */
    int dominator;         /* immediate dominator; of the first block: itself */
    int latch;             /* of a loop's header: its latch; else CC_NO_BLOCK */
    int header;            /* header of the innermost loop around it; CC_NO_BLOCK: none */
};

/* Blocks in reverse postorder: each comes after its predecessors, except over back edges. */
struct cc_graph {
    struct cc_block *block;
    int count;
};

/* Returns null, or why the function cannot be analysed. */
const char *cc_make_graph(LLVMValueRef function, struct cc_graph *graph);
int cc_block_number(const struct cc_graph *graph, LLVMBasicBlockRef block);
bool cc_dominates(const struct cc_graph *graph, int upper, int lower);

/* ---- plan of a kernel's fast form ---- */

struct cc_guard {      /* a condition whose value is known in the fast form */
    LLVMValueRef user; /* the user of the condition, and the operand index */
    unsigned operand;
    bool value;
};

struct cc_lane_plan {
    struct vgpu_step_of_lanes *step;
    struct vgpu_lane_demand *demand;
    struct vgpu_lane_access *access;
    size_t step_count, step_capacity, demand_count, demand_capacity, access_count, access_capacity;
    LLVMBasicBlockRef *counted; /* blocks with accesses, one counter each */
    size_t counted_count, counted_capacity;
    struct cc_guard *guard;
    size_t guard_count, guard_capacity;
    struct vgpu_lane_shared shared[VGPU_LANE_SHARED_MAX];
    size_t shared_count, barrier_count, atomics; /* atomics: that may change nothing */
    LLVMBasicBlockRef *split; /* the wide form divides the kernel at their beginnings */
    size_t split_count, split_capacity;
    struct vgpu_lane_pair *apart; /* if these accesses do not meet */
    size_t apart_count, apart_capacity;
};

/* lane_plan.c: null, or why the kernel, which is called by `call`, has no fast form. */
const char *cc_plan_lanes(struct cc_lowering *l, LLVMValueRef call, struct cc_lane_plan *plan);

/* lane_steps.c: adds a step, or returns the number of an equal one. */
uint16_t cc_add_step(struct cc_lane_plan *plan, struct vgpu_step_of_lanes step);
uint16_t cc_constant_step(struct cc_lane_plan *plan, int64_t value, unsigned bits);
bool cc_is_unknown(const struct cc_lane_plan *plan, uint16_t step);
/* Whether the step's a, b or c (0 to 2) is a step, *used. */
bool cc_uses_step(const struct vgpu_step_of_lanes *step, unsigned which, uint16_t *used);
/* Removes unused steps. */
void cc_drop_steps(struct cc_lane_plan *plan);

/* lane_rules.c: index of the __shared__ variable that the call requests; -1: another call. */
int cc_shared_number(const struct cc_lane_plan *plan, LLVMValueRef call);

/* Whether it is a call of __syncthreads, or of a mark where the wide form divides the kernel. */
#define CC_SPLIT_MARK "vgpu_lane_split"
bool cc_is_barrier(LLVMValueRef i);
bool cc_is_split(LLVMValueRef i);

/* lane_atomic.c: whether it is a call of vgpu_atomic; replaces it by an instruction. */
bool cc_is_atomic(LLVMValueRef i);
void cc_lower_atomic(struct cc_lowering *l, LLVMValueRef call);

/* lane_loops.c: loops over threadIdx.z, y and x. */
struct cc_lanes_of {
    struct cc_lowering *l;
    LLVMValueRef function, thread[3], lane; /* variables: threadIdx and the thread's number */
    LLVMValueRef block_dim[3];
};

struct cc_loops {
    LLVMBasicBlockRef body, next; /* the body is empty; it must end with a branch to `next` */
    LLVMBasicBlockRef after;
};

/* Builds the loops at the builder's position. */
struct cc_loops cc_make_loops(const struct cc_lanes_of *lanes, LLVMBuilderRef b);

/* lane_exact.c: defines the results that C++ leaves undefined, so that both forms agree. */
void cc_make_exact(struct cc_lowering *l, LLVMValueRef function);

#endif
