/* SPDX-License-Identifier: MIT
 * lane_exact.c: gives both forms of a kernel the same result where C++ leaves it undefined.
 * Integers wrap around, shifts use the low bits of their count, and a float out of an integer's
 * range converts as this processor's scalar instruction does. LLVM would otherwise assume that
 * these cases do not happen, and optimize each form differently; it would also take __restrict__
 * to hold between threads. So the flags and attributes that allow this are removed.
 */
#include "lane_values.h"

static LLVMValueRef without_promises(LLVMBuilderRef b, LLVMValueRef i)
{
    return LLVMBuildBinOp(b, LLVMGetInstructionOpcode(i), LLVMGetOperand(i, 0),
                          LLVMGetOperand(i, 1), "");
}

static LLVMValueRef masked_shift(struct cc_lowering *l, LLVMBuilderRef b, LLVMValueRef i)
{
    LLVMTypeRef type = LLVMTypeOf(i);
    uint8_t bits = cc_step_bits(l, i);
    LLVMValueRef count = LLVMGetOperand(i, 1);

    if (bits >= 32 && LLVMIsAConstant(count) == NULL)
        count = LLVMBuildBinOp(b, LLVM_OP_AND, count, LLVMConstInt(type, bits - 1, 0), "");
    return LLVMBuildBinOp(b, LLVMGetInstructionOpcode(i), LLVMGetOperand(i, 0), count, "");
}

/* x86-64 has only signed conversions to 32 and 64 bits; the others are built from these. */
static LLVMValueRef converted(struct cc_lowering *l, LLVMBuilderRef b, LLVMValueRef i)
{
#ifdef __x86_64__
    bool is_unsigned = LLVMGetInstructionOpcode(i) == LLVM_OP_FP_TO_UNSIGNED;
    unsigned bits = cc_step_bits(l, i);
    if (bits == 0 || bits > 32 || (bits == 32 && !is_unsigned))
        return NULL;
    LLVMValueRef wide = LLVMBuildCast(b, LLVM_OP_FP_TO_SIGNED, LLVMGetOperand(i, 0),
                                      cc_int_type(l, bits == 32 ? 64 : 32), "");
    return LLVMBuildTrunc(b, wide, LLVMTypeOf(i), "");
#else
    (void)l;
    (void)b;
    (void)i;
    return NULL;
#endif
}

static bool is_scope(LLVMValueRef i)
{
    return LLVMIsACallInst(i) != NULL && LLVMIsAFunction(LLVMGetCalledValue(i)) != NULL &&
           cc_starts(cc_value_name(LLVMGetCalledValue(i)), "llvm.experimental.noalias.scope");
}

static void make_exact(struct cc_lowering *l, LLVMBuilderRef b, LLVMValueRef i)
{
    LLVMValueRef by = NULL;

    LLVMPositionBuilderBefore(b, i);
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVM_OP_ADD:
    case LLVM_OP_SUB:
    case LLVM_OP_MULTIPLY:
        by = without_promises(b, i);
        break;
    case LLVM_OP_SHL:
    case LLVM_OP_LSHR:
    case LLVM_OP_ASHR:
        by = masked_shift(l, b, i);
        break;
    case LLVM_OP_FP_TO_UNSIGNED:
    case LLVM_OP_FP_TO_SIGNED:
        by = converted(l, b, i);
        break;
    default:
        break;
    }
    if (by != NULL)
        LLVMReplaceAllUsesWith(i, by);
    if (by != NULL || is_scope(i))
        LLVMInstructionEraseFromParent(i);
}

void cc_make_exact(struct cc_lowering *l, LLVMValueRef function)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(l->context);
    unsigned kind[] = {LLVMGetMDKindIDInContext(l->context, "noalias", 7),
                       LLVMGetMDKindIDInContext(l->context, "alias.scope", 11)};
    LLVMValueRef next;

    for (LLVMBasicBlockRef k = LLVMGetFirstBasicBlock(function); k; k = LLVMGetNextBasicBlock(k))
        for (LLVMValueRef i = LLVMGetFirstInstruction(k); i != NULL; i = next) {
            next = LLVMGetNextInstruction(i);
            LLVMSetMetadata(i, kind[0], NULL);
            LLVMSetMetadata(i, kind[1], NULL);
            make_exact(l, b, i);
        }
}

void cc_promise_growth(struct cc_lowering *l, LLVMValueRef mark)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(l->context);
    LLVMValueRef sum = LLVMGetPreviousInstruction(mark);

    LLVMPositionBuilderBefore(b, mark);
    LLVMReplaceAllUsesWith(sum,
                           LLVMBuildNSWAdd(b, LLVMGetOperand(sum, 0), LLVMGetOperand(sum, 1), ""));
    LLVMInstructionEraseFromParent(sum);
    LLVMInstructionEraseFromParent(mark);
}
