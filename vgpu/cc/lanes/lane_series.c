/* SPDX-License-Identifier: MIT
 * lane_series.c: a number that each thread starts with its own value, and that grows by the same
 * in all threads with each round of a loop with a barrier. It would be kept for each thread, and
 * no access at an address that is made of it would be a vector. So it becomes a sum: the thread's
 * own start, which is often computed again (lane_across.c), and how much has been added, which is
 * the same in all threads. Integers wrap around, so nothing changes. Compilers that reduce
 * `(k + threadIdx.y) * n + x` to additions, as nvcc does, make such numbers.
 */
#include "lane_regions.h"

struct series {
    LLVMValueRef phi, start, step;
    LLVMBasicBlockRef before, latch; /* where start, and the sum with the step, come from */
    int op;                          /* how step is added */
};

static bool is_same_in_all(const struct cc_regions *r, LLVMValueRef value)
{
    long number = cc_number_of(r->numbers, value);

    return number < 0 || !r->numbers->varies[number];
}

static bool has_barrier(const struct cc_regions *r, int header)
{
    for (size_t i = 0; i < r->barrier_count; i++) {
        int block = cc_block_number(&r->graph, r->barrier[i].after);
        while (block != CC_NO_BLOCK && block != header)
            block = r->graph.block[block].header;
        if (block == header)
            return true;
    }
    return false;
}

/* The step of phi + step, step + phi or phi - step, which is the same in all threads; or null. */
static LLVMValueRef step_of(const struct cc_regions *r, LLVMValueRef phi, LLVMValueRef sum)
{
    int op = LLVMIsAInstruction(sum) != NULL ? LLVMGetInstructionOpcode(sum) : 0;
    LLVMValueRef step = NULL;

    if (op == LLVM_OP_ADD || op == LLVM_OP_SUB)
        step = LLVMGetOperand(sum, 0) == phi                        ? LLVMGetOperand(sum, 1)
               : op == LLVM_OP_ADD && LLVMGetOperand(sum, 1) == phi ? LLVMGetOperand(sum, 0)
                                                                    : NULL;
    return step != NULL && is_same_in_all(r, step) ? step : NULL;
}

static bool is_series(const struct cc_regions *r, LLVMValueRef phi, int header, struct series *s)
{
    LLVMBasicBlockRef latch = r->graph.block[r->graph.block[header].latch].block;
    unsigned at = LLVMGetIncomingBlock(phi, 0) == latch ? 0 : 1;

    if (LLVMGetTypeKind(LLVMTypeOf(phi)) != LLVM_TYPE_INTEGER || LLVMCountIncoming(phi) != 2 ||
        LLVMGetIncomingBlock(phi, at) != latch || LLVMGetIncomingBlock(phi, !at) == latch)
        return false;
    LLVMValueRef sum = LLVMGetIncomingValue(phi, at);
    *s = (struct series){.phi = phi,
                         .start = LLVMGetIncomingValue(phi, !at),
                         .step = step_of(r, phi, sum),
                         .before = LLVMGetIncomingBlock(phi, !at),
                         .latch = latch};
    if (s->step == NULL || is_same_in_all(r, s->start))
        return false;
    s->op = LLVMGetInstructionOpcode(sum);
    return true;
}

static void divide_series(struct cc_regions *r, const struct series *s)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(r->l->context);
    LLVMTypeRef type = LLVMTypeOf(s->phi);
    LLVMValueRef zero = LLVMConstNull(type), after = s->phi;

    LLVMPositionBuilderBefore(b, s->phi);
    LLVMValueRef added = LLVMBuildPhi(b, type, "");
    while (LLVMIsAPHINode(after) != NULL)
        after = LLVMGetNextInstruction(after);
    LLVMPositionBuilderBefore(b, after);
    LLVMValueRef value = LLVMBuildBinOp(b, LLVM_OP_ADD, s->start, added, "");
    LLVMPositionBuilderBefore(b, LLVMGetBasicBlockTerminator(s->latch));
    LLVMValueRef more = LLVMBuildBinOp(b, s->op, added, s->step, "");
    LLVMAddIncoming(added, &zero, (LLVMBasicBlockRef *)&s->before, 1);
    LLVMAddIncoming(added, &more, (LLVMBasicBlockRef *)&s->latch, 1);
    LLVMReplaceAllUsesWith(s->phi, value);
    LLVMInstructionEraseFromParent(s->phi);
}

bool cc_divide_series(struct cc_regions *r)
{
    bool changed = false;
    LLVMValueRef next;
    struct series s;

    for (int k = 0; k < r->graph.count; k++) {
        if (r->graph.block[k].latch == CC_NO_BLOCK || r->numbers->joined[k] || !has_barrier(r, k))
            continue;
        for (LLVMValueRef i = LLVMGetFirstInstruction(r->graph.block[k].block);
             LLVMIsAPHINode(i) != NULL; i = next) {
            next = LLVMGetNextInstruction(i);
            if (!is_series(r, i, k, &s))
                continue;
            divide_series(r, &s);
            changed = true;
        }
    }
    return changed;
}
