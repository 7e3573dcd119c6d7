/* SPDX-License-Identifier: MIT
 * lower_early.c: relaxed loads behind which a relaxed store follows in the same basic block, with
 * no access or call between them, whose address and value do not depend on the load. Such a store
 * may take effect before the load (load buffering): vgpu-exec is told of it in front of the load,
 * and makes it there if it likes (VGPU_SCHEDULE=weak).
 */
#include "image.h"
#include "lower.h"

#include <stdlib.h>
#include <string.h>

struct pair {
    LLVMValueRef load, store;
    LLVMValueRef
        before;     /* what the note is put in front of: the load, or the call with its scope */
    uint64_t scope; /* of the store */
};

static const char *called_name(LLVMValueRef instruction)
{
    LLVMValueRef f = LLVMIsACallInst(instruction) != NULL
                         ? LLVMIsAFunction(LLVMGetCalledValue(instruction))
                         : NULL;

    return f != NULL ? cc_value_name(f) : "";
}

/* Bits of a relaxed access by the callback that ends in `kind`, of 32 or 64; 0: it is another one.
 */
static unsigned relaxed_bits(LLVMValueRef instruction, const char *kind, unsigned order)
{
    static const char prefix[] = "__tsan_atomic";
    const char *name = called_name(instruction);
    char *rest;

    if (!cc_starts(name, prefix))
        return 0;
    unsigned long bits = strtoul(name + sizeof prefix - 1, &rest, 10);
    if ((bits != 32 && bits != 64) || strcmp(rest, kind) != 0)
        return 0;
    LLVMValueRef how = LLVMIsAConstantInt(LLVMGetOperand(instruction, order));
    return how != NULL && LLVMConstIntGetZExtValue(how) == 0 ? (unsigned)bits : 0;
}

static bool calls_scope(LLVMValueRef instruction)
{
    return strcmp(called_name(instruction), "vgpu_scope") == 0;
}

/* LLVM's pass leaves an atomic load where it is, which is not used, behind the call for it. */
static bool touches_nothing(LLVMValueRef instruction)
{
    if (LLVMGetInstructionOpcode(instruction) == LLVM_OP_LOAD &&
        LLVMGetFirstUse(instruction) == NULL)
        return true;
    if (LLVMIsACallInst(instruction) != NULL)
        return cc_starts(called_name(instruction), "llvm.dbg.");
    return cc_address_operand(instruction) < 0;
}

/* The store that follows the load; false: something else does. */
static bool find_follower(struct pair *p)
{
    p->scope = 2;
    for (LLVMValueRef i = LLVMGetNextInstruction(p->load); i != NULL;
         i = LLVMGetNextInstruction(i)) {
        LLVMValueRef scope = calls_scope(i) ? LLVMIsAConstantInt(LLVMGetOperand(i, 0)) : NULL;
        if (relaxed_bits(i, "_store", 2) != 0) {
            p->store = i;
            return true;
        }
        if (scope != NULL)
            p->scope = LLVMConstIntGetZExtValue(scope);
        else if (!touches_nothing(i))
            return false;
    }
    return false;
}

static bool lies_before_store(const struct pair *p, LLVMValueRef value)
{
    LLVMValueRef i = p->before;

    while (i != p->store && i != value)
        i = LLVMGetNextInstruction(i);
    return i == value;
}

/* Whether the value can be computed in front of the load. */
static bool is_independent(const struct pair *p, LLVMValueRef value)
{
    if (LLVMIsAInstruction(value) == NULL || !lies_before_store(p, value))
        return true;
    if (LLVMIsACallInst(value) != NULL)
        return false;
    for (int n = 0; n < LLVMGetNumOperands(value); n++)
        if (!is_independent(p, LLVMGetOperand(value, (unsigned)n)))
            return false;
    return true;
}

static void move_before(const struct pair *p, LLVMBuilderRef b, LLVMValueRef value)
{
    if (LLVMIsAInstruction(value) == NULL || !lies_before_store(p, value))
        return;
    for (int n = 0; n < LLVMGetNumOperands(value); n++)
        move_before(p, b, LLVMGetOperand(value, (unsigned)n));
    LLVMInstructionRemoveFromParent(value);
    LLVMPositionBuilderBefore(b, p->before);
    LLVMInsertIntoBuilder(b, value);
}

/* vgpu_early_store(address, value, address of the load, how) */
static void write_note(struct cc_lowering *l, const struct pair *p)
{
    LLVMTypeRef byte = cc_byte_pointer(l, 0), word = cc_int_type(l, 64);
    LLVMTypeRef four[] = {byte, word, byte, cc_int_type(l, 32)};
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(l->context), four, 4, 0);
    LLVMValueRef to = LLVMGetOperand(p->store, 0), value = LLVMGetOperand(p->store, 1);
    unsigned stored = relaxed_bits(p->store, "_store", 2) / 8;
    unsigned loaded = relaxed_bits(p->load, "_load", 1) / 8;
    LLVMBuilderRef b = LLVMCreateBuilderInContext(l->context);

    move_before(p, b, to);
    move_before(p, b, value);
    LLVMPositionBuilderBefore(b, p->before);
    LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(p->store));
    LLVMValueRef argument[] = {LLVMBuildPointerCast(b, to, byte, ""),
                               LLVMBuildIntCast2(b, value, word, 0, ""),
                               LLVMBuildPointerCast(b, LLVMGetOperand(p->load, 0), byte, ""),
                               cc_number(l, VGPU_EARLY(stored, loaded, p->scope), 32)};
    LLVMBuildCall2(b, type, cc_declare(l, "vgpu_early_store", type), argument, 4, "");
}

static void note_in_block(struct cc_lowering *l, LLVMBasicBlockRef block)
{
    LLVMValueRef scope = NULL;

    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
        struct pair p = {.load = i, .before = scope != NULL ? scope : i};
        if (relaxed_bits(i, "_load", 1) != 0 && find_follower(&p) &&
            is_independent(&p, LLVMGetOperand(p.store, 0)) &&
            is_independent(&p, LLVMGetOperand(p.store, 1)))
            write_note(l, &p);
        scope = calls_scope(i) ? i : touches_nothing(i) ? scope : NULL;
    }
}

void cc_note_early(struct cc_lowering *l)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(l->module); f != NULL; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef k = LLVMGetFirstBasicBlock(f); k; k = LLVMGetNextBasicBlock(k))
            note_in_block(l, k);
}
