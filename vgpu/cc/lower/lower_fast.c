/* SPDX-License-Identifier: MIT
 * lower_fast.c: -use_fast_math. Functions of float become what nvcc makes of them then, which is
 * also what __expf and the like are (vgpu/include/vgpu/device_math.h). Quotients and roots are
 * exact nevertheless, and subnormal numbers stay.
 */
#include <string.h>

#include "lower.h"

/* exp2(x * before), log2(x) * after; 0: without the product */
static const struct fast {
    const char *function, *by;
    uint32_t before, after; /* bits of float */
} fast[] = {{"exp", "exp2f", 0x3fb8aa3b, 0},
            {"exp10", "exp2f", 0x40549a78, 0},
            {"log", "log2f", 0, 0x3f317218},
            {"log10", "log2f", 0, 0x3e9a209b},
            {"pow", NULL, 0, 0},
            {"tan", NULL, 0, 0}};

struct body {
    struct cc_lowering *l;
    LLVMBuilderRef b;
    LLVMTypeRef number;
};

static LLVMValueRef call_of_float(struct body *in, const char *name, LLVMValueRef x)
{
    LLVMTypeRef type = LLVMFunctionType(in->number, &in->number, 1, 0);

    return LLVMBuildCall2(in->b, type, cc_declare(in->l, name, type), &x, 1, "");
}

static LLVMValueRef scaled(struct body *in, LLVMValueRef x, uint32_t factor)
{
    LLVMValueRef bits = cc_number(in->l, factor, 32);

    if (factor == 0)
        return x;
    return LLVMBuildBinOp(in->b, LLVM_OP_FMUL, x,
                          LLVMBuildCast(in->b, LLVM_OP_BIT_CAST, bits, in->number, ""), "");
}

static LLVMValueRef result(struct body *in, const struct fast *is, LLVMValueRef f)
{
    LLVMValueRef x = LLVMGetParam(f, 0);

    if (is->by != NULL)
        return scaled(in, call_of_float(in, is->by, scaled(in, x, is->before)), is->after);
    if (strcmp(is->function, "pow") == 0)
        return call_of_float(in, "exp2f",
                             LLVMBuildBinOp(in->b, LLVM_OP_FMUL, call_of_float(in, "log2f", x),
                                            LLVMGetParam(f, 1), ""));
    return LLVMBuildBinOp(in->b, LLVM_OP_FDIV, call_of_float(in, "sinf", x),
                          call_of_float(in, "cosf", x), "");
}

/* Every call of the declared function becomes one of a function with another body. */
static void make_fast(struct cc_lowering *l, const struct fast *is, const char *name)
{
    LLVMValueRef old = LLVMGetNamedFunction(l->module, name);

    if (old == NULL || !LLVMIsDeclaration(old))
        return;
    struct body in = {l, LLVMCreateBuilderInContext(l->context),
                      LLVMFloatTypeInContext(l->context)};
    LLVMValueRef made =
        LLVMAddFunction(l->module, cc_format("vgpu_fast:%s", name), LLVMGlobalGetValueType(old));
    LLVMPositionBuilderAtEnd(in.b, cc_add_block(l, made));
    LLVMBuildRet(in.b, result(&in, is, made));
    LLVMSetLinkage(made, LLVM_LINKAGE_INTERNAL);
    LLVMReplaceAllUsesWith(old, made);
}

void cc_use_fast_functions(struct cc_lowering *l)
{
    for (size_t i = 0; i < sizeof fast / sizeof *fast; i++) {
        make_fast(l, &fast[i], cc_format("%sf", fast[i].function));
        make_fast(l, &fast[i], cc_format("llvm.%s.f32", fast[i].function));
    }
}
