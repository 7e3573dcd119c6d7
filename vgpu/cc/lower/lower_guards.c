/* SPDX-License-Identifier: MIT
 * lower_guards.c: what would let device code run or reach what vgpu-exec does not look at: calls
 * through pointers, accesses in address spaces of their own, and the names of vgpu-exec's reports.
 */
#include "diag.h"
#include "lower.h"

typedef void step(struct cc_lowering *l, LLVMValueRef instruction);

static void for_instructions(struct cc_lowering *l, step *does)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(l->module); f != NULL; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
                does(l, i);
}

/* ---- calls through pointers ---- */

static bool is_direct(LLVMValueRef called)
{
    return LLVMIsAGlobalValue(called) != NULL || LLVMIsAInlineAsm(called) != NULL ||
           (LLVMIsAConstantExpr(called) != NULL && LLVMGetConstOpcode(called) == LLVM_OP_BIT_CAST &&
            LLVMIsAGlobalValue(LLVMGetOperand(called, 0)) != NULL);
}

static LLVMValueRef guard(struct cc_lowering *l, LLVMTypeRef type)
{
    static const char name[] = "vgpu_call_target";
    LLVMValueRef known = LLVMGetNamedFunction(l->module, name);

    return known != NULL ? known : LLVMAddFunction(l->module, name, type);
}

/* vgpu-exec is asked first whether a function of device code begins there. */
static void guard_call(struct cc_lowering *l, LLVMValueRef call)
{
    LLVMValueRef called = LLVMIsACallInst(call) != NULL ? LLVMGetCalledValue(call) : NULL;
    LLVMTypeRef address = cc_int_type(l, 64);
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(l->context), &address, 1, 0);

    if (called == NULL || is_direct(called))
        return;
    LLVMBuilderRef b = LLVMCreateBuilderInContext(l->context);
    LLVMPositionBuilderBefore(b, call);
    LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(call));
    LLVMValueRef target = LLVMBuildCast(b, LLVM_OP_PTR_TO_INT, called, address, "");
    LLVMBuildCall2(b, type, guard(l, type), &target, 1, "");
}

/* ---- address spaces ---- */

/* Where the address is among the operands of what accesses memory; -1: it does not. */
static int address_operand(LLVMValueRef instruction)
{
    switch (LLVMGetInstructionOpcode(instruction)) {
    case LLVM_OP_LOAD:
    case LLVM_OP_COMPARE_EXCHANGE:
    case LLVM_OP_READ_MODIFY_WRITE:
        return 0;
    case LLVM_OP_STORE:
        return 1;
    default:
        return -1;
    }
}

/* Such an access is not reported; on this processor some reach outside of all that is. */
static void check_space(struct cc_lowering *l, LLVMValueRef instruction)
{
    int operand = address_operand(instruction);

    (void)l;
    if (operand >= 0 &&
        LLVMGetPointerAddressSpace(LLVMTypeOf(LLVMGetOperand(instruction, (unsigned)operand))) != 0)
        cc_error(cc_place_of(instruction),
                 "__attribute__((address_space)) is not modelled in device code: use an ordinary "
                 "pointer");
}

bool cc_guard_module(struct cc_lowering *l)
{
    for_instructions(l, check_space);
    for_instructions(l, guard_call);
    return cc_error_count() == 0;
}

/* ---- reports ---- */

/* ThreadSanitizer's calls are put in here, for each access that there is; a program's own would
 * report what was never read or written. */
void cc_check_reports(struct cc_lowering *l)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(l->module); f != NULL; f = LLVMGetNextFunction(f))
        if (cc_starts(cc_value_name(f), "__tsan_") && LLVMGetFirstUse(f) != NULL)
            cc_error(cc_place_of(LLVMGetUser(LLVMGetFirstUse(f))),
                     "%s is not allowed in device code", cc_value_name(f));
}
