/* SPDX-License-Identifier: MIT
 * lane_series.c: a number that each thread starts with its own value, and that grows by the same
 * in all threads with each round of a loop with a barrier. It would be kept for each thread, and
 * no access at an address that is made of it would be a vector. So it becomes a sum: the thread's
 * own start, which is often computed again (lane_across.c), and how much has been added, which is
 * the same in all threads. Integers wrap around, so nothing changes. Compilers that reduce
 * `(k + threadIdx.y) * n + x` to additions, as nvcc does, make such numbers.
 */
#include "lane_regions.h"

enum { ADDED_MAX = 64 }; /* in one round */

struct series {
    LLVMValueRef phi, start, sum;    /* sum: what it is in the next round */
    LLVMBasicBlockRef before, latch; /* where start and sum come from */
};

/* What was made here has no number, and counts as different. */
static bool is_same_in_all(const struct cc_regions *r, LLVMValueRef value)
{
    long number = cc_number_of(r->numbers, value);

    return number < 0 ? LLVMIsAInstruction(value) == NULL : !r->numbers->varies[number];
}

static bool meets_inside(const struct cc_regions *r, int header)
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

/* Of x + step, step + x or x - step with a step that is the same in all threads: the number of the
 * operand x; otherwise -1. */
static int summand_of(const struct cc_regions *r, LLVMValueRef sum)
{
    int op = LLVMIsAInstruction(sum) != NULL ? LLVMGetInstructionOpcode(sum) : 0;

    if ((op == LLVM_OP_ADD || op == LLVM_OP_SUB) && is_same_in_all(r, LLVMGetOperand(sum, 1)))
        return 0;
    return op == LLVM_OP_ADD && is_same_in_all(r, LLVMGetOperand(sum, 0)) ? 1 : -1;
}

/* Whether `sum` is phi with at least one such step added: a loop that was unrolled adds several. */
static bool is_sum_with(const struct cc_regions *r, LLVMValueRef sum, LLVMValueRef phi)
{
    int steps = 0, x;

    for (; sum != phi; sum = LLVMGetOperand(sum, (unsigned)x))
        if (steps++ == ADDED_MAX || (x = summand_of(r, sum)) < 0)
            return false;
    return steps != 0;
}

static bool is_series(const struct cc_regions *r, LLVMValueRef phi, int header, struct series *s)
{
    LLVMBasicBlockRef latch = r->graph.block[r->graph.block[header].latch].block;
    unsigned at = LLVMGetIncomingBlock(phi, 0) == latch ? 0 : 1;

    if (LLVMGetTypeKind(LLVMTypeOf(phi)) != LLVM_TYPE_INTEGER || LLVMCountIncoming(phi) != 2 ||
        LLVMGetIncomingBlock(phi, at) != latch || LLVMGetIncomingBlock(phi, !at) == latch)
        return false;
    *s = (struct series){.phi = phi,
                         .start = LLVMGetIncomingValue(phi, !at),
                         .sum = LLVMGetIncomingValue(phi, at),
                         .before = LLVMGetIncomingBlock(phi, !at),
                         .latch = latch};
    return !is_same_in_all(r, s->start) && is_sum_with(r, s->sum, phi);
}

/* The sum with `added` in the place of phi. */
static LLVMValueRef sum_again(const struct cc_regions *r, LLVMBuilderRef b, LLVMValueRef sum,
                              LLVMValueRef phi, LLVMValueRef added)
{
    LLVMValueRef operand[2];

    if (sum == phi)
        return added;
    unsigned x = (unsigned)summand_of(r, sum);
    operand[x] = sum_again(r, b, LLVMGetOperand(sum, x), phi, added);
    operand[!x] = LLVMGetOperand(sum, !x);
    return LLVMBuildBinOp(b, LLVMGetInstructionOpcode(sum), operand[0], operand[1], "");
}

static void divide_series(struct cc_regions *r, struct series *s)
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
    LLVMValueRef more = sum_again(r, b, s->sum, s->phi, added);
    LLVMAddIncoming(added, &zero, &s->before, 1);
    LLVMAddIncoming(added, &more, &s->latch, 1);
    LLVMReplaceAllUsesWith(s->phi, value);
    LLVMInstructionEraseFromParent(s->phi);
}

bool cc_divide_series(struct cc_regions *r)
{
    bool changed = false;
    LLVMValueRef next;
    struct series s;

    for (int k = 0; k < r->graph.count; k++) {
        if (r->graph.block[k].latch == CC_NO_BLOCK || r->numbers->joined[k] || !meets_inside(r, k))
            continue;
        for (LLVMValueRef i = LLVMGetFirstInstruction(r->graph.block[k].block);
             i != NULL && LLVMIsAPHINode(i) != NULL; i = next) {
            next = LLVMGetNextInstruction(i);
            if (!is_series(r, i, k, &s))
                continue;
            divide_series(r, &s);
            changed = true;
        }
    }
    return changed;
}
