/* SPDX-License-Identifier: MIT
 * lane_counters.c: the counters of a kernel with barriers (lane_regions.c).
 *
 * A thread comes to most places at most once between two barriers. What counts there has 32 bits,
 * as most of what a kernel computes with: as many threads are a vector as without counters.
 */
#include "lane_regions.h"

/* The graph's block in which the counter is changed; CC_NO_BLOCK: it is gone. */
static int block_of_counter(const struct cc_regions *r, LLVMValueRef counter)
{
    int block = CC_NO_BLOCK;

    for (LLVMUseRef use = LLVMGetFirstUse(counter); use != NULL && block == CC_NO_BLOCK;
         use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        long number =
            LLVMGetInstructionOpcode(user) == LLVM_OP_LOAD ? cc_number_of(r->numbers, user) : -1;
        if (number >= 0 && r->graph.block[r->numbers->block[number]].block != r->done)
            block = r->numbers->block[number];
    }
    return block;
}

/* Whether a thread can come from a block to another one without a barrier between them. */
static bool leads_to(const struct cc_regions *r, int from, int to, bool *seen)
{
    LLVMValueRef end = r->graph.block[from].terminator;

    for (unsigned s = 0; s < LLVMGetNumSuccessors(end) && cc_barrier_after(r, from) < 0; s++) {
        int next = cc_block_number(&r->graph, LLVMGetSuccessor(end, s));
        if (next == to)
            return true;
        if (seen[next])
            continue;
        seen[next] = true;
        if (leads_to(r, next, to, seen))
            return true;
    }
    return false;
}

void cc_find_counters(struct cc_regions *r)
{
    r->counter_block = cc_alloc((r->counters + 1) * sizeof *r->counter_block);
    r->counts_once = cc_alloc((r->counters + 1) * sizeof *r->counts_once);
    for (size_t i = 0; i < r->counters; i++) {
        int block = r->counter_block[i] = block_of_counter(r, r->counter[i]);
        bool *seen = cc_alloc((size_t)r->graph.count);
        r->counts_once[i] = block != CC_NO_BLOCK && !leads_to(r, block, block, seen);
    }
}

/* The instruction that uses the value; null if several do, or none. */
static LLVMValueRef only_user(LLVMValueRef value)
{
    LLVMUseRef use = LLVMGetFirstUse(value);

    return use != NULL && LLVMGetNextUse(use) == NULL ? LLVMGetUser(use) : NULL;
}

/* load, add, store: the same with 32 bits in the variable `to`. */
static void narrow_addition(struct cc_regions *r, LLVMValueRef load, LLVMValueRef to)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(r->l->context);
    LLVMTypeRef word = cc_int_type(r->l, 32);
    LLVMValueRef add = only_user(load), store = only_user(add);

    LLVMPositionBuilderBefore(b, store);
    LLVMValueRef by = LLVMGetOperand(add, LLVMGetOperand(add, 0) == load ? 1 : 0);
    LLVMValueRef sum = LLVMBuildBinOp(b, LLVM_OP_ADD, LLVMBuildLoad2(b, word, to, ""),
                                      LLVMBuildTrunc(b, by, word, ""), "");
    LLVMBuildStore(b, sum, to);
    LLVMInstructionEraseFromParent(store);
    LLVMInstructionEraseFromParent(add);
    LLVMInstructionEraseFromParent(load);
}

static LLVMValueRef load_of(LLVMValueRef variable)
{
    LLVMUseRef use = LLVMGetFirstUse(variable);

    while (use != NULL && LLVMGetInstructionOpcode(LLVMGetUser(use)) != LLVM_OP_LOAD)
        use = LLVMGetNextUse(use);
    return use != NULL ? LLVMGetUser(use) : NULL;
}

LLVMValueRef cc_narrow_counter(struct cc_regions *r, LLVMBuilderRef b, LLVMValueRef counter)
{
    LLVMBuilderRef at = LLVMCreateBuilderInContext(r->l->context);
    LLVMTypeRef word = cc_int_type(r->l, 32);
    LLVMValueRef user;

    LLVMPositionBuilderBefore(at, counter);
    LLVMValueRef own = LLVMBuildAlloca(at, word, "");
    while ((user = load_of(counter)) != NULL)
        narrow_addition(r, user, own);
    while (LLVMGetFirstUse(counter) != NULL) { /* it is set to zero */
        user = LLVMGetUser(LLVMGetFirstUse(counter));
        LLVMPositionBuilderBefore(at, user);
        LLVMBuildStore(at, cc_number(r->l, 0, 32), own);
        LLVMInstructionEraseFromParent(user);
    }
    LLVMInstructionEraseFromParent(counter);
    return LLVMBuildCast(b, LLVM_OP_ZEXT, LLVMBuildLoad2(b, word, own, ""), cc_int_type(r->l, 64),
                         "");
}
