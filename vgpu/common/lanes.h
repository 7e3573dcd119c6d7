/* SPDX-License-Identifier: MIT
 * lanes.h: the fast form of a kernel, as vgpu-cc puts it into an image
 * (vgpu/cc/lanes/lane_form.c) and vgpu-exec runs it (vgpu/exec/run/lane_run.c): one function that
 * runs all threads of a block in loops, with no call an access, and a list of steps that says
 * beforehand which bytes the block's accesses can reach.
 *
 * A step computes an interval: the lowest and the highest value that one integer or pointer of the
 * kernel can have in any thread of the blocks that are asked about, and a power of two that divides
 * all of them. Steps use earlier ones. Others say whether a place of the kernel can be reached at
 * all. Intervals are of signed numbers, as the processor's bits stand for them.
 */
#ifndef VGPU_LANES_H
#define VGPU_LANES_H

#include <stdint.h>

enum vgpu_step_kind {
    VGPU_STEP_UNKNOWN,  /* any value of `bits` */
    VGPU_STEP_CONSTANT, /* value */
    VGPU_STEP_ARGUMENT, /* bytes of argument number a, from byte `value` on */
    VGPU_STEP_INDEX,    /* value: enum vgpu_lane_index, or VGPU_LANE_SHARED and more: an address */
    VGPU_STEP_OBJECT,   /* where object number `value` lies */
    VGPU_STEP_CONTENTS, /* the pointer there, which does not change */
    VGPU_STEP_ADD,      /* a, b, as LLVM's instructions of these names */
    VGPU_STEP_SUB,
    VGPU_STEP_MUL,
    VGPU_STEP_UDIV,
    VGPU_STEP_SDIV,
    VGPU_STEP_UREM,
    VGPU_STEP_SREM,
    VGPU_STEP_SHL,
    VGPU_STEP_LSHR,
    VGPU_STEP_ASHR,
    VGPU_STEP_AND,
    VGPU_STEP_OR,
    VGPU_STEP_XOR,
    VGPU_STEP_ZEXT,    /* a, of `value` bits */
    VGPU_STEP_SEXT,    /* the same */
    VGPU_STEP_TRUNC,   /* a */
    VGPU_STEP_COMPARE, /* a, b: 0, 1 or either; value: enum vgpu_compare */
    VGPU_STEP_SELECT,  /* a ? b : c */
    VGPU_STEP_REFINE,  /* a, where it is known that COMPARE of a and b by `value` is true */
    VGPU_STEP_EDGE, /* reachable: place a is, and its condition b can be `value` (b NONE: always) */
    VGPU_STEP_EITHER, /* reachable: place a or place b (NONE: not) */
    VGPU_STEP_MERGE,  /* a (NONE: nothing yet), and b where place c can be reached */
    VGPU_STEP_TRIPS,  /* 1 to the most iterations of a loop: starts at a, goes on while the next, or
                       * with VGPU_LOOP_OLD the present, value compares to b by value's low bits; c
                       * is added each time */
    VGPU_STEP_SERIES, /* a, and c added to it each time, b: the TRIPS of the loop */
    VGPU_STEP_COUNTED, /* the same for what the TRIPS step itself, b, looks at */
    VGPU_STEP_KINDS
};

enum vgpu_lane_index { /* then y and z of each */
                       VGPU_LANE_THREAD = 0,
                       VGPU_LANE_BLOCK = 3,
                       VGPU_LANE_BLOCK_DIM = 6,
                       VGPU_LANE_GRID_DIM = 9,
                       VGPU_LANE_INDICES = 12,
                       VGPU_LANE_SHARED = 12, /* where the __shared__ variables lie */
                       VGPU_LANE_KNOWN = 28
};

enum vgpu_compare { /* LLVM's numbers, less 32 */
                    VGPU_EQ,
                    VGPU_NE,
                    VGPU_UGT,
                    VGPU_UGE,
                    VGPU_ULT,
                    VGPU_ULE,
                    VGPU_SGT,
                    VGPU_SGE,
                    VGPU_SLT,
                    VGPU_SLE
};

#define VGPU_NO_STEP UINT16_MAX
#define VGPU_LOOP_OLD 16
#define VGPU_LOOP_HALVES 32  /* what the loop counts in is shifted right each time, by c */
#define VGPU_LOOP_DOUBLES 64 /* left */

struct vgpu_step_of_lanes {
    uint8_t kind, bits;
    uint16_t a, b, c;
    int64_t value;
};

/* Which of a step's a, b and c are steps: bits 0 to 2. */
static inline unsigned vgpu_step_operands(const struct vgpu_step_of_lanes *step)
{
    switch (step->kind) {
    case VGPU_STEP_UNKNOWN:
    case VGPU_STEP_CONSTANT:
    case VGPU_STEP_ARGUMENT:
    case VGPU_STEP_INDEX:
    case VGPU_STEP_OBJECT:
    case VGPU_STEP_CONTENTS:
        return 0;
    case VGPU_STEP_ZEXT:
    case VGPU_STEP_SEXT:
    case VGPU_STEP_TRUNC:
        return 1;
    case VGPU_STEP_SELECT:
    case VGPU_STEP_MERGE:
    case VGPU_STEP_TRIPS:
    case VGPU_STEP_SERIES:
    case VGPU_STEP_COUNTED:
        return 7;
    default:
        return 3;
    }
}

/* A condition that lets a block run in the fast form. */
enum vgpu_lane_demand_kind {
    VGPU_DEMAND_GUARD,   /* condition `step` is `value` in all threads */
    VGPU_DEMAND_DIVISOR, /* `step` is not 0, nor, with value 1, -1 */
    VGPU_DEMAND_LOOP,    /* TRIPS `step` is a number */
    VGPU_DEMAND_WARPS,   /* `step` is a multiple of 32 */
    VGPU_DEMAND_LANES    /* `step`, a mask, has all bits in all threads */
};

struct vgpu_lane_demand {
    uint16_t kind, step, place, value; /* where `place` cannot be reached: none */
};

struct vgpu_lane_access {
    uint16_t step, place;   /* its address; where it stands */
    uint16_t counter;       /* which of the counters says how often it was carried out */
    uint8_t bytes, aligned; /* aligned: the address must be a multiple of that */
    uint8_t write, range;   /* range: ThreadSanitizer reports it as unaligned */
    uint8_t atomic;         /* it reads, too */
    uint8_t object; /* 0: none. Number of an object, plus 1: is within it, and not counted */
    uint8_t unused[4];
};

/* What a kernel names: a variable, a constant, or an argument that is a structure. */
struct vgpu_lane_object {
    const void *address; /* NULL: it is an argument */
    uint64_t bytes, argument;
};

/* A division whose divisor may be zero: the counter says how often it was. */
struct vgpu_lane_division {
    const char *place; /* "file:line", or "" */
    uint64_t counter;
};

/* What vgpu_shared is asked for; id 0: vgpu_dynamic_shared. */
struct vgpu_lane_shared {
    uint32_t id, bytes, align;
};

/* Two accesses. */
struct vgpu_lane_pair {
    uint16_t a, b;
};

/* Goes through the threads of the block whose index is at index[3]; adds to the counters how often
 * the places were come to, and, behind them, how many barriers were passed, and how many lanes
 * shuffled. */
typedef void vgpu_lanes_run(void **args, const uint32_t index[VGPU_LANE_INDICES], uint64_t *count,
                            void *const *shared);

/* One kernel's. `wide` does what `run` does, with the processor's wider vectors, and some accesses
 * of different threads in another order: those that must not meet are in `apart`. `edge` does not
 * need VGPU_DEMAND_GUARD. Both may be NULL. */
struct vgpu_lanes {
    vgpu_lanes_run *run, *wide, *edge;
    const struct vgpu_step_of_lanes *step;
    const struct vgpu_lane_demand *demand;
    const struct vgpu_lane_access *access;
    const struct vgpu_lane_shared *shared;
    const struct vgpu_lane_pair *apart;
    const struct vgpu_lane_object *object;
    const struct vgpu_lane_division *division;
    uint32_t step_count, demand_count, access_count, counter_count, shared_count, apart_count;
    uint32_t object_count, division_count;
};

enum {
    VGPU_LANE_STEPS = 4096,
    VGPU_LANE_ACCESSES = 256,
    VGPU_LANE_COUNTERS = 128,
    VGPU_LANE_OBJECTS = 255
};
enum { VGPU_LANE_SHARED_MAX = VGPU_LANE_KNOWN - VGPU_LANE_SHARED };

#endif
