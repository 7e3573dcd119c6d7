/* SPDX-License-Identifier: MIT
 * lane_vectors.c: how long the vectors of wide forms are: 256 bits, on x86-64, and where LLVM
 * cannot compile these, 128.
 */
#include <string.h>

#include "lane_plan.h"

#ifdef __x86_64__
static const char features[] = "target-features";

/* Of x86-64's third level (2013). There is no fused addition that the source does not have. */
void cc_lengthen_vectors(struct cc_lowering *l, LLVMValueRef function)
{
    static const char is[] = "+avx2,+fma";

    LLVMAddAttributeAtIndex(
        function, (unsigned)LLVM_ATTRIBUTE_FUNCTION,
        LLVMCreateStringAttribute(l->context, features, sizeof features - 1, is, sizeof is - 1));
}

bool cc_shorten_vectors(struct cc_lowering *l, const char *name)
{
    bool changed = false;

    for (LLVMValueRef f = LLVMGetFirstFunction(l->module); f != NULL; f = LLVMGetNextFunction(f)) {
        if ((name != NULL && strcmp(cc_value_name(f), name) != 0) ||
            LLVMGetStringAttributeAtIndex(f, (unsigned)LLVM_ATTRIBUTE_FUNCTION, features,
                                          sizeof features - 1) == NULL)
            continue;
        LLVMRemoveStringAttributeAtIndex(f, (unsigned)LLVM_ATTRIBUTE_FUNCTION, features,
                                         sizeof features - 1);
        changed = true;
    }
    return changed;
}
#else
void cc_lengthen_vectors(struct cc_lowering *l, LLVMValueRef function)
{
    (void)l;
    (void)function;
}

bool cc_shorten_vectors(struct cc_lowering *l, const char *name)
{
    (void)l;
    (void)name;
    return false;
}
#endif
