/* SPDX-License-Identifier: MIT
 * indices.c: threadIdx and the like are constant for each thread: a read of them is not reported as
 * an access.
 */
#include <string.h>

#include "module.h"

/* ThreadSanitizer ignores address spaces other than 0, which this processor does not
 * distinguish. */
enum { UNSEEN_SPACE = 1 };

static const char *const indices[] = {"threadIdx", "blockIdx", "blockDim", "gridDim"};

/* The offset of the address in the variable; -1: not known. */
static long long offset_of(struct cc_lowering *l, LLVMValueRef address, LLVMValueRef index)
{
    if (address == index)
        return 0;
    if (LLVMIsAConstantExpr(address) == NULL)
        return -1;
    long long inner = offset_of(l, LLVMGetOperand(address, 0), index);
    int op = LLVMGetConstOpcode(address), count = LLVMGetNumOperands(address);
    if (inner < 0 || op == LLVM_OP_BIT_CAST || op == LLVM_OP_ADDR_SPACE_CAST)
        return inner;
    LLVMValueRef last = LLVMIsAConstantInt(LLVMGetOperand(address, (unsigned)count - 1));
    if (op != LLVM_OP_GEP || last == NULL || count > 3)
        return -1;
    LLVMTypeRef type = LLVMGetGEPSourceElementType(address);
    long long step = count == 2 ? (long long)LLVMABISizeOfType(l->layout, type) : 4; /* x, y, z */
    return inner + step * (long long)LLVMConstIntGetZExtValue(last);
}

int cc_index_read(struct cc_lowering *l, LLVMValueRef load)
{
    for (size_t i = 0; i < sizeof indices / sizeof *indices; i++) {
        LLVMValueRef index = LLVMGetNamedGlobal(l->module, indices[i]);
        long long offset = index != NULL && LLVMIsDeclaration(index)
                               ? offset_of(l, LLVMGetOperand(load, 0), index)
                               : -1;
        if (offset >= 0 && offset <= 8 && offset % 4 == 0 &&
            LLVMABISizeOfType(l->layout, LLVMTypeOf(load)) == 4)
            return (int)(3 * i + (size_t)offset / 4);
    }
    return -1;
}

static LLVMValueRef unseen_address(struct cc_lowering *l, LLVMValueRef index, long long offset,
                                   LLVMTypeRef type)
{
    LLVMTypeRef byte = cc_int_type(l, 8);
    LLVMValueRef at = LLVMConstInt(cc_int_type(l, 64), (unsigned long long)offset, 0);
    LLVMValueRef moved = LLVMConstInBoundsGEP2(
        byte, LLVMConstPointerCast(index, cc_byte_pointer(l, UNSEEN_SPACE)), &at, 1);

    return LLVMConstPointerCast(moved, LLVMPointerType(type, UNSEEN_SPACE));
}

static void hide_read(struct cc_lowering *l, LLVMValueRef old, LLVMValueRef unseen,
                      LLVMValueRef load)
{
    if (LLVMGetInstructionOpcode(load) != LLVM_OP_LOAD)
        return;
    long long offset = offset_of(l, LLVMGetOperand(load, 0), old),
              bytes = (long long)LLVMABISizeOfType(l->layout, LLVMGlobalGetValueType(old));
    if (offset >= 0 && offset + (long long)cc_accessed_bytes(l, load) <= bytes)
        LLVMSetOperand(load, 0, unseen_address(l, unseen, offset, LLVMTypeOf(load)));
}

static void hide_reads(struct cc_lowering *l, LLVMValueRef old, LLVMValueRef unseen)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(l->module); f != NULL; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
                hide_read(l, old, unseen, i);
}

/* Clang defines an extern variable of device code that a lambda uses, since the lambda could be the
 * host's. These variables are vgpu-exec's. */
void cc_declare_indices(LLVMModuleRef module)
{
    static const char *const others[] = {"warpSize", "vgpu_cooperative"};
    enum { OWN = sizeof indices / sizeof *indices, ALL = OWN + sizeof others / sizeof *others };

    for (size_t i = 0; i < ALL; i++) {
        const char *name = i < OWN ? indices[i] : others[i - OWN];
        LLVMValueRef old = LLVMGetNamedGlobal(module, name);
        if (old == NULL || LLVMIsDeclaration(old))
            continue;
        LLVMSetValueName2(old, "", 0);
        LLVMValueRef declared = LLVMAddGlobalInAddressSpace(
            module, LLVMGlobalGetValueType(old), name, LLVMGetPointerAddressSpace(LLVMTypeOf(old)));
        LLVMSetGlobalConstant(declared, 1);
        LLVMReplaceAllUsesWith(old, declared);
        LLVMDeleteGlobal(old);
    }
}

void cc_hide_indices(struct cc_lowering *l)
{
    for (size_t i = 0; i < sizeof indices / sizeof *indices; i++) {
        LLVMValueRef old = LLVMGetNamedGlobal(l->module, indices[i]);
        if (old == NULL || !LLVMIsDeclaration(old))
            continue;
        LLVMSetValueName2(old, "", 0);
        LLVMValueRef unseen = LLVMAddGlobalInAddressSpace(l->module, LLVMGlobalGetValueType(old),
                                                          indices[i], UNSEEN_SPACE);
        hide_reads(l, old, unseen);
        LLVMReplaceAllUsesWith(old, LLVMConstAddrSpaceCast(unseen, LLVMTypeOf(old)));
        LLVMDeleteGlobal(old);
    }
}
