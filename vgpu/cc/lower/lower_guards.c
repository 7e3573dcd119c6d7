/* SPDX-License-Identifier: MIT
 * lower_guards.c: guards against device code that would run or access what vgpu-exec does not
 * check: calls and jumps through pointers, accesses in other address spaces, and accesses to
 * variables that are not reported (lower_reports.c).
 */
#include "diag.h"
#include "lower.h"

/* ---- calls through pointers ---- */

/* A variable that is cast to a function is called through a pointer, too. */
static bool is_direct(LLVMValueRef called)
{
    while (LLVMIsAConstantExpr(called) != NULL && LLVMGetConstOpcode(called) == LLVM_OP_BIT_CAST)
        called = LLVMGetOperand(called, 0);
    return LLVMIsAFunction(called) != NULL || LLVMIsAInlineAsm(called) != NULL;
}

/* Inserts a call of vgpu-exec that checks that a function of device code begins at the target. */
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
    LLVMBuildCall2(b, type, cc_declare(l, "vgpu_call_target", type), &target, 1, "");
}

/* ---- jumps to addresses ---- */

/* A goto to a computed address could lead into the middle of an instruction. Other instructions
 * that Clang never generates for device code are not checked here. */
static void check_jump(struct cc_lowering *l, LLVMValueRef instruction)
{
    int op = LLVMGetInstructionOpcode(instruction);

    (void)l;
    if (op == LLVM_OP_INDIRECT_BRANCH || op == LLVM_OP_INVOKE || op == LLVM_OP_CALL_BRANCH)
        cc_error(cc_place_of(instruction), "goto to a label's address is not modelled in device "
                                           "code: use switch");
}

/* ---- address spaces ---- */

int cc_address_operand(LLVMValueRef instruction)
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

/* Such an access is not reported; on this processor some reach memory outside of all that is
 * checked. */
static void check_space(struct cc_lowering *l, LLVMValueRef instruction)
{
    int operand = cc_address_operand(instruction);

    (void)l;
    if (operand >= 0 &&
        LLVMGetPointerAddressSpace(LLVMTypeOf(LLVMGetOperand(instruction, (unsigned)operand))) != 0)
        cc_error(cc_place_of(instruction),
                 "__attribute__((address_space)) is not modelled in device code: use an ordinary "
                 "pointer");
}

bool cc_guard_module(struct cc_lowering *l)
{
    cc_check_intrinsics(l);
    cc_for_instructions(l, check_jump);
    cc_for_instructions(l, check_space);
    cc_for_instructions(l, guard_call);
    return cc_error_count() == 0;
}

/* ---- variables ---- */

/* The variable from which the address is computed, as ThreadSanitizer determines it. */
static LLVMValueRef variable_of(LLVMValueRef address)
{
    for (;;) {
        int op = LLVMIsAInstruction(address) != NULL    ? LLVMGetInstructionOpcode(address)
                 : LLVMIsAConstantExpr(address) != NULL ? LLVMGetConstOpcode(address)
                                                        : 0;
        if (op != LLVM_OP_GEP && op != LLVM_OP_BIT_CAST && op != LLVM_OP_ADDR_SPACE_CAST)
            return address;
        address = LLVMGetOperand(address, 0);
    }
}

static bool is_local(LLVMValueRef variable)
{
    return LLVMIsAInstruction(variable) != NULL &&
           LLVMGetInstructionOpcode(variable) == LLVM_OP_ALLOCA;
}

static bool is_fixed(LLVMValueRef variable)
{
    return LLVMIsAGlobalVariable(variable) != NULL &&
           (LLVMIsGlobalConstant(variable) || cc_starts(cc_value_name(variable), "__llvm_"));
}

bool cc_is_unreported(LLVMValueRef address)
{
    LLVMValueRef variable = variable_of(address);

    return is_local(variable) || is_fixed(variable);
}

/* The variable's size; null: accesses to it are reported. Not reported are local variables,
 * constants, and variables with a name that only LLVM itself should give. */
static LLVMValueRef unreported_bytes(struct cc_lowering *l, LLVMBuilderRef b, LLVMValueRef variable)
{
    LLVMTypeRef number = cc_int_type(l, 64);
    bool local = is_local(variable);

    if (!local && !is_fixed(variable))
        return NULL;
    LLVMTypeRef type = local ? LLVMGetAllocatedType(variable) : LLVMGlobalGetValueType(variable);
    LLVMValueRef bytes = LLVMConstInt(number, LLVMABISizeOfType(l->layout, type), 0);
    if (!local)
        return bytes;
    LLVMValueRef count = LLVMBuildIntCast2(b, LLVMGetOperand(variable, 0), number, 0, "");
    return LLVMBuildBinOp(b, LLVM_OP_MULTIPLY, bytes, count, "");
}

/* Inserts a call of vgpu-exec that checks that an unreported access stays within its variable. */
static void guard_variable(struct cc_lowering *l, LLVMValueRef instruction)
{
    static const char name[] = "vgpu_variable_access";
    int operand = cc_address_operand(instruction);
    LLVMTypeRef number = cc_int_type(l, 64), parameter[] = {number, number, number, number};
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(l->context), parameter, 4, 0);

    if (operand < 0)
        return;
    LLVMValueRef address = LLVMGetOperand(instruction, (unsigned)operand);
    LLVMValueRef variable = variable_of(address);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(l->context);
    LLVMPositionBuilderBefore(b, instruction);
    LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(instruction));
    LLVMValueRef bytes = unreported_bytes(l, b, variable);
    if (bytes == NULL)
        return;
    uint64_t accessed = cc_accessed_bytes(l, instruction);
    LLVMValueRef argument[] = {LLVMBuildCast(b, LLVM_OP_PTR_TO_INT, address, number, ""),
                               LLVMBuildCast(b, LLVM_OP_PTR_TO_INT, variable, number, ""), bytes,
                               LLVMConstInt(number, accessed, 0)};
    LLVMBuildCall2(b, type, cc_declare(l, name, type), argument, 4, "");
}

/* A stack allocation of computed size: inserts a call of vgpu-exec that checks for enough stack. */
static void guard_array(struct cc_lowering *l, LLVMValueRef instruction)
{
    LLVMTypeRef number = cc_int_type(l, 64);
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(l->context), &number, 1, 0);

    if (!is_local(instruction) || LLVMIsAConstantInt(LLVMGetOperand(instruction, 0)) != NULL)
        return;
    LLVMBuilderRef b = LLVMCreateBuilderInContext(l->context);
    LLVMPositionBuilderBefore(b, instruction);
    LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(instruction));
    LLVMValueRef bytes = unreported_bytes(l, b, instruction);
    LLVMBuildCall2(b, type, cc_declare(l, "vgpu_local_array", type), &bytes, 1, "");
}

void cc_guard_variables(struct cc_lowering *l)
{
    cc_for_instructions(l, guard_array);
    cc_for_instructions(l, guard_variable);
}

/* ---- two stacks ---- */

/* Local variables to which a pointer leads lie on a stack of their own: a store that leaves one of
 * them finds no return address. LLVM's pass for that runs when the object is written. (Not with -G:
 * debuggers would not find the variables.) */
bool cc_has_two_stacks(const struct cc_lowering *l)
{
    return l->checks_indices && !l->debug;
}

/* What the pass calls for the place of the second stack's pointer. */
void cc_declare_stack(struct cc_lowering *l)
{
    LLVMTypeRef place = LLVMPointerType(cc_byte_pointer(l, 0), 0);

    if (cc_has_two_stacks(l))
        cc_declare(l, "__safestack_pointer_address", LLVMFunctionType(place, NULL, 0, 0));
}
