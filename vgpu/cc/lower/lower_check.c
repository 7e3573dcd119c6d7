/* SPDX-License-Identifier: MIT
 * lower_check.c: reports symbols that the device code of a file needs and vgpu-exec does not
 * define.
 */
#include <string.h>

#include "names.h"
#include "diag.h"
#include "lower.h"

LLVMValueRef cc_first_user(LLVMValueRef value)
{
    for (LLVMUseRef use = LLVMGetFirstUse(value); use != NULL; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (LLVMIsAInstruction(user) != NULL)
            return user;
        LLVMValueRef found = LLVMIsAConstantExpr(user) != NULL ? cc_first_user(user) : NULL;
        if (found != NULL)
            return found;
    }
    return NULL;
}

/* Of CUDA's device heap, by which programs and PTX call it; null: another function. */
static const char *heap_refusal(const char *symbol)
{
    if (strcmp(symbol, "malloc") == 0)
        return "malloc or new is called in device code; the virtual node has no device heap: "
               "allocate on the host with cudaMalloc";
    if (strcmp(symbol, "free") == 0)
        return "free or delete is called in device code; the virtual node has no device heap";
    return NULL;
}

/* The message of a function that is declared with __attribute__((error("..."))). */
static const char *own_refusal(LLVMValueRef value)
{
    static const char word[] = "dontcall-error";
    unsigned length;
    LLVMAttributeRef attribute =
        LLVMIsAFunction(value) == NULL
            ? NULL
            : LLVMGetStringAttributeAtIndex(value, (unsigned)LLVM_ATTRIBUTE_FUNCTION, word,
                                            sizeof word - 1);
    const char *text = attribute != NULL ? LLVMGetStringAttributeValue(attribute, &length) : NULL;

    return text != NULL ? cc_copy(text, length) : NULL;
}

static bool check(const struct cc_lowering *l, LLVMValueRef value, const char *kind)
{
    const char *symbol = cc_value_name(value), *refusal = own_refusal(value), *qualified;
    LLVMValueRef use = cc_first_user(value);

    if (refusal == NULL)
        refusal = heap_refusal(symbol);

    if (use == NULL || cc_starts(symbol, "llvm.") || cc_is_offered(symbol))
        return true;
    cc_plain_name(symbol, &qualified);
    if (refusal != NULL)
        cc_error(cc_place_of(use), "%s", refusal);
    else if (cc_starts(symbol, "llvm.") || cc_starts(symbol, "__nv"))
        cc_error(cc_place_of(use), "the virtual node has no '%s' for device code", qualified);
    else if (l->linked)
        cc_error(cc_place_of(use),
                 "__device__ %s '%s' is used here, but none of the files that are linked defines "
                 "it as one for the device; add the file that does (compiled with -rdc=true or "
                 "-dc), or define it",
                 kind, qualified);
    else
        cc_error(cc_place_of(use),
                 "__device__ %s '%s' is declared but not defined in this file; compile all files "
                 "with -rdc=true (or -dc) if another one defines it, or put it into a header",
                 kind, qualified);
    return false;
}

bool cc_check_module(struct cc_lowering *l)
{
    bool sound = true;

    for (LLVMValueRef f = LLVMGetFirstFunction(l->module); f != NULL; f = LLVMGetNextFunction(f))
        if (LLVMIsDeclaration(f))
            sound &= check(l, f, "function");
    for (LLVMValueRef g = LLVMGetFirstGlobal(l->module); g != NULL; g = LLVMGetNextGlobal(g))
        if (LLVMIsDeclaration(g))
            sound &= check(l, g, "variable");
    return sound;
}
