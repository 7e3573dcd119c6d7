/* SPDX-License-Identifier: MIT
 * lower_globals.c: moves variables of device memory to the processor's single address space:
 * __device__ and __constant__ ones to the section over which vgpu-exec maps device memory.
 */
#include <string.h>

#include "diag.h"
#include "image.h"
#include "lower.h"
#include "names.h"

static unsigned space_of(LLVMValueRef global)
{
    return LLVMGetPointerAddressSpace(LLVMTypeOf(global));
}

static void add_global_variable(struct cc_lowering *l, LLVMValueRef global)
{
    struct cc_device_code *code = l->code;
    struct cc_variable variable = {
        .symbol = cc_value_name(global),
        .bytes = LLVMABISizeOfType(l->layout, LLVMGlobalGetValueType(global))};

    LLVMSetSection(global, VGPU_DEVICE_VAR_SECTION);
    code->variable =
        cc_grow(code->variable, code->variable_count, &code->variable_capacity, sizeof variable);
    code->variable[code->variable_count++] = variable;
}

/* Whether it is a variable of the program that the host may name, too: not a string, nor a constant
 * that the compiler emits in device code because its value is known. */
static bool is_variable(LLVMValueRef global)
{
    return LLVMIsExternallyInitialized(global) ||
           (LLVMGetLinkage(global) != LLVM_LINKAGE_PRIVATE && !LLVMIsGlobalConstant(global));
}

/* Whether the value contains the address of a function that is not device code. */
static bool names_host_code(LLVMValueRef value)
{
    LLVMValueRef f = LLVMIsAFunction(value);

    if (f != NULL)
        return LLVMIsDeclaration(f) && !cc_is_offered(cc_value_name(f));
    if (LLVMIsAConstant(value) == NULL || LLVMIsAGlobalValue(value) != NULL)
        return false;
    for (int i = 0; i < LLVMGetNumOperands(value); i++)
        if (names_host_code(LLVMGetOperand(value, (unsigned)i)))
            return true;
    return false;
}

/* Clang emits every constant of the file as one that device code may use: a table of host functions
 * is skipped unless device code uses it. */
static bool is_hosts(LLVMValueRef global)
{
    LLVMValueRef value = LLVMGetInitializer(global);

    return value != NULL && LLVMIsGlobalConstant(global) && names_host_code(value) &&
           cc_delete_unused(global);
}

/* Replaces the variable by the same one in address space 0. */
static void move_global(struct cc_lowering *l, LLVMValueRef old)
{
    const char *name = cc_copy(cc_value_name(old), strlen(cc_value_name(old)));
    LLVMValueRef value = LLVMGetInitializer(old);

    LLVMSetValueName2(old, "", 0);
    LLVMValueRef global = LLVMAddGlobal(l->module, LLVMGlobalGetValueType(old), name);
    if (value != NULL)
        LLVMSetInitializer(global, value);
    LLVMSetLinkage(global, LLVMGetLinkage(old));
    LLVMSetAlignment(global, LLVMGetAlignment(old));
    LLVMSetGlobalConstant(global, LLVMIsGlobalConstant(old));
    LLVMSetExternallyInitialized(global, LLVMIsExternallyInitialized(old));
    LLVMReplaceAllUsesWith(old, LLVMConstAddrSpaceCast(global, LLVMTypeOf(old)));
    if (l->debug)
        cc_tell_global(l, old, global);
    LLVMDeleteGlobal(old);
    if (value != NULL && is_variable(global))
        add_global_variable(l, global);
}

bool cc_lower_globals(struct cc_lowering *l)
{
    LLVMValueRef next;

    for (LLVMValueRef g = LLVMGetFirstGlobal(l->module); g != NULL; g = next) {
        next = LLVMGetNextGlobal(g);
        if ((space_of(g) == 1 || space_of(g) == 4) && !is_hosts(g))
            move_global(l, g);
    }
    return true;
}
