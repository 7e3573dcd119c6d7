/* SPDX-License-Identifier: MIT
 * lane_atomic.c: calls of vgpu_atomic (image.h) in the fast form: instructions of the processor.
 *
 * In the careful form a thread that finds the same value at one address four times in a row may
 * have to wait for others (polling.c), so that threads go on in another order. The fast form has
 * only atomics with which that cannot happen: additions of a constant, and three others outside of
 * loops.
 */
#include "lane_values.h"

#include <string.h>

#include "image.h"

enum { OF_OP, OF_TYPE, OF_ADDRESS, OF_VALUE, OUTSIDE_MAX = 3 };
enum { SEQUENTIAL = 7 }; /* LLVM's order */
enum { RMW_NONE = -1, RMW_EXCHANGE, RMW_ADD, RMW_SUB, RMW_AND, RMW_OR = 5, RMW_XOR, RMW_MAX };
enum { RMW_MIN = 8, RMW_UMAX, RMW_UMIN, RMW_FADD };

bool cc_is_atomic(LLVMValueRef i)
{
    LLVMValueRef called = LLVMIsACallInst(i) != NULL ? LLVMGetCalledValue(i) : NULL;

    return called != NULL && LLVMIsAFunction(called) != NULL &&
           strcmp(cc_value_name(called), "vgpu_atomic") == 0;
}

/* A constant operand; -1: it is none. */
static int number_of(LLVMValueRef call, unsigned operand)
{
    LLVMValueRef number = LLVMIsAConstantInt(LLVMGetOperand(call, operand));

    return number != NULL ? (int)LLVMConstIntGetZExtValue(number) : -1;
}

static bool is_eight(int type)
{
    return type == VGPU_I64 || type == VGPU_U64 || type == VGPU_F64;
}

static bool is_float(int type)
{
    return type == VGPU_F32 || type == VGPU_F64;
}

/* The operation of LLVM's instruction. */
static int operation(LLVMValueRef call)
{
    int type = number_of(call, OF_TYPE);
    bool is_signed = type == VGPU_I32 || type == VGPU_I64;

    if (type < 0)
        return RMW_NONE;
    switch (number_of(call, OF_OP)) {
    case VGPU_ATOMIC_ADD:
        return is_float(type) ? RMW_FADD : RMW_ADD;
    case VGPU_ATOMIC_EXCH:
        return RMW_EXCHANGE;
    case VGPU_ATOMIC_SUB:
        return is_float(type) ? RMW_NONE : RMW_SUB;
    case VGPU_ATOMIC_MIN:
        return is_float(type) ? RMW_NONE : is_signed ? RMW_MIN : RMW_UMIN;
    case VGPU_ATOMIC_MAX:
        return is_float(type) ? RMW_NONE : is_signed ? RMW_MAX : RMW_UMAX;
    case VGPU_ATOMIC_AND:
        return RMW_AND;
    case VGPU_ATOMIC_OR:
        return RMW_OR;
    case VGPU_ATOMIC_XOR:
        return RMW_XOR;
    default:
        return RMW_NONE;
    }
}

const char *cc_refused_atomic(LLVMValueRef call)
{
    return operation(call) == RMW_NONE ? "it has atomics of an unusual kind" : NULL;
}

static bool always_changes(LLVMValueRef call)
{
    int type = number_of(call, OF_TYPE), value = number_of(call, OF_VALUE);

    return (operation(call) == RMW_ADD || operation(call) == RMW_SUB) && !is_float(type) &&
           value > 0;
}

const char *cc_plan_atomic(struct cc_planner *p, LLVMValueRef call, int block,
                           struct vgpu_lane_access *access, LLVMValueRef *address)
{
    bool looped =
        p->graph.block[block].header != CC_NO_BLOCK || p->graph.block[block].latch != CC_NO_BLOCK;
    uint8_t bytes = is_eight(number_of(call, OF_TYPE)) ? 8 : 4;

    if (!always_changes(call) && (looped || ++p->plan->atomics > OUTSIDE_MAX))
        return "it may wait for what its atomics find";
    *access =
        (struct vgpu_lane_access){.bytes = bytes, .aligned = bytes, .write = true, .atomic = true};
    *address = LLVMGetOperand(call, OF_ADDRESS);
    return NULL;
}

/* Values are passed as bits, in 64. */
void cc_lower_atomic(struct cc_lowering *l, LLVMValueRef call)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(l->context);
    int type = number_of(call, OF_TYPE), op = operation(call);
    LLVMTypeRef whole = cc_int_type(l, is_eight(type) ? 64 : 32), wide = cc_int_type(l, 64);
    LLVMTypeRef real =
        is_eight(type) ? LLVMDoubleTypeInContext(l->context) : LLVMFloatTypeInContext(l->context);
    LLVMTypeRef used = op == RMW_FADD ? real : whole;

    LLVMPositionBuilderBefore(b, call);
    LLVMValueRef to = LLVMBuildCast(b, LLVM_OP_BIT_CAST, LLVMGetOperand(call, OF_ADDRESS),
                                    LLVMPointerType(used, 0), "");
    LLVMValueRef value = LLVMGetOperand(call, OF_VALUE);
    if (!is_eight(type))
        value = LLVMBuildTrunc(b, value, whole, "");
    if (op == RMW_FADD)
        value = LLVMBuildCast(b, LLVM_OP_BIT_CAST, value, real, "");
    LLVMValueRef old = LLVMBuildAtomicRMW(b, op, to, value, SEQUENTIAL, 0);
    if (LLVMGetFirstUse(call) != NULL) {
        if (op == RMW_FADD)
            old = LLVMBuildCast(b, LLVM_OP_BIT_CAST, old, whole, "");
        if (!is_eight(type))
            old = LLVMBuildCast(b, LLVM_OP_ZEXT, old, wide, "");
        LLVMReplaceAllUsesWith(call, old);
    }
    LLVMInstructionEraseFromParent(call);
}
