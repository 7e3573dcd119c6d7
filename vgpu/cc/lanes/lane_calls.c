/* SPDX-License-Identifier: MIT
 * lane_calls.c: functions that the optimizer has not inlined because they are long. The careful
 * form calls them. The fast form is made of a copy of the kernel into which they are inlined, if
 * they use no memory: then the copy has the kernel's accesses, neither more nor fewer.
 */
#include <string.h>

#include "lane_plan.h"
#include "lane_values.h"

enum { CALLS_DEEP = 8 };

static LLVMValueRef called_function(LLVMValueRef i)
{
    return LLVMIsACallInst(i) != NULL ? LLVMIsAFunction(LLVMGetCalledValue(i)) : NULL;
}

static bool uses_no_memory(LLVMValueRef function, int depth);

static bool is_without_memory(LLVMValueRef i, int depth)
{
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVM_OP_ALLOCA:
    case LLVM_OP_LOAD:
    case LLVM_OP_STORE:
    case LLVM_OP_FENCE:
    case LLVM_OP_COMPARE_EXCHANGE:
    case LLVM_OP_READ_MODIFY_WRITE:
        return false;
    case LLVM_OP_CALL:
        return called_function(i) != NULL && (LLVMIsDeclaration(called_function(i))
                                                  ? cc_is_pure_call(called_function(i))
                                                  : uses_no_memory(called_function(i), depth + 1));
    default:
        return true;
    }
}

/* Too deep: it may be recursive. */
static bool uses_no_memory(LLVMValueRef function, int depth)
{
    bool none = depth < CALLS_DEEP;

    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b && none;
         b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i && none; i = LLVMGetNextInstruction(i))
            none = is_without_memory(i, depth);
    return none;
}

static size_t count_calls(LLVMValueRef function, bool (*counts)(LLVMValueRef called))
{
    size_t count = 0;

    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            count += called_function(i) != NULL && counts(called_function(i));
    return count;
}

static bool has_code(LLVMValueRef function)
{
    return !LLVMIsDeclaration(function);
}

static bool uses_memory(LLVMValueRef function)
{
    return has_code(function) && !uses_no_memory(function, 0);
}

static void give_attributes(LLVMValueRef from, LLVMValueRef to)
{
    const unsigned last = LLVMCountParams(from);

    for (unsigned i = 0; i <= last + 1; i++) {
        unsigned at = i <= last ? i : (unsigned)LLVM_ATTRIBUTE_FUNCTION;
        unsigned count = LLVMGetAttributeCountAtIndex(from, at);
        LLVMAttributeRef *all = cc_alloc((count + 1) * sizeof(LLVMAttributeRef));
        LLVMGetAttributesAtIndex(from, at, all);
        for (unsigned k = 0; k < count; k++)
            LLVMAddAttributeAtIndex(to, at, all[k]);
    }
}

static void inline_calls_in(struct cc_lowering *l, LLVMValueRef function)
{
    unsigned kind = LLVMGetEnumAttributeKindForName("alwaysinline", 12);

    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (called_function(i) != NULL && has_code(called_function(i)))
                LLVMAddCallSiteAttribute(i, (unsigned)LLVM_ATTRIBUTE_FUNCTION,
                                         LLVMCreateEnumAttribute(l->context, kind, 0));
}

/* The copy: so far it only calls the kernel. */
static LLVMValueRef make_caller(struct cc_lowering *l, LLVMValueRef kernel, size_t number)
{
    LLVMTypeRef type = LLVMGlobalGetValueType(kernel);
    LLVMValueRef copy = LLVMAddFunction(l->module, cc_format("vgpu_inlined_%zu", number), type);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(l->context);
    unsigned count = LLVMCountParams(kernel), convention = LLVMGetFunctionCallConv(kernel);
    LLVMValueRef *parameter = cc_alloc((count + 1) * sizeof(LLVMValueRef));

    for (unsigned i = 0; i < count; i++)
        parameter[i] = LLVMGetParam(copy, i);
    LLVMSetLinkage(copy, LLVM_LINKAGE_INTERNAL);
    LLVMSetFunctionCallConv(copy, convention);
    give_attributes(kernel, copy);
    LLVMPositionBuilderAtEnd(b, cc_add_block(l, copy));
    LLVMSetInstructionCallConv(LLVMBuildCall2(b, type, kernel, parameter, count, ""), convention);
    LLVMBuildRetVoid(b);
    return copy;
}

/* A parameter `byval` would be copied into each caller. */
static void pass_by_value(LLVMValueRef kernel, LLVMValueRef copy, bool is)
{
    unsigned kind = LLVMGetEnumAttributeKindForName("byval", 5);

    for (unsigned i = 1; i <= LLVMCountParams(kernel); i++) {
        LLVMAttributeRef attribute = LLVMGetEnumAttributeAtIndex(copy, i, kind);
        if (attribute == NULL)
            continue;
        if (is)
            LLVMAddAttributeAtIndex(kernel, i, attribute);
        else
            LLVMRemoveEnumAttributeAtIndex(kernel, i, kind);
    }
}

bool cc_inline_calls(struct cc_lowering *l, LLVMValueRef *kernel, size_t count)
{
    LLVMValueRef *copy = cc_alloc((count + 1) * sizeof(LLVMValueRef));
    bool any = true, done = true;

    for (size_t i = 0; i < count; i++)
        if (kernel[i] != NULL && count_calls(kernel[i], has_code) != 0 &&
            count_calls(kernel[i], uses_memory) == 0) {
            copy[i] = make_caller(l, kernel[i], i);
            pass_by_value(kernel[i], copy[i], false);
        }
    for (int depth = 0; depth <= CALLS_DEEP && any && done; depth++) {
        any = false;
        for (size_t i = 0; i < count; i++)
            if (copy[i] != NULL && count_calls(copy[i], has_code) != 0) {
                inline_calls_in(l, copy[i]);
                any = true;
            }
        done = !any || cc_run_passes(l, "always-inline");
    }
    for (size_t i = 0; i < count; i++)
        if (copy[i] != NULL) {
            pass_by_value(kernel[i], copy[i], true);
            kernel[i] = copy[i];
        }
    return done;
}
