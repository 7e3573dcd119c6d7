/* SPDX-License-Identifier: MIT
 * lane_warp_same.c: what is the same in all lanes of a warp although it is made of threadIdx.x:
 * threadIdx.x / 32, threadIdx.x < 64, and the like, also of blockIdx.x * blockDim.x + threadIdx.x.
 */
#include "lane_regions.h"

enum { DEPTH = 6 };

/* Whether the value is a multiple of 32, modulo a power of two. */
static bool is_multiple(const struct cc_lanes_of *lanes, LLVMValueRef value, int depth)
{
    LLVMValueRef number = LLVMIsAConstantInt(value);

    if (number != NULL)
        return LLVMConstIntGetSExtValue(number) % CC_WARP_LANES == 0;
    if (value == lanes->block_dim[0])
        return true;
    if (depth == 0 || LLVMIsAInstruction(value) == NULL)
        return false;
    LLVMValueRef a = LLVMGetOperand(value, 0),
                 b = LLVMGetNumOperands(value) > 1 ? LLVMGetOperand(value, 1) : a;
    switch (LLVMGetInstructionOpcode(value)) {
    case LLVM_OP_ZEXT:
    case LLVM_OP_SEXT:
        return is_multiple(lanes, a, depth - 1);
    case LLVM_OP_MULTIPLY:
        return is_multiple(lanes, a, depth - 1) || is_multiple(lanes, b, depth - 1);
    case LLVM_OP_ADD:
        return is_multiple(lanes, a, depth - 1) && is_multiple(lanes, b, depth - 1);
    case LLVM_OP_SHL:
        return is_multiple(lanes, a, depth - 1);
    default:
        return false;
    }
}

/* Whether the value is a multiple of 32 plus the lane. */
static bool counts_lanes(const struct cc_lanes_of *lanes, LLVMValueRef value, int depth)
{
    if (depth == 0 || LLVMIsAInstruction(value) == NULL)
        return false;
    LLVMValueRef a = LLVMGetOperand(value, 0);
    switch (LLVMGetInstructionOpcode(value)) {
    case LLVM_OP_LOAD:
        return a == lanes->thread[0];
    case LLVM_OP_ZEXT:
    case LLVM_OP_SEXT:
        return counts_lanes(lanes, a, depth - 1);
    case LLVM_OP_ADD:
        return (counts_lanes(lanes, a, depth - 1) &&
                is_multiple(lanes, LLVMGetOperand(value, 1), depth)) ||
               (counts_lanes(lanes, LLVMGetOperand(value, 1), depth - 1) &&
                is_multiple(lanes, a, depth));
    default:
        return false;
    }
}

/* A number of warps: the comparison cannot divide one. */
static bool is_limit(const struct cc_lanes_of *lanes, LLVMValueRef value, int how)
{
    LLVMValueRef number = LLVMIsAConstantInt(value);

    switch (how) {
    case VGPU_ULT:
    case VGPU_UGE:
    case VGPU_SLT:
    case VGPU_SGE:
        return is_multiple(lanes, value, DEPTH);
    case VGPU_UGT:
    case VGPU_ULE:
    case VGPU_SGT:
    case VGPU_SLE:
        return number != NULL && (LLVMConstIntGetSExtValue(number) + 1) % CC_WARP_LANES == 0;
    default:
        return false;
    }
}

/* threadIdx.x, which is not negative. */
static bool is_thread_x(const struct cc_lanes_of *lanes, LLVMValueRef value)
{
    if (LLVMIsAInstruction(value) == NULL)
        return false;
    int op = LLVMGetInstructionOpcode(value);
    return op == LLVM_OP_LOAD ? LLVMGetOperand(value, 0) == lanes->thread[0]
                              : (op == LLVM_OP_ZEXT || op == LLVM_OP_SEXT) &&
                                    is_thread_x(lanes, LLVMGetOperand(value, 0));
}

/* threadIdx.x + 31 < 63, as LLVM writes threadIdx.x / 32 == 0 of signed numbers. */
static bool is_first_warp(const struct cc_lanes_of *lanes, LLVMValueRef compare)
{
    LLVMValueRef sum = LLVMGetOperand(compare, 0),
                 end = LLVMIsAConstantInt(LLVMGetOperand(compare, 1));

    if (LLVMGetICmpPredicate(compare) - CC_COMPARE_BASE != VGPU_ULT || end == NULL ||
        LLVMIsAInstruction(sum) == NULL || LLVMGetInstructionOpcode(sum) != LLVM_OP_ADD ||
        LLVMIsAConstantInt(LLVMGetOperand(sum, 1)) == NULL)
        return false;
    long long more = LLVMConstIntGetSExtValue(LLVMGetOperand(sum, 1));
    return is_thread_x(lanes, LLVMGetOperand(sum, 0)) && more > 0 && more <= INT16_MAX &&
           (LLVMConstIntGetSExtValue(end) - more) % CC_WARP_LANES == 0;
}

bool cc_is_same_in_warp(const struct cc_lanes_of *lanes, LLVMValueRef i)
{
    int op = LLVMGetInstructionOpcode(i);
    bool halves = op == LLVM_OP_LSHR || op == LLVM_OP_ASHR,
         divides = op == LLVM_OP_SDIV || op == LLVM_OP_UDIV;

    if (!halves && !divides && op != LLVM_OP_AND && op != LLVM_OP_COMPARE)
        return false;
    if (op == LLVM_OP_COMPARE)
        return is_first_warp(lanes, i) ||
               (counts_lanes(lanes, LLVMGetOperand(i, 0), DEPTH) &&
                is_limit(lanes, LLVMGetOperand(i, 1), LLVMGetICmpPredicate(i) - CC_COMPARE_BASE));
    LLVMValueRef number = LLVMIsAConstantInt(LLVMGetOperand(i, 1));
    if (number == NULL || !counts_lanes(lanes, LLVMGetOperand(i, 0), DEPTH))
        return false;
    long long by = LLVMConstIntGetSExtValue(number);
    if (halves)
        return by >= 5;
    return by % CC_WARP_LANES == 0 &&
           (op != LLVM_OP_SDIV || (by > 0 && is_thread_x(lanes, LLVMGetOperand(i, 0))));
}
