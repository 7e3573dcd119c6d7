/* SPDX-License-Identifier: MIT
 * lane_across.c: values that are live across a barrier. Cheap expressions of indices and
 * arguments are computed again after the barrier, so that the optimizer sees how they depend on
 * the thread. Other values become variables: they are saved before the barrier, once for all
 * threads if the value is uniform, else for each thread, and restored after it.
 */
#include <string.h>

#include "lane_regions.h"
#include "launch_limits.h"

enum { AGAIN_DEPTH = 8, KEPT_BYTES_MAX = 256 };

struct across {
    struct cc_regions *r;
    LLVMBuilderRef b;
    LLVMValueRef *anchor; /* for each block: restored values are inserted before it */
    bool **live;          /* for each value: the barriers after which it is used; null: none */
    LLVMValueRef *variable;
    LLVMValueRef **operand; /* for each value that can be recomputed: its operands */
    LLVMValueRef **made;    /* for each live value, by block: its replacement */
    unsigned long long kept;
};

/* ---- values that are live across barriers ---- */

static void mark_live(struct across *a, size_t number, int block, bool *seen)
{
    const struct cc_regions *r = a->r;

    if (seen[block] || block == r->numbers->block[number])
        return;
    seen[block] = true;
    for (size_t i = 0; i < r->barrier_count; i++)
        if (r->barrier[i].after == r->graph.block[block].block) {
            if (a->live[number] == NULL)
                a->live[number] = cc_alloc(r->barrier_count);
            a->live[number][i] = true;
        }
    for (int i = 0; i < r->graph.block[block].from_count; i++)
        mark_live(a, number, r->graph.block[block].from[i], seen);
}

/* Operand k of a user, and the block that needs the value: for a phi, the incoming block. */
typedef void used(struct across *a, size_t number, LLVMValueRef user, unsigned k, int block);

static void for_operands(struct across *a, size_t number, LLVMValueRef user, used *does)
{
    const struct cc_numbers *n = a->r->numbers;
    long at = cc_number_of(n, user);
    bool phi = LLVMIsAPHINode(user) != NULL;

    for (unsigned k = 0; at >= 0 && k < (unsigned)LLVMGetNumOperands(user); k++)
        if (LLVMGetOperand(user, k) == n->value[number])
            does(a, number, user, k,
                 phi ? cc_block_number(&a->r->graph, LLVMGetIncomingBlock(user, k)) : n->block[at]);
}

static void for_value_uses(struct across *a, size_t number, used *does)
{
    LLVMValueRef *user = NULL;
    size_t count = 0, capacity = 0;

    for (LLVMUseRef use = LLVMGetFirstUse(a->r->numbers->value[number]); use != NULL;
         use = LLVMGetNextUse(use)) {
        user = cc_grow(user, count, &capacity, sizeof *user);
        user[count++] = LLVMGetUser(use);
    }
    for (size_t i = 0; i < count; i++)
        for_operands(a, number, user[i], does);
}

static void look_at_use(struct across *a, size_t number, LLVMValueRef user, unsigned k, int block)
{
    (void)user;
    (void)k;
    mark_live(a, number, block, cc_alloc((size_t)a->r->graph.count));
}

/* ---- computed again ---- */

static bool is_thread_index(const struct cc_regions *r, LLVMValueRef i)
{
    LLVMValueRef from = LLVMGetInstructionOpcode(i) == LLVM_OP_LOAD ? LLVMGetOperand(i, 0) : NULL;

    return from != NULL &&
           (from == r->of->thread[0] || from == r->of->thread[1] || from == r->of->thread[2]);
}

bool cc_is_cheap(const struct cc_regions *r, LLVMValueRef i)
{
    int op = LLVMGetInstructionOpcode(i);

    switch (op) {
    case LLVM_OP_ADD:
    case LLVM_OP_SUB:
    case LLVM_OP_MULTIPLY:
    case LLVM_OP_SHL:
    case LLVM_OP_LSHR:
    case LLVM_OP_ASHR:
    case LLVM_OP_AND:
    case LLVM_OP_OR:
    case LLVM_OP_XOR:
    case LLVM_OP_GEP:
    case LLVM_OP_TRUNC:
    case LLVM_OP_ZEXT:
    case LLVM_OP_SEXT:
    case LLVM_OP_PTR_TO_INT:
    case LLVM_OP_INT_TO_PTR:
    case LLVM_OP_BIT_CAST:
    case LLVM_OP_ADDR_SPACE_CAST:
    case LLVM_OP_COMPARE:
    case LLVM_OP_SELECT:
        return true;
    default:
        return is_thread_index(r, i);
    }
}

/* Constants, arguments and what the function's first block computes. */
static bool is_everywhere(const struct across *a, long number)
{
    return number < 0 || a->r->numbers->block[number] == 0;
}

/* Whether all its operands are available in every block, or can be recomputed there. */
static bool is_made_again(const struct across *a, LLVMValueRef value, int depth)
{
    if (depth == 0 || !cc_is_cheap(a->r, value))
        return false;
    for (int k = 0; k < LLVMGetNumOperands(value); k++) {
        long number = cc_number_of(a->r->numbers, LLVMGetOperand(value, (unsigned)k));
        if (is_everywhere(a, number))
            continue;
        if (!is_made_again(a, a->r->numbers->value[number], depth - 1) && a->live[number] == NULL)
            return false;
    }
    return true;
}

/* Its operands are needed wherever it is needed. */
static void spread_live(struct across *a, size_t number, const bool *live)
{
    for (int k = 0; k < LLVMGetNumOperands(a->r->numbers->value[number]); k++) {
        long operand =
            cc_number_of(a->r->numbers, LLVMGetOperand(a->r->numbers->value[number], (unsigned)k));
        if (is_everywhere(a, operand))
            continue;
        if (a->variable[operand] == NULL)
            spread_live(a, (size_t)operand, live);
        for (size_t i = 0; i < a->r->barrier_count && a->variable[operand] != NULL; i++)
            a->live[operand][i] |= live[i];
    }
}

static LLVMValueRef value_in(struct across *a, size_t number, int block);

static LLVMValueRef make_again(struct across *a, size_t number, int block)
{
    LLVMValueRef copy = LLVMInstructionClone(a->r->numbers->value[number]);

    for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(copy); k++) {
        long operand = cc_number_of(a->r->numbers, a->operand[number][k]);
        LLVMSetOperand(copy, k,
                       operand < 0 ? a->operand[number][k] : value_in(a, (size_t)operand, block));
    }
    LLVMPositionBuilderBefore(a->b, a->anchor[block]);
    LLVMInsertIntoBuilder(a->b, copy);
    return copy;
}

/* ---- variables ---- */

static LLVMValueRef add_lane_variable(struct across *a, LLVMTypeRef type)
{
    LLVMValueRef first = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(a->r->function));

    LLVMPositionBuilderBefore(a->b, first);
    return LLVMBuildAlloca(a->b, type, "");
}

/* Whether it is used behind barriers of warps only: then there is a place for each lane. */
static bool is_of_warp(const struct across *a, size_t number)
{
    for (size_t k = 0; k < a->r->barrier_count; k++)
        if (a->live[number][k] && !cc_is_of_warp(a->r, k))
            return false;
    return true;
}

static LLVMTypeRef places_type(const struct across *a, size_t number)
{
    return LLVMArrayType(LLVMTypeOf(a->r->numbers->value[number]),
                         is_of_warp(a, number) ? CC_WARP_LANES : VGPU_BLOCK_THREADS_MAX);
}

static LLVMValueRef place_of_lane(struct across *a, size_t number, LLVMValueRef all)
{
    LLVMValueRef lane = is_of_warp(a, number) ? a->r->of->in_warp : a->r->of->lane;
    LLVMValueRef index[] = {LLVMConstInt(cc_int_type(a->r->l, 64), 0, 0),
                            LLVMBuildLoad2(a->b, cc_int_type(a->r->l, 64), lane, "")};

    return LLVMBuildGEP2(a->b, places_type(a, number), all, index, 2, "");
}

static void copy_variable(LLVMBuilderRef b, LLVMTypeRef type, LLVMValueRef from, LLVMValueRef to)
{
    LLVMBuildStore(b, LLVMBuildLoad2(b, type, from, ""), to);
}

/* Around barrier k. */
static void save_and_restore(struct across *a, size_t number, size_t k, LLVMValueRef in,
                             LLVMValueRef out)
{
    const struct cc_barrier *barrier = &a->r->barrier[k];
    LLVMTypeRef type = LLVMTypeOf(a->r->numbers->value[number]);
    bool varies = a->r->numbers->varies[number];

    LLVMPositionBuilderBefore(a->b, LLVMGetBasicBlockTerminator(barrier->before));
    copy_variable(a->b, type, a->variable[number], varies ? place_of_lane(a, number, out) : out);
    LLVMPositionBuilderBefore(a->b, a->anchor[cc_block_number(&a->r->graph, barrier->after)]);
    copy_variable(a->b, type, varies ? place_of_lane(a, number, in) : in, a->variable[number]);
}

static void note_kept(struct cc_regions *r, LLVMValueRef variable)
{
    r->kept = cc_grow(r->kept, r->kept_count, &r->kept_capacity, sizeof *r->kept);
    r->kept[r->kept_count++] = variable;
}

/* A uniform value is saved to a different variable than it is restored from, because the
 * remaining threads still need the previous value. */
static void keep_value(struct across *a, size_t number)
{
    struct cc_regions *r = a->r;
    LLVMValueRef value = r->numbers->value[number];
    LLVMTypeRef type = LLVMTypeOf(value);
    bool varies = r->numbers->varies[number];
    LLVMValueRef in = add_lane_variable(a, varies ? places_type(a, number) : type);
    LLVMValueRef out = varies ? in : add_lane_variable(a, type);
    LLVMValueRef start = varies || !r->warps ? NULL : add_lane_variable(a, type);

    note_kept(r, a->variable[number]);
    note_kept(r, in);
    note_kept(r, out);
    a->kept += varies && !is_of_warp(a, number) ? LLVMABISizeOfType(r->l->layout, type) : 0;
    LLVMPositionBuilderBefore(a->b, LLVMIsAPHINode(value) != NULL
                                        ? a->anchor[r->numbers->block[number]]
                                        : LLVMGetNextInstruction(value));
    LLVMBuildStore(a->b, value, a->variable[number]);
    for (size_t k = 0; k < r->barrier_count; k++)
        if (a->live[number][k])
            save_and_restore(a, number, k, in, out);
    if (varies)
        return;
    r->same = cc_grow(r->same, r->same_count, &r->same_capacity, sizeof *r->same);
    r->same[r->same_count++] = (struct cc_same){in, out, start, type};
}

/* ---- both ---- */

static LLVMValueRef value_in(struct across *a, size_t number, int block)
{
    LLVMValueRef value = a->r->numbers->value[number], *made;

    if (block == a->r->numbers->block[number] || a->r->numbers->block[number] == 0)
        return value;
    if (a->made[number] == NULL)
        a->made[number] = cc_alloc((size_t)a->r->graph.count * sizeof *made);
    made = &a->made[number][block];
    if (*made == NULL && a->variable[number] == NULL)
        *made = make_again(a, number, block);
    if (*made == NULL) {
        LLVMPositionBuilderBefore(a->b, a->anchor[block]);
        *made = LLVMBuildLoad2(a->b, LLVMTypeOf(value), a->variable[number], "");
    }
    return *made;
}

static void change_use(struct across *a, size_t number, LLVMValueRef user, unsigned k, int block)
{
    LLVMSetOperand(user, k, value_in(a, number, block));
}

static LLVMValueRef *copied_operands(LLVMValueRef value)
{
    int count = LLVMGetNumOperands(value);
    LLVMValueRef *operand = cc_alloc((size_t)(count + 1) * sizeof *operand);

    for (int k = 0; k < count; k++)
        operand[k] = LLVMGetOperand(value, (unsigned)k);
    return operand;
}

static struct across start(struct cc_regions *r)
{
    size_t count = r->numbers->count, blocks = (size_t)r->graph.count;
    struct across a = {.r = r, .b = LLVMCreateBuilderInContext(r->l->context)};

    a.anchor = cc_alloc(blocks * sizeof *a.anchor);
    a.live = cc_alloc((count + 1) * sizeof *a.live);
    a.variable = cc_alloc((count + 1) * sizeof *a.variable);
    a.made = cc_alloc((count + 1) * sizeof *a.made);
    a.operand = cc_alloc((count + 1) * sizeof *a.operand);
    for (size_t i = 0; i < count; i++)
        if (cc_is_cheap(r, r->numbers->value[i]))
            a.operand[i] = copied_operands(r->numbers->value[i]);
    for (size_t i = 0; i < blocks; i++) {
        a.anchor[i] = LLVMGetFirstInstruction(r->graph.block[i].block);
        while (LLVMIsAPHINode(a.anchor[i]) != NULL)
            a.anchor[i] = LLVMGetNextInstruction(a.anchor[i]);
    }
    return a;
}

const char *cc_keep_across(struct cc_regions *r)
{
    struct across a = start(r);
    size_t count = r->numbers->count;

    for (size_t i = 0; i < count; i++)
        if (r->numbers->block[i] != 0) /* values of the entry block are available in all regions */
            for_value_uses(&a, i, look_at_use);
    for (size_t i = 0; i < count; i++)
        if (a.live[i] != NULL && !is_made_again(&a, r->numbers->value[i], AGAIN_DEPTH))
            a.variable[i] = add_lane_variable(&a, LLVMTypeOf(r->numbers->value[i]));
    for (size_t i = 0; i < count; i++)
        if (a.live[i] != NULL && a.variable[i] == NULL)
            spread_live(&a, i, a.live[i]);
    for (size_t i = 0; i < count; i++)
        if (a.variable[i] != NULL)
            keep_value(&a, i);
    for (size_t i = 0; i < count; i++)
        if (a.live[i] != NULL)
            for_value_uses(&a, i, change_use);
    return a.kept > KEPT_BYTES_MAX ? "too much is kept from one barrier to another" : NULL;
}
