/* SPDX-License-Identifier: MIT
 * lane_ends.c: a region (lane_regions.h) that ends with a branch to one of two barriers, the same
 * one for all threads: for instance the end of a loop's round. LLVM makes no vectors of a loop over
 * threads with a branch in it. It makes two such loops instead of one if they are small. A loop of
 * a kernel that nvcc has unrolled is not. So both ends are joined: a thread saves its values for
 * both barriers.
 *
 * A value that is used after one of the barriers only is read from where it is saved there only:
 * what is saved for it otherwise does not matter. If both ends save it, the one that a thread does
 * not come to must not change it.
 */
#include "lane_regions.h"

enum { SMALL = 60 }; /* instructions of a loop that LLVM makes two of */

static bool is_one_value(LLVMValueRef value)
{
    return LLVMIsAInstruction(value) != NULL && LLVMGetInstructionOpcode(value) == LLVM_OP_ALLOCA &&
           LLVMGetTypeKind(LLVMGetAllocatedType(value)) != LLVM_TYPE_ARRAY;
}

static bool is_kept(const struct cc_regions *r, LLVMValueRef variable)
{
    for (size_t i = 0; i < r->kept_count; i++)
        if (r->kept[i] == variable)
            return true;
    return false;
}

/* The array in which the address is a thread's place; null: it is none of those that are kept. */
static LLVMValueRef kept_array(const struct cc_regions *r, LLVMValueRef address)
{
    bool is = LLVMIsAInstruction(address) != NULL &&
              LLVMGetInstructionOpcode(address) == LLVM_OP_GEP &&
              is_kept(r, LLVMGetOperand(address, 0));

    return is ? LLVMGetOperand(address, 0) : NULL;
}

/* Whether it can be done although the thread goes to the other barrier. */
static bool can_be_joined(const struct cc_regions *r, LLVMValueRef i)
{
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVM_OP_LOAD:
        return is_one_value(LLVMGetOperand(i, 0));
    case LLVM_OP_STORE:
        return is_one_value(LLVMGetOperand(i, 1)) || kept_array(r, LLVMGetOperand(i, 1)) != NULL;
    case LLVM_OP_PHI:
        return LLVMCountIncoming(i) == 1;
    default:
        return cc_is_cheap(r, i);
    }
}

static bool is_joinable(const struct cc_regions *r, LLVMBasicBlockRef end)
{
    LLVMValueRef last = LLVMGetBasicBlockTerminator(end);

    for (LLVMValueRef i = LLVMGetFirstInstruction(end); i != last; i = LLVMGetNextInstruction(i))
        if (!can_be_joined(r, i))
            return false;
    return true;
}

static bool loads(LLVMBasicBlockRef block, LLVMValueRef variable)
{
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i != NULL; i = LLVMGetNextInstruction(i))
        if (LLVMGetInstructionOpcode(i) == LLVM_OP_LOAD && LLVMGetOperand(i, 0) == variable)
            return true;
    return false;
}

static LLVMValueRef stored_to(LLVMValueRef i)
{
    return LLVMGetInstructionOpcode(i) == LLVM_OP_STORE ? LLVMGetOperand(i, 1) : NULL;
}

static bool stores_in(const struct cc_regions *r, LLVMBasicBlockRef block, LLVMValueRef array)
{
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i != NULL; i = LLVMGetNextInstruction(i))
        if (stored_to(i) != NULL && kept_array(r, stored_to(i)) == array)
            return true;
    return false;
}

/* The variable is changed if `goes`. */
static void guard_store(LLVMBuilderRef b, LLVMValueRef store, LLVMValueRef goes)
{
    LLVMValueRef value = LLVMGetOperand(store, 0), to = LLVMGetOperand(store, 1);

    LLVMPositionBuilderBefore(b, store);
    LLVMValueRef old = LLVMBuildLoad2(b, LLVMTypeOf(value), to, "");
    LLVMSetOperand(store, 0, LLVMBuildSelect(b, goes, value, old, ""));
}

/* Makes what the block `end` does harmless to threads that do not come to it: if not `goes`, they
 * come to `other`. */
static void guard_end(const struct cc_regions *r, LLVMBuilderRef b, LLVMBasicBlockRef end,
                      LLVMBasicBlockRef other, LLVMValueRef goes)
{
    for (LLVMValueRef i = LLVMGetFirstInstruction(end); i != NULL; i = LLVMGetNextInstruction(i)) {
        LLVMValueRef to = stored_to(i);
        if (to != NULL && is_one_value(to) && (!is_kept(r, to) || loads(other, to)))
            guard_store(b, i, goes);
    }
}

/* Moves it to the builder's place, but for what is saved again in `later`. */
static void move_end(const struct cc_regions *r, LLVMBuilderRef b, LLVMBasicBlockRef end,
                     LLVMBasicBlockRef later)
{
    LLVMValueRef next, i = LLVMGetFirstInstruction(end), last = LLVMGetBasicBlockTerminator(end);

    for (; i != last; i = next) {
        next = LLVMGetNextInstruction(i);
        LLVMValueRef to = stored_to(i), array = to != NULL ? kept_array(r, to) : NULL;
        bool phi = LLVMIsAPHINode(i) != NULL;
        if (phi)
            LLVMReplaceAllUsesWith(i, LLVMGetIncomingValue(i, 0));
        if (phi || (array != NULL && later != NULL && stores_in(r, later, array))) {
            LLVMInstructionEraseFromParent(i);
            continue;
        }
        LLVMInstructionRemoveFromParent(i);
        LLVMInsertIntoBuilder(b, i);
    }
}

/* LLVM itself makes two loops of it. */
static bool is_small(const bool *has, const struct cc_graph *graph)
{
    int count = 0;

    for (int k = 0; k < graph->count; k++)
        for (LLVMValueRef i = has[k] ? LLVMGetFirstInstruction(graph->block[k].block) : NULL;
             i != NULL; i = LLVMGetNextInstruction(i)) {
            int op = LLVMGetInstructionOpcode(i);
            count += op != LLVM_OP_LOAD && op != LLVM_OP_STORE && op != LLVM_OP_GEP;
        }
    return count <= SMALL;
}

static void join_both(const struct cc_regions *r, LLVMBasicBlockRef block)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(r->l->context);
    LLVMValueRef branch = LLVMGetBasicBlockTerminator(block), goes = LLVMGetOperand(branch, 0);
    LLVMBasicBlockRef end[] = {LLVMGetSuccessor(branch, 0), LLVMGetSuccessor(branch, 1)};

    if (!is_joinable(r, end[0]) || !is_joinable(r, end[1]))
        return;
    LLVMPositionBuilderBefore(b, branch);
    LLVMValueRef goes_not = LLVMBuildBinOp(b, LLVM_OP_XOR, goes, cc_number(r->l, 1, 1), "");
    guard_end(r, b, end[0], end[1], goes);
    guard_end(r, b, end[1], end[0], goes_not);
    LLVMInstructionEraseFromParent(branch);
    LLVMPositionBuilderAtEnd(b, block);
    move_end(r, b, end[0], end[1]);
    move_end(r, b, end[1], NULL);
    LLVMBuildBr(b, LLVMGetSuccessor(LLVMGetBasicBlockTerminator(end[0]), 0));
}

/* Whether a thread that comes to this block has come to the region's end, and from one block. */
static bool is_end(const struct cc_regions *r, int first, const bool *has, int block)
{
    const struct cc_block *b = &r->graph.block[block];
    int count = block == first;

    for (int i = 0; i < b->from_count; i++)
        count += has[b->from[i]] && cc_barrier_after(r, b->from[i]) < 0;
    return count == 1 && (cc_barrier_after(r, block) >= 0 || b->block == r->done);
}

void cc_join_ends(const struct cc_regions *r, int first, const bool *has, LLVMBasicBlockRef *copy)
{
    const struct cc_graph *graph = &r->graph;

    if (is_small(has, graph))
        return;
    for (int k = 0; k < graph->count; k++) {
        LLVMValueRef end = graph->block[k].terminator;
        if (!has[k] || !r->same_way[k] || LLVMGetNumSuccessors(end) != 2)
            continue;
        int a = cc_block_number(graph, LLVMGetSuccessor(end, 0)),
            b = cc_block_number(graph, LLVMGetSuccessor(end, 1));
        if (a != b && is_end(r, first, has, a) && is_end(r, first, has, b))
            join_both(r, copy[k]);
    }
}
