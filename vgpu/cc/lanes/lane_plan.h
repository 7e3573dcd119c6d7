/* SPDX-License-Identifier: MIT
 * lane_plan.h: the parts of lane_form.c, which makes the fast form of kernels (lanes.h).
 */
#ifndef VGPU_CC_LANE_PLAN_H
#define VGPU_CC_LANE_PLAN_H

#include "lanes.h"
#include "add_lanes.h"
#include "block_graph.h"

/* ---- plan of a kernel's fast form ---- */

struct cc_guard {      /* a condition whose value is known in the fast form */
    LLVMValueRef user; /* the user of the condition, and the operand index */
    unsigned operand;
    bool value;
};

struct cc_lane_object { /* named by the kernel: a variable, or an argument that is a structure */
    LLVMValueRef global;
    uint64_t bytes;
    unsigned argument; /* of the kernel */
};

struct cc_divisions {
    LLVMValueRef *at;
    size_t count, capacity;
};

struct cc_lane_plan {
    struct vgpu_step_of_lanes *step;
    struct vgpu_lane_demand *demand;
    struct vgpu_lane_access *access;
    size_t step_count, step_capacity, demand_count, demand_capacity, access_count, access_capacity;
    LLVMBasicBlockRef *counted; /* blocks with accesses, one counter each */
    size_t counted_count, counted_capacity;
    struct cc_divisions
        guarded; /* their divisors may be zero: a counter each, behind the blocks' */
    struct cc_divisions divided; /* their divisors are not */
    LLVMValueRef *grows;         /* additions that do not turn over */
    size_t grows_count, grows_capacity;
    struct cc_guard *guard;
    size_t guard_count, guard_capacity;
    struct vgpu_lane_shared shared[VGPU_LANE_SHARED_MAX];
    size_t shared_count, barrier_count, atomics; /* atomics: that may change nothing */
    size_t warp_count;                           /* operations of warps */
    LLVMBasicBlockRef *split; /* the wide form divides the kernel at their beginnings */
    size_t split_count, split_capacity;
    struct vgpu_lane_pair *apart; /* if these accesses do not meet */
    size_t apart_count, apart_capacity;
    struct cc_lane_object *object;
    size_t object_count, object_capacity;
};

/* lane_plan.c: null, or why the kernel, which the entry calls by `call`, has no fast form. */
const char *cc_plan_lanes(struct cc_lowering *l, LLVMValueRef kernel, LLVMValueRef call,
                          struct cc_lane_plan *plan);

/* lane_calls.c: puts copies in the places of those kernels that call functions which can be
 * inlined. */
bool cc_inline_calls(struct cc_lowering *l, LLVMValueRef *kernel, size_t count);

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

/* lane_meeting.c: where threads of a block, or, from CC_MEET_WARP on, of a warp wait for each
 * other: the fast form is divided there. */
enum cc_meeting {
    CC_MEET_NOT,
    CC_MEET_BARRIER, /* __syncthreads */
    CC_MEET_COUNT,   /* __syncthreads_count, _and, _or */
    CC_MEET_SPLIT,   /* where only the wide form is divided: a mark */
    CC_MEET_WARP,    /* __syncwarp, __activemask */
    CC_MEET_SHUFFLE,
    CC_MEET_VOTE
};
enum { CC_WARP_LANES = 32 };
#define CC_SPLIT_MARK "vgpu_lane_split"
enum cc_meeting cc_meeting_at(LLVMValueRef instruction);
/* Why this operation excludes the fast form; null: it does not. */
const char *cc_refused_meeting(LLVMValueRef call);
extern const char cc_some_lanes[]; /* such a reason */
/* The mask of a warp's operation; null: it has none. */
LLVMValueRef cc_mask_of(LLVMValueRef call);

/* lane_marks.c: calls in the kernel that stand where something is counted, a condition is known,
 * the wide form is divided, or a structure is used. Each has a number as its first operand. */
enum cc_mark {
    CC_MARK_COUNT,
    CC_MARK_GUARD,
    CC_MARK_SPLIT,
    CC_MARK_STRUCTURE,
    CC_MARK_GUARDED, /* behind the division */
    CC_MARK_DIVIDED, /* the same */
    CC_MARK_GROWS,   /* behind the addition */
    CC_MARKS
};
void cc_put_marks(struct cc_lowering *l, const struct cc_lane_plan *plan, LLVMValueRef kernel);
/* Which mark the instruction is; CC_MARKS if it is not a mark. */
int cc_mark_of(LLVMValueRef instruction);
/* Erases the instruction if it is a mark; no code changes by it. */
void cc_take_mark_back(LLVMValueRef instruction);
void cc_delete_marks(struct cc_lowering *l);

/* lane_atomic.c: whether it is a call of vgpu_atomic; replaces it by an instruction. */
bool cc_is_atomic(LLVMValueRef i);
void cc_lower_atomic(struct cc_lowering *l, LLVMValueRef call);
/* A constant operand of the call: enum cc_atomic_operand; -1: it is not constant. */
enum cc_atomic_operand { CC_ATOMIC_OP, CC_ATOMIC_TYPE, CC_ATOMIC_ADDRESS, CC_ATOMIC_VALUE };
enum { CC_ATOMIC_SCOPE = 5 };
int cc_atomic_number(LLVMValueRef call, unsigned operand);
/* Whether it is an addition (or subtraction) of a constant, which changes what is there. */
bool cc_always_changes(LLVMValueRef call);
/* Sets VGPU_UNUSED where nothing uses the result. */
void cc_note_unused(struct cc_lowering *l, LLVMValueRef function);

/* lane_values.c: how the entry passes an argument, by `call`: the parameter with the number *index,
 * or a pointer to that parameter, which is a structure. */
enum cc_passing { CC_PASSED_OTHERWISE, CC_PASSED_VALUE, CC_PASSED_STRUCTURE };
enum cc_passing cc_passing_of(struct cc_lowering *l, LLVMValueRef kernel, LLVMValueRef call,
                              LLVMValueRef argument, unsigned *index);

/* lane_sums.c: whether the blocks of the kernel may run in any order although it has atomics; notes
 * on which condition (struct cc_sums). */
void cc_find_sums(struct cc_lowering *l, LLVMValueRef kernel, LLVMValueRef call,
                  struct cc_sums *sums);

/* lane_loops.c: loops over threadIdx.z, y and x. */
struct cc_lanes_of {
    struct cc_lowering *l;
    LLVMValueRef function, thread[3], lane; /* variables: threadIdx and the thread's number */
    LLVMValueRef block_dim[3];
    LLVMValueRef in_warp, warp_x, warp_lane; /* variables: the lane, the warp's first threadIdx.x
                                                and number */
};

struct cc_loops {
    LLVMBasicBlockRef body, next; /* the body is empty; it must end with a branch to `next` */
    LLVMBasicBlockRef after;
};

/* Builds the loops at the builder's position. */
struct cc_loops cc_make_loops(const struct cc_lanes_of *lanes, LLVMBuilderRef b);

/* What the load loads is from 1 to 2^31 - 1. */
void cc_set_positive(struct cc_lowering *l, LLVMValueRef load);

/* The lanes of the warp at hand; their `body` is not empty. */
struct cc_loops cc_make_warp_loop(const struct cc_lanes_of *lanes, LLVMBuilderRef b);
/* Makes the block's first warp the one at hand; the next, and goes to `again`, or if there is none
 * to `done`. */
void cc_first_warp(const struct cc_lanes_of *lanes, LLVMBuilderRef b);
void cc_next_warp(const struct cc_lanes_of *lanes, LLVMBuilderRef b, LLVMBasicBlockRef again,
                  LLVMBasicBlockRef done);

/* lane_vectors.c: compiles the function for vectors of 256 bits. */
void cc_lengthen_vectors(struct cc_lowering *l, LLVMValueRef function);

/* lane_tables.c: the constant struct vgpu_lanes, of its three functions (NULL: it has none). */
LLVMValueRef cc_lanes_table(struct cc_lowering *l, const struct cc_lane_plan *plan,
                            LLVMValueRef const run[3]);

/* lane_objects.c */
/* The variable or other value from which the address is computed by adding. */
LLVMValueRef cc_object_of(LLVMValueRef address);
bool cc_is_managed_place(LLVMValueRef load);
/* Whether what the load loads is known at the launch: it is from one of the structures, or a place
 * of a __managed__ variable's address, at that offset. */
bool cc_is_known_load(struct cc_lowering *l, const struct cc_lane_plan *plan,
                      LLVMValueRef *structure, LLVMValueRef load, int64_t *offset);

/* lane_exact.c: defines the results that C++ leaves undefined, so that both forms agree. */
void cc_make_exact(struct cc_lowering *l, LLVMValueRef function);
/* The addition before the mark does not turn over (lane_trips.c): so LLVM finds out how many rounds
 * its loop has, and makes vectors of them. */
void cc_promise_growth(struct cc_lowering *l, LLVMValueRef mark);

#endif
