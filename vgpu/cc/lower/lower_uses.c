/* SPDX-License-Identifier: MIT
 * lower_uses.c: replaces a function's uses of a global variable by uses of a pointer.
 */
#include "lower.h"

struct use {
    LLVMValueRef variable; /* the global */
    LLVMValueRef base;     /* its replacement in the function */
    LLVMBuilderRef b;
};

/* Whether the constant depends on the variable. */
static bool depends(LLVMValueRef value, LLVMValueRef variable)
{
    if (value == variable)
        return true;
    if (LLVMIsAConstantExpr(value) == NULL)
        return false;
    for (int i = 0; i < LLVMGetNumOperands(value); i++)
        if (depends(LLVMGetOperand(value, (unsigned)i), variable))
            return true;
    return false;
}

/* ---- constants that depend on the variable's address are expanded to instructions ---- */

static LLVMValueRef rebuild(struct use *u, LLVMValueRef value);

static LLVMValueRef rebuild_gep(struct use *u, LLVMValueRef value)
{
    int count = LLVMGetNumOperands(value) - 1;
    LLVMValueRef *index = cc_alloc((size_t)(count + 1) * sizeof *index);

    for (int i = 0; i < count; i++)
        index[i] = rebuild(u, LLVMGetOperand(value, (unsigned)i + 1));
    return LLVMBuildGEP2(u->b, LLVMGetGEPSourceElementType(value),
                         rebuild(u, LLVMGetOperand(value, 0)), index, (unsigned)count, "");
}

static LLVMValueRef rebuild(struct use *u, LLVMValueRef value)
{
    if (value == u->variable)
        return u->base;
    if (!depends(value, u->variable))
        return value;
    int op = LLVMGetConstOpcode(value);
    if (op == LLVM_OP_GEP)
        return rebuild_gep(u, value);
    LLVMValueRef first = rebuild(u, LLVMGetOperand(value, 0));
    if ((op >= LLVM_OP_TRUNC && op <= LLVM_OP_BIT_CAST) || op == LLVM_OP_ADDR_SPACE_CAST)
        return LLVMBuildCast(u->b, op, first, LLVMTypeOf(value), "");
    LLVMValueRef second = rebuild(u, LLVMGetOperand(value, 1));
    if (op == LLVM_OP_COMPARE)
        return LLVMBuildICmp(u->b, LLVMGetICmpPredicate(value), first, second, "");
    if (op == LLVM_OP_SELECT)
        return LLVMBuildSelect(u->b, first, second, rebuild(u, LLVMGetOperand(value, 2)), "");
    return LLVMBuildBinOp(u->b, op, first, second, "");
}

static void replace_operands(struct use *u, LLVMValueRef instruction)
{
    for (int i = 0; i < LLVMGetNumOperands(instruction); i++) {
        LLVMValueRef operand = LLVMGetOperand(instruction, (unsigned)i), before = instruction;
        if (LLVMIsAConstant(operand) == NULL || !depends(operand, u->variable))
            continue;
        if (LLVMIsAPHINode(instruction) != NULL)
            before = LLVMGetBasicBlockTerminator(LLVMGetIncomingBlock(instruction, (unsigned)i));
        LLVMPositionBuilderBefore(u->b, before);
        LLVMSetOperand(instruction, (unsigned)i, rebuild(u, operand));
    }
}

/* ---- functions that use the variable ---- */

static bool uses(LLVMValueRef function, LLVMValueRef variable)
{
    for (LLVMBasicBlockRef k = LLVMGetFirstBasicBlock(function); k; k = LLVMGetNextBasicBlock(k))
        for (LLVMValueRef i = LLVMGetFirstInstruction(k); i; i = LLVMGetNextInstruction(i))
            for (int n = 0; n < LLVMGetNumOperands(i); n++) {
                LLVMValueRef operand = LLVMGetOperand(i, (unsigned)n);
                if (LLVMIsAConstant(operand) != NULL && depends(operand, variable))
                    return true;
            }
    return false;
}

bool cc_replace_in(struct cc_lowering *l, LLVMValueRef variable, LLVMValueRef function, cc_ask *ask,
                   unsigned id)
{
    if (LLVMIsDeclaration(function) || !uses(function, variable))
        return false;
    struct use u = {variable, NULL, LLVMCreateBuilderInContext(l->context)};
    LLVMPositionBuilderBefore(u.b, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function)));
    u.base = ask(l, u.b, variable, id);
    for (LLVMBasicBlockRef k = LLVMGetFirstBasicBlock(function); k; k = LLVMGetNextBasicBlock(k))
        for (LLVMValueRef i = LLVMGetFirstInstruction(k); i; i = LLVMGetNextInstruction(i))
            replace_operands(&u, i);
    return true;
}

/* Unused constants stay in LLVM's tables. */
static bool is_named(LLVMValueRef value)
{
    for (LLVMUseRef use = LLVMGetFirstUse(value); use != NULL; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        bool constant = LLVMIsAConstant(user) != NULL && LLVMIsAGlobalValue(user) == NULL;
        if (!constant || is_named(user))
            return true;
    }
    return false;
}

bool cc_delete_unused(LLVMValueRef variable)
{
    if (is_named(variable))
        return false;
    LLVMReplaceAllUsesWith(variable, LLVMGetUndef(LLVMTypeOf(variable)));
    LLVMDeleteGlobal(variable);
    return true;
}
