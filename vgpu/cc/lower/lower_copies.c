/* SPDX-License-Identifier: MIT
 * lower_copies.c: a float4 is read and written by one access of 16 bytes that must be aligned;
 * Clang copies it as any structure. (LLVM's own passes merge smaller copies.)
 */
#include <string.h>

#include "lower.h"

enum { WIDEST_BYTES = 16 };

static bool is_aligned(LLVMValueRef copy, unsigned parameter)
{
    unsigned kind = LLVMGetEnumAttributeKindForName("align", 5);
    LLVMAttributeRef align = LLVMGetCallSiteEnumAttribute(copy, parameter, kind);

    return align != NULL && LLVMGetEnumAttributeValue(align) >= WIDEST_BYTES;
}

static bool is_wide_copy(LLVMValueRef copy)
{
    LLVMValueRef bytes = LLVMIsAConstantInt(LLVMGetOperand(copy, 2));

    return bytes != NULL && LLVMConstIntGetZExtValue(bytes) == WIDEST_BYTES &&
           is_aligned(copy, 1) && is_aligned(copy, 2);
}

/* Four words: this processor has an access of this size that must be aligned, too. */
static LLVMTypeRef wide_type(struct cc_lowering *l)
{
    return LLVMVectorType(cc_int_type(l, 32), WIDEST_BYTES / 4);
}

static LLVMValueRef as_wide(struct cc_lowering *l, LLVMBuilderRef b, LLVMValueRef pointer)
{
    unsigned space = LLVMGetPointerAddressSpace(LLVMTypeOf(pointer));

    return LLVMBuildPointerCast(b, pointer, LLVMPointerType(wide_type(l), space), "");
}

static void replace(struct cc_lowering *l, LLVMValueRef copy)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(l->context);
    bool is_volatile = LLVMConstIntGetZExtValue(LLVMGetOperand(copy, 3)) != 0;

    LLVMPositionBuilderBefore(b, copy);
    LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(copy));
    LLVMValueRef from = as_wide(l, b, LLVMGetOperand(copy, 1));
    LLVMValueRef value = LLVMBuildLoad2(b, wide_type(l), from, "");
    LLVMValueRef store = LLVMBuildStore(b, value, as_wide(l, b, LLVMGetOperand(copy, 0)));
    LLVMSetAlignment(value, WIDEST_BYTES);
    LLVMSetAlignment(store, WIDEST_BYTES);
    LLVMSetVolatile(value, is_volatile);
    LLVMSetVolatile(store, is_volatile);
    LLVMInstructionEraseFromParent(copy);
}

void cc_lower_copies(struct cc_lowering *l)
{
    LLVMUseRef next;

    for (LLVMValueRef f = LLVMGetFirstFunction(l->module); f != NULL; f = LLVMGetNextFunction(f)) {
        if (!cc_starts(cc_value_name(f), "llvm.memcpy."))
            continue;
        for (LLVMUseRef use = LLVMGetFirstUse(f); use != NULL; use = next) {
            next = LLVMGetNextUse(use);
            if (is_wide_copy(LLVMGetUser(use)))
                replace(l, LLVMGetUser(use));
        }
    }
}
