/* SPDX-License-Identifier: MIT
 * ptx_shuffle.c: shfl.sync with operands that are known, as CUDA's __shfl_sync and its like, which
 * the fast form of kernels has.
 */
#include <string.h>

#include "image.h"
#include "ptx_module.h"

enum { KIND, MASK, VALUE, BY, GROUP }; /* operands of vgpu_ptx_shfl, and the site */

/* How many lanes exchange values, if c is what CUDA's functions make of that; 0: it is not. */
static uint32_t width_of(uint64_t kind, LLVMValueRef c)
{
    uint64_t value = LLVMIsAConstantInt(c) != NULL ? LLVMConstIntGetZExtValue(c) : UINT64_MAX;
    uint64_t width = 32 - (value >> 8 & 31);

    return value >> 13 == 0 && (value & 255) == (kind == VGPU_SHFL_UP ? 0 : 31) &&
                   (width & (width - 1)) == 0
               ? (uint32_t)width
               : 0;
}

/* Whether the lane that is asked is among the `width` with which this one exchanges values. */
static LLVMValueRef is_in_range(struct cc_ptx_statement *s, uint64_t kind, LLVMValueRef by,
                                uint32_t width)
{
    LLVMValueRef most = cc_ptx_number(s, width - 1, 32);

    if (kind == VGPU_SHFL_IDX)
        return cc_ptx_number(s, 1, 1);
    LLVMValueRef lane = cc_ptx_op(s, LLVM_OP_AND, cc_ptx_lane(s), most); /* in its group */
    if (kind == VGPU_SHFL_UP)
        return LLVMBuildICmp(s->b, CC_PTX_AT_MOST, by, lane, "");
    int op = kind == VGPU_SHFL_DOWN ? LLVM_OP_ADD : LLVM_OP_XOR;
    return LLVMBuildICmp(s->b, CC_PTX_AT_MOST, cc_ptx_op(s, op, lane, by), most, "");
}

static bool is_shuffle(LLVMValueRef call)
{
    LLVMValueRef called = LLVMIsACallInst(call) != NULL ? LLVMGetCalledValue(call) : NULL;

    return called != NULL && LLVMIsAFunction(called) != NULL &&
           strcmp(cc_value_name(called), "vgpu_ptx_shfl") == 0;
}

void cc_ptx_simplify_shuffle(struct cc_lowering *l, LLVMValueRef call)
{
    struct cc_ptx_statement s = {.l = l, .b = LLVMCreateBuilderInContext(l->context)};

    if (!is_shuffle(call))
        return;
    uint64_t kind = LLVMConstIntGetZExtValue(LLVMGetOperand(call, KIND));
    uint32_t width = width_of(kind, LLVMGetOperand(call, GROUP));
    if (width == 0)
        return;
    LLVMPositionBuilderBefore(s.b, call);
    LLVMValueRef by =
        cc_ptx_op(&s, LLVM_OP_AND, LLVMGetOperand(call, BY), cc_ptx_number(&s, 31, 32));
    LLVMValueRef argument[] = {LLVMGetOperand(call, KIND),
                               LLVMGetOperand(call, MASK),
                               cc_ptx_bits(&s, LLVMGetOperand(call, VALUE), 64),
                               by,
                               cc_ptx_number(&s, width, 32),
                               LLVMGetOperand(call, GROUP + 1)};
    LLVMValueRef found = cc_ptx_call(&s, "vgpu_shfl", cc_int_type(l, 64), argument, 6);
    LLVMValueRef valid = cc_ptx_bits(&s, is_in_range(&s, kind, by, width), 64);
    valid = cc_ptx_op(&s, LLVM_OP_SHL, valid, cc_ptx_number(&s, 32, 64));
    found = cc_ptx_bits(&s, cc_ptx_bits(&s, found, 32), 64);
    LLVMReplaceAllUsesWith(call, cc_ptx_op(&s, LLVM_OP_OR, found, valid));
    LLVMInstructionEraseFromParent(call);
}
