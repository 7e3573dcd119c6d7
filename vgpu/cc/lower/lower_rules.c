/* SPDX-License-Identifier: MIT
 * lower_rules.c: rejects device code that nvcc rejects and Clang accepts. Runs before any lowering:
 * constants are recognised by their address space, lambdas by their mangled names.
 */
#include <string.h>

#include "diag.h"
#include "lower.h"
#include "names.h"

enum { CONSTANT_SPACE = 4 };

static const char annotations[] = "llvm.global.annotations";

typedef void rule(LLVMValueRef instruction, LLVMValueRef address, const char *name);

/* ---- constants ---- */

/* Whether it is another form of the same address, or of a part of it. */
static bool is_address_of(LLVMValueRef user)
{
    int op = LLVMIsAInstruction(user) != NULL    ? LLVMGetInstructionOpcode(user)
             : LLVMIsAConstantExpr(user) != NULL ? LLVMGetConstOpcode(user)
                                                 : 0;

    return op == LLVM_OP_GEP || op == LLVM_OP_BIT_CAST || op == LLVM_OP_ADDR_SPACE_CAST;
}

/* Applies the rule to each instruction that uses the address, or a part of it. */
static void for_uses(LLVMValueRef address, const char *name, rule *check)
{
    for (LLVMUseRef use = LLVMGetFirstUse(address); use != NULL; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (LLVMIsAInstruction(user) != NULL)
            check(user, address, name);
        if (is_address_of(user))
            for_uses(user, name, check);
    }
}

static void refuse_store(LLVMValueRef instruction, LLVMValueRef address, const char *name)
{
    if (LLVMGetInstructionOpcode(instruction) == LLVM_OP_STORE &&
        LLVMGetOperand(instruction, 1) == address)
        cc_error(cc_place_of(instruction),
                 "__constant__ variable '%s' is written in device code; the host fills it, with "
                 "cudaMemcpyToSymbol",
                 name);
}

static void refuse_use(LLVMValueRef instruction, LLVMValueRef address, const char *name)
{
    (void)address;
    cc_error(cc_place_of(instruction),
             "the constant array '%s' is in the host's memory; device code cannot index it: make "
             "it __constant__",
             name);
}

/* Whether the value, or a constant that contains it, is in the list of annotations
 * (vgpu/attributes.h). */
static bool is_marked(LLVMValueRef value)
{
    for (LLVMUseRef use = LLVMGetFirstUse(value); use != NULL; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (LLVMIsAConstant(user) == NULL)
            continue;
        if (LLVMIsAGlobalValue(user) == NULL ? is_marked(user)
                                             : strcmp(cc_value_name(user), annotations) == 0)
            return true;
    }
    return false;
}

/* An array of this file without a device attribute. (Those of other files may be headers'.) */
static bool is_host_array(LLVMValueRef global)
{
    enum { ARRAY = 11 };
    const char *symbol = cc_value_name(global);

    return !is_marked(global) && LLVMIsGlobalConstant(global) &&
           LLVMGetLinkage(global) == LLVM_LINKAGE_INTERNAL && cc_starts(symbol, "_Z") &&
           !cc_starts(symbol, "_ZZ") && LLVMGetTypeKind(LLVMGlobalGetValueType(global)) == ARRAY;
}

static void check_constant(LLVMValueRef global)
{
    const char *name;

    if (LLVMGetPointerAddressSpace(LLVMTypeOf(global)) != CONSTANT_SPACE)
        return;
    cc_plain_name(cc_value_name(global), &name);
    for_uses(global, name, is_host_array(global) ? refuse_use : refuse_store);
}

/* ---- lambdas ---- */

/* The last occurrence of either text; null if there is none. */
static const char *last_of(const char *text, const char *one, const char *other)
{
    const char *last = NULL;

    for (const char *at = text; *at != 0; at++)
        if (cc_starts(at, one) || cc_starts(at, other))
            last = at;
    return last;
}

/* Whether the function is `_ZZ1fvENKUliE_clEi`, a lambda of f, and f, which is _Z1fv, is not device
 * code. */
static bool is_host_lambda(const struct cc_lowering *l, LLVMValueRef function)
{
    const char *symbol = cc_value_name(function), *end;

    if (!cc_starts(symbol, "_ZZ") || (end = last_of(symbol, "ENKUl", "ENUl")) == NULL)
        return false;
    const char *outer = cc_copy(symbol + 3, (size_t)(end - symbol - 3));
    return LLVMGetNamedFunction(l->module, cc_format("_Z%s", outer)) == NULL &&
           LLVMGetNamedFunction(l->module, outer) == NULL;
}

static void check_lambda(const struct cc_lowering *l, LLVMValueRef function)
{
    if (is_host_lambda(l, function))
        cc_error(cc_place_of(function),
                 "a lambda of a host function is used in device code; that needs the option "
                 "--extended-lambda, and __device__ behind the lambda's brackets");
}

/* ---- functions f(int, ...) ---- */

static void check_arguments(LLVMValueRef function)
{
    if (LLVMIsFunctionVarArg(LLVMGlobalGetValueType(function)))
        cc_error(cc_place_of(function), "a function with any number of arguments (...) in device "
                                        "code: the virtual node does not support it");
}

/* Deletes lists that keep functions alive which are otherwise unused. */
static void delete_lists(struct cc_lowering *l)
{
    const char *const list[] = {annotations, "llvm.used", "llvm.compiler.used"};

    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        LLVMValueRef global = LLVMGetNamedGlobal(l->module, list[i]);
        if (global != NULL)
            LLVMDeleteGlobal(global);
    }
}

bool cc_check_rules(struct cc_lowering *l)
{
    cc_check_text(l);
    cc_check_reports(l);
    for (LLVMValueRef g = LLVMGetFirstGlobal(l->module); g != NULL; g = LLVMGetNextGlobal(g))
        check_constant(g);
    for (LLVMValueRef f = LLVMGetFirstFunction(l->module); f != NULL; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f))
            continue;
        check_arguments(f);
        if (l->no_lambdas)
            check_lambda(l, f);
    }
    delete_lists(l);
    return cc_error_count() == 0;
}
