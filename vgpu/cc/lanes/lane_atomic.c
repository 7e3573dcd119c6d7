/* SPDX-License-Identifier: MIT
 * lane_atomic.c: calls of vgpu_atomic (image.h) in the fast form: instructions of the processor.
 *
 * In the careful form a thread that finds the same value at one address four times in a row may
 * have to wait for others (polling.c), so that threads go on in another order. The fast form has
 * only atomics with which that cannot happen: additions of a constant, those whose result is not
 * used, and three others outside of loops.
 */
#include "lane_values.h"

#include <string.h>

#include "image.h"

enum { OUTSIDE_MAX = 3 };
enum { SEQUENTIAL = 7 }; /* LLVM's order */
enum { RMW_NONE = -1, RMW_EXCHANGE, RMW_ADD, RMW_SUB, RMW_AND, RMW_OR = 5, RMW_XOR, RMW_MAX };
enum { RMW_MIN = 8, RMW_UMAX, RMW_UMIN, RMW_FADD };

bool cc_is_atomic(LLVMValueRef i)
{
    LLVMValueRef called = LLVMIsACallInst(i) != NULL ? LLVMGetCalledValue(i) : NULL;

    return called != NULL && LLVMIsAFunction(called) != NULL &&
           strcmp(cc_value_name(called), "vgpu_atomic") == 0;
}

int cc_atomic_number(LLVMValueRef call, unsigned operand)
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
    int type = cc_atomic_number(call, CC_ATOMIC_TYPE);
    bool is_signed = type == VGPU_I32 || type == VGPU_I64;

    if (type < 0)
        return RMW_NONE;
    switch (cc_atomic_number(call, CC_ATOMIC_OP)) {
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

bool cc_always_changes(LLVMValueRef call)
{
    int type = cc_atomic_number(call, CC_ATOMIC_TYPE),
        value = cc_atomic_number(call, CC_ATOMIC_VALUE);

    return (operation(call) == RMW_ADD || operation(call) == RMW_SUB) && !is_float(type) &&
           value > 0;
}

static bool is_unused(LLVMValueRef call)
{
    int scope = cc_atomic_number(call, CC_ATOMIC_SCOPE);

    return scope >= 0 && (scope & VGPU_UNUSED);
}

void cc_note_unused(struct cc_lowering *l, LLVMValueRef function)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            int scope = cc_is_atomic(i) ? cc_atomic_number(i, CC_ATOMIC_SCOPE) : -1;
            if (scope >= 0 && LLVMGetFirstUse(i) == NULL)
                LLVMSetOperand(i, CC_ATOMIC_SCOPE, cc_number(l, (uint64_t)scope | VGPU_UNUSED, 32));
        }
}

const char *cc_plan_atomic(struct cc_planner *p, LLVMValueRef call, int block,
                           struct vgpu_lane_access *access, LLVMValueRef *address)
{
    bool looped =
        p->graph.block[block].header != CC_NO_BLOCK || p->graph.block[block].latch != CC_NO_BLOCK;
    uint8_t bytes = is_eight(cc_atomic_number(call, CC_ATOMIC_TYPE)) ? 8 : 4;

    if (!cc_always_changes(call) && !is_unused(call) &&
        (looped || ++p->plan->atomics > OUTSIDE_MAX))
        return "it may wait for what its atomics find";
    *access =
        (struct vgpu_lane_access){.bytes = bytes, .aligned = bytes, .write = true, .atomic = true};
    *address = LLVMGetOperand(call, CC_ATOMIC_ADDRESS);
    return NULL;
}

/* Values are passed as bits, in 64. */
void cc_lower_atomic(struct cc_lowering *l, LLVMValueRef call)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(l->context);
    int type = cc_atomic_number(call, CC_ATOMIC_TYPE), op = operation(call);
    LLVMTypeRef whole = cc_int_type(l, is_eight(type) ? 64 : 32), wide = cc_int_type(l, 64);
    LLVMTypeRef real =
        is_eight(type) ? LLVMDoubleTypeInContext(l->context) : LLVMFloatTypeInContext(l->context);
    LLVMTypeRef used = op == RMW_FADD ? real : whole;

    LLVMPositionBuilderBefore(b, call);
    LLVMValueRef to = LLVMBuildCast(b, LLVM_OP_BIT_CAST, LLVMGetOperand(call, CC_ATOMIC_ADDRESS),
                                    LLVMPointerType(used, 0), "");
    LLVMValueRef value = LLVMGetOperand(call, CC_ATOMIC_VALUE);
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
