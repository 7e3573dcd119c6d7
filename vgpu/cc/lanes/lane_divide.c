/* SPDX-License-Identifier: MIT
 * lane_divide.c: divisions whose divisor may be another one in each thread, and may be zero. The
 * processor would trap. In the fast form they have a GPU's result (exec/run/divide.c) without a
 * trap, and count how often they divided by zero: vgpu-exec then says where.
 *
 * Processors divide vectors of floating-point numbers, but not of integers. The quotient of two
 * numbers of 32 bits, rounded to a double, is never rounded up to the next integer: its fraction
 * is at most 1 - 2^-32, and a double has 53 bits.
 */
#include "lane_values.h"

static const double two_to_52 = 4503599627370496.0;
static const uint64_t bits_of_two_to_52 = 0x4330000000000000;

static bool is_rest(LLVMValueRef division)
{
    int op = LLVMGetInstructionOpcode(division);

    return op == LLVM_OP_UREM || op == LLVM_OP_SREM;
}

static bool is_signed_division(LLVMValueRef division)
{
    int op = LLVMGetInstructionOpcode(division);

    return op == LLVM_OP_SDIV || op == LLVM_OP_SREM;
}

static LLVMTypeRef double_type(const struct cc_lowering *l)
{
    return LLVMDoubleTypeInContext(l->context);
}

static LLVMValueRef to_double(struct cc_lowering *l, LLVMBuilderRef b, LLVMValueRef value,
                              bool sign)
{
    return LLVMBuildCast(b, sign ? LLVM_OP_SIGNED_TO_FP : LLVM_OP_UNSIGNED_TO_FP, value,
                         double_type(l), "");
}

/* Without its fraction. x86-64 converts vectors to signed integers only, so an unsigned one is
 * taken from the low bits of its sum with 2^52. */
static LLVMValueRef whole_part(struct cc_lowering *l, LLVMBuilderRef b, LLVMValueRef value,
                               bool sign)
{
    LLVMTypeRef type = double_type(l), word = cc_int_type(l, 32);

    if (sign)
        return LLVMBuildCast(b, LLVM_OP_FP_TO_SIGNED, value, word, "");
    LLVMTypeRef made = LLVMFunctionType(type, &type, 1, 0);
    LLVMValueRef floor = cc_declare(l, "llvm.floor.f64", made);
    LLVMValueRef whole = LLVMBuildCall2(b, made, floor, &value, 1, "");
    LLVMValueRef sum = LLVMBuildBinOp(b, LLVM_OP_FADD, whole, LLVMConstReal(type, two_to_52), "");
    LLVMValueRef bits = LLVMBuildCast(b, LLVM_OP_BIT_CAST, sum, cc_int_type(l, 64), "");
    bits = LLVMBuildBinOp(b, LLVM_OP_SUB, bits, cc_number(l, bits_of_two_to_52, 64), "");
    return LLVMBuildTrunc(b, bits, word, "");
}

static LLVMValueRef quotient(struct cc_lowering *l, LLVMBuilderRef b, LLVMValueRef number,
                             LLVMValueRef by, bool sign, bool vectors)
{
    if (!vectors)
        return LLVMBuildBinOp(b, sign ? LLVM_OP_SDIV : LLVM_OP_UDIV, number, by, "");
    return whole_part(l, b,
                      LLVMBuildBinOp(b, LLVM_OP_FDIV, to_double(l, b, number, sign),
                                     to_double(l, b, by, sign), ""),
                      sign);
}

/* Of the division, or its rest. `by` is not zero, nor -1 for the least number. */
static LLVMValueRef divided(struct cc_lowering *l, LLVMBuilderRef b, LLVMValueRef division,
                            LLVMValueRef by, bool vectors)
{
    LLVMValueRef number = LLVMGetOperand(division, 0);
    LLVMValueRef result = quotient(l, b, number, by, is_signed_division(division), vectors);

    if (!is_rest(division))
        return result;
    return LLVMBuildBinOp(b, LLVM_OP_SUB, number,
                          LLVMBuildBinOp(b, LLVM_OP_MULTIPLY, result, by, ""), "");
}

static void count_zero(struct cc_lowering *l, LLVMBuilderRef b, LLVMValueRef zero,
                       LLVMValueRef counter)
{
    LLVMTypeRef number = cc_int_type(l, 64);
    LLVMValueRef one = LLVMBuildCast(b, LLVM_OP_ZEXT, zero, number, "");

    LLVMBuildStore(b,
                   LLVMBuildBinOp(b, LLVM_OP_ADD, LLVMBuildLoad2(b, number, counter, ""), one, ""),
                   counter);
}

/* A divisor with which the processor does not trap. */
static LLVMValueRef safe_divisor(struct cc_lowering *l, LLVMBuilderRef b, LLVMValueRef division,
                                 LLVMValueRef zero)
{
    LLVMValueRef by = LLVMGetOperand(division, 1), traps = zero;

    if (is_signed_division(division)) {
        LLVMValueRef least =
            LLVMBuildICmp(b, VGPU_EQ + CC_COMPARE_BASE, LLVMGetOperand(division, 0),
                          cc_number(l, 1u << 31, 32), "");
        LLVMValueRef minus =
            LLVMBuildICmp(b, VGPU_EQ + CC_COMPARE_BASE, by, cc_number(l, UINT32_MAX, 32), "");
        traps = LLVMBuildBinOp(b, LLVM_OP_OR, zero,
                               LLVMBuildBinOp(b, LLVM_OP_AND, least, minus, ""), "");
    }
    return LLVMBuildSelect(b, traps, cc_number(l, 1, 32), by, "");
}

bool cc_is_guarded_division(struct cc_lowering *l, LLVMValueRef division)
{
    return cc_step_bits(l, division) == 32;
}

void cc_guard_division(struct cc_lowering *l, LLVMBuilderRef b, LLVMValueRef division,
                       LLVMValueRef counter, bool vectors)
{
    LLVMValueRef number = LLVMGetOperand(division, 0), by = LLVMGetOperand(division, 1);
    LLVMValueRef zero = LLVMBuildICmp(b, VGPU_EQ + CC_COMPARE_BASE, by, cc_number(l, 0, 32), "");
#ifdef __x86_64__
    LLVMValueRef by_zero = cc_number(l, UINT32_MAX, 32);
    count_zero(l, b, zero, counter);
#else /* arm64 says nothing */
    LLVMValueRef by_zero = cc_number(l, 0, 32);
    (void)counter;
    (void)count_zero;
#endif
    LLVMValueRef result = divided(l, b, division, safe_divisor(l, b, division, zero), vectors);
    LLVMReplaceAllUsesWith(
        division, LLVMBuildSelect(b, zero, is_rest(division) ? number : by_zero, result, ""));
    LLVMInstructionEraseFromParent(division);
}

void cc_divide_vectors(struct cc_lowering *l, LLVMBuilderRef b, LLVMValueRef division)
{
    LLVMReplaceAllUsesWith(division, divided(l, b, division, LLVMGetOperand(division, 1), true));
    LLVMInstructionEraseFromParent(division);
}
