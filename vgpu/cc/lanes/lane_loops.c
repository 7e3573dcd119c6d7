/* SPDX-License-Identifier: MIT
 * lane_loops.c: builds do { ... } while (++thread < blockDim) for z, y and x; a block has at
 * least one thread.
 */
#include "lane_plan.h"

static LLVMValueRef add_one(const struct cc_lanes_of *lanes, LLVMBuilderRef b, LLVMValueRef to,
                            unsigned bits)
{
    LLVMTypeRef type = cc_int_type(lanes->l, bits);
    LLVMValueRef more = LLVMBuildBinOp(b, LLVM_OP_ADD, LLVMBuildLoad2(b, type, to, ""),
                                       LLVMConstInt(type, 1, 0), "");

    LLVMBuildStore(b, more, to);
    return more;
}

struct cc_loops cc_make_loops(const struct cc_lanes_of *lanes, LLVMBuilderRef b)
{
    LLVMBasicBlockRef start[3], next[3], after;

    LLVMBuildStore(b, LLVMConstInt(cc_int_type(lanes->l, 64), 0, 0), lanes->lane);
    for (int i = 2; i >= 0; i--) {
        start[i] = cc_add_block(lanes->l, lanes->function);
        LLVMBuildStore(b, LLVMConstInt(cc_int_type(lanes->l, 32), 0, 0), lanes->thread[i]);
        LLVMBuildBr(b, start[i]);
        LLVMPositionBuilderAtEnd(b, start[i]);
    }
    for (int i = 0; i < 3; i++) {
        next[i] = cc_add_block(lanes->l, lanes->function);
        if (i > 0)
            LLVMBuildBr(b, next[i]);
        LLVMPositionBuilderAtEnd(b, next[i]);
        if (i == 0)
            add_one(lanes, b, lanes->lane, 64);
        LLVMValueRef more = add_one(lanes, b, lanes->thread[i], 32);
        LLVMValueRef is = LLVMBuildICmp(b, VGPU_ULT + 32, more, lanes->block_dim[i], "");
        after = cc_add_block(lanes->l, lanes->function);
        LLVMBuildCondBr(b, is, start[i], after);
        LLVMPositionBuilderAtEnd(b, after);
    }
    return (struct cc_loops){start[0], next[0], after};
}
