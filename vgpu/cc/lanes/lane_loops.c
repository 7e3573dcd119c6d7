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

void cc_set_positive(struct cc_lowering *l, LLVMValueRef load)
{
    LLVMValueRef range[] = {cc_number(l, 1, 32), cc_number(l, 1u << 31, 32)};

    LLVMSetMetadata(load, LLVMGetMDKindIDInContext(l->context, "range", 5),
                    LLVMMDNodeInContext(l->context, range, 2));
}

/* ---- warps ---- */

static LLVMValueRef zero(const struct cc_lanes_of *lanes, unsigned bits)
{
    return LLVMConstInt(cc_int_type(lanes->l, bits), 0, 0);
}

static LLVMValueRef add_to(const struct cc_lanes_of *lanes, LLVMBuilderRef b, LLVMValueRef to,
                           unsigned bits, LLVMValueRef by)
{
    return LLVMBuildBinOp(b, LLVM_OP_ADD, LLVMBuildLoad2(b, cc_int_type(lanes->l, bits), to, ""),
                          by, "");
}

void cc_first_warp(const struct cc_lanes_of *lanes, LLVMBuilderRef b)
{
    LLVMBuildStore(b, zero(lanes, 32), lanes->thread[1]);
    LLVMBuildStore(b, zero(lanes, 32), lanes->thread[2]);
    LLVMBuildStore(b, zero(lanes, 32), lanes->warp_x);
    LLVMBuildStore(b, zero(lanes, 64), lanes->warp_lane);
}

void cc_next_warp(const struct cc_lanes_of *lanes, LLVMBuilderRef b, LLVMBasicBlockRef again,
                  LLVMBasicBlockRef done)
{
    LLVMValueRef variable[] = {lanes->warp_x, lanes->thread[1], lanes->thread[2]};

    LLVMBuildStore(b,
                   add_to(lanes, b, lanes->warp_lane, 64, cc_number(lanes->l, CC_WARP_LANES, 64)),
                   lanes->warp_lane);
    for (int i = 0; i < 3; i++) {
        LLVMBasicBlockRef over = cc_add_block(lanes->l, lanes->function);
        LLVMValueRef next =
            add_to(lanes, b, variable[i], 32, cc_number(lanes->l, i == 0 ? CC_WARP_LANES : 1, 32));
        LLVMBuildStore(b, next, variable[i]);
        LLVMBuildCondBr(b, LLVMBuildICmp(b, VGPU_ULT + 32, next, lanes->block_dim[i], ""), again,
                        over);
        LLVMPositionBuilderAtEnd(b, over);
        LLVMBuildStore(b, zero(lanes, 32), variable[i]);
    }
    LLVMBuildBr(b, done);
}

struct cc_loops cc_make_warp_loop(const struct cc_lanes_of *lanes, LLVMBuilderRef b)
{
    struct cc_loops made = {cc_add_block(lanes->l, lanes->function),
                            cc_add_block(lanes->l, lanes->function),
                            cc_add_block(lanes->l, lanes->function)};

    LLVMBuildStore(b, zero(lanes, 64), lanes->in_warp);
    LLVMBuildBr(b, made.body);
    LLVMPositionBuilderAtEnd(b, made.body);
    LLVMValueRef lane = LLVMBuildLoad2(b, cc_int_type(lanes->l, 64), lanes->in_warp, "");
    LLVMBuildStore(b, add_to(lanes, b, lanes->warp_lane, 64, lane), lanes->lane);
    LLVMBuildStore(
        b,
        add_to(lanes, b, lanes->warp_x, 32, LLVMBuildTrunc(b, lane, cc_int_type(lanes->l, 32), "")),
        lanes->thread[0]);
    LLVMPositionBuilderAtEnd(b, made.next);
    LLVMValueRef more = add_one(lanes, b, lanes->in_warp, 64);
    LLVMValueRef is =
        LLVMBuildICmp(b, VGPU_ULT + 32, more, cc_number(lanes->l, CC_WARP_LANES, 64), "");
    LLVMBuildCondBr(b, is, made.body, made.after);
    return made;
}

/* ---- all threads ---- */

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
