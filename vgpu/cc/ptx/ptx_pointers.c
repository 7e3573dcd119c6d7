/* SPDX-License-Identifier: MIT
 * ptx_pointers.c: PTX computes addresses as integers. Where such a number is the address of one
 * object plus an offset, it becomes a pointer to that object, moved by the offset, as Clang makes
 * of CUDA's code: so LLVM sees strides and what does not overlap, and keeps arrays in registers.
 *
 * An object is a variable, a parameter of 64 bits or a number of 64 bits that was loaded. Addresses
 * in shared memory have 32 bits; where the sum of these turns over, the address is outside of
 * shared memory in both ways of computing it.
 */
#include <string.h>

#include "image.h"
#include "ptx_module.h"

_Static_assert((uint32_t)VGPU_SHARED_VA == 0, "32 bits of a generic address are a shared one");

struct number { /* an integer of the function, of 32 or 64 bits */
    LLVMValueRef value, base, offset;
    bool visited, none; /* none: it has no base */
};

struct pointers {
    struct cc_lowering *l;
    LLVMValueRef function;
    LLVMBuilderRef b;
    struct number *number; /* a hash table */
    size_t count, room;
    bool changed;
};

/* ---- table ---- */

static struct number *number_cell(const struct pointers *p, LLVMValueRef value)
{
    size_t at = (size_t)((uint64_t)(uintptr_t)value * 0x9E3779B97F4A7C15ull >> 20);

    for (at %= p->room; p->number[at].value != NULL && p->number[at].value != value;)
        at = (at + 1) % p->room;
    return &p->number[at];
}

static void add_number(struct pointers *p, LLVMValueRef value)
{
    if (2 * p->count >= p->room) {
        struct number *old = p->number;
        size_t room = p->room;
        p->room = room != 0 ? 2 * room : 256;
        p->number = cc_alloc(p->room * sizeof *p->number);
        for (size_t i = 0; i < room; i++)
            if (old[i].value != NULL)
                *number_cell(p, old[i].value) = old[i];
    }
    p->count++;
    number_cell(p, value)->value = value;
}

static unsigned number_bits(LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value);

    return LLVMGetTypeKind(type) == LLVM_TYPE_INTEGER ? LLVMGetIntTypeWidth(type) : 0;
}

static struct number *known_number(struct pointers *p, LLVMValueRef value)
{
    struct number *found = number_cell(p, value);

    return found->value != NULL ? found : NULL;
}

/* ---- bases ---- */

static bool is_place_call(LLVMValueRef i)
{
    LLVMValueRef called = LLVMIsACallInst(i) != NULL ? LLVMGetCalledValue(i) : NULL;

    return called != NULL && LLVMIsAFunction(called) != NULL &&
           strcmp(cc_value_name(called), CC_PTX_PLACE) == 0;
}

/* The variable's pointer, or the number itself; null: it is computed of others. */
static LLVMValueRef own_base(LLVMValueRef value)
{
    if (number_bits(value) != 64)
        return NULL;
    if (LLVMIsAArgument(value) != NULL)
        return value;
    if (is_place_call(value))
        return LLVMGetOperand(value, 0);
    return LLVMIsAInstruction(value) != NULL && LLVMGetInstructionOpcode(value) == LLVM_OP_LOAD
               ? value
               : NULL;
}

/* In shared memory: only the address of a variable says so. */
static bool is_in_shared(LLVMValueRef base)
{
    while (LLVMIsAConstantExpr(base) != NULL)
        base = LLVMGetOperand(base, 0);
    return LLVMGetTypeKind(LLVMTypeOf(base)) == LLVM_TYPE_POINTER &&
           LLVMGetPointerAddressSpace(LLVMTypeOf(base)) == CC_PTX_SHARED;
}

enum known { NOT_YET, NONE, SOME };

static enum known base_of_number(struct pointers *p, LLVMValueRef value, LLVMValueRef *base)
{
    const struct number *n = known_number(p, value);

    if (n == NULL || n->none)
        return NONE;
    *base = n->base;
    return n->base != NULL ? SOME : NOT_YET;
}

/* That of a, if b has none. */
static enum known base_of_sum(struct pointers *p, LLVMValueRef i, bool either, LLVMValueRef *base)
{
    LLVMValueRef other = NULL;
    enum known a = base_of_number(p, LLVMGetOperand(i, 0), base),
               b = base_of_number(p, LLVMGetOperand(i, 1), &other);

    if (a == NOT_YET || b == NOT_YET)
        return NOT_YET;
    if (b == SOME && either && a == NONE) {
        *base = other;
        return SOME;
    }
    return b == NONE ? a : NONE;
}

/* That which all operands from `first` on have. */
static enum known base_of_all(struct pointers *p, LLVMValueRef i, unsigned first,
                              LLVMValueRef *base)
{
    enum known all = NOT_YET;
    LLVMValueRef found = NULL;

    for (unsigned k = first; k < (unsigned)LLVMGetNumOperands(i); k++) {
        enum known one = base_of_number(p, LLVMGetOperand(i, k), &found);
        if (one == NONE || (one == SOME && all == SOME && found != *base))
            return NONE;
        if (one == SOME) {
            *base = found;
            all = SOME;
        }
    }
    return all;
}

static enum known base_of_instruction(struct pointers *p, LLVMValueRef i, LLVMValueRef *base)
{
    enum known is;

    switch (LLVMGetInstructionOpcode(i)) {
    case LLVM_OP_ADD:
        return base_of_sum(p, i, true, base);
    case LLVM_OP_SUB:
        return base_of_sum(p, i, false, base);
    case LLVM_OP_PHI:
        return base_of_all(p, i, 0, base);
    case LLVM_OP_SELECT:
        return base_of_all(p, i, 1, base);
    case LLVM_OP_ZEXT:
    case LLVM_OP_TRUNC:
        is = base_of_number(p, LLVMGetOperand(i, 0), base);
        return is == SOME && !is_in_shared(*base) ? NONE : is;
    default:
        return NONE;
    }
}

/* A base that was found is given up at most once, so this ends. */
static void find_base(struct pointers *p, LLVMValueRef i)
{
    LLVMValueRef base = NULL;
    struct number *n = known_number(p, i);

    if (n == NULL || n->none || own_base(i) != NULL)
        return;
    enum known is = base_of_instruction(p, i, &base);
    if (is == NOT_YET || (is == SOME && n->base == base))
        return;
    n->none = is == NONE || n->base != NULL;
    n->base = n->none ? NULL : base;
    p->changed = true;
}

typedef void step(struct pointers *p, LLVMValueRef instruction);

static void in_function(struct pointers *p, step *does)
{
    LLVMValueRef next;

    for (LLVMBasicBlockRef k = LLVMGetFirstBasicBlock(p->function); k; k = LLVMGetNextBasicBlock(k))
        for (LLVMValueRef i = LLVMGetFirstInstruction(k); i != NULL; i = next) {
            next = LLVMGetNextInstruction(i);
            does(p, i);
        }
}

static void note_number(struct pointers *p, LLVMValueRef value)
{
    if (number_bits(value) != 32 && number_bits(value) != 64)
        return;
    add_number(p, value);
    struct number *n = number_cell(p, value);
    n->base = own_base(value);
    n->none = n->base == NULL && LLVMIsAInstruction(value) == NULL;
}

/* ---- offsets ---- */

static LLVMValueRef number_offset(struct pointers *p, LLVMValueRef value);

static LLVMValueRef offset_of_phi(struct pointers *p, LLVMValueRef phi)
{
    LLVMValueRef made = LLVMBuildPhi(p->b, LLVMTypeOf(phi), "");

    number_cell(p, phi)->offset = made;
    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
        LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, k);
        LLVMValueRef value = number_offset(p, LLVMGetIncomingValue(phi, k));
        LLVMAddIncoming(made, &value, &from, 1);
    }
    return made;
}

/* Of one that extends 32 bits of a shared address. */
static LLVMValueRef extended(struct pointers *p, LLVMValueRef i, LLVMValueRef offset)
{
    LLVMTypeRef wide = LLVMTypeOf(i);

    LLVMPositionBuilderBefore(p->b, i);
    return LLVMBuildBinOp(p->b, LLVM_OP_SUB, LLVMBuildCast(p->b, LLVM_OP_SEXT, offset, wide, ""),
                          LLVMConstInt(wide, VGPU_SHARED_VA, 0), "");
}

static LLVMValueRef build_offset(struct pointers *p, LLVMValueRef i)
{
    int op = LLVMGetInstructionOpcode(i);

    if (op == LLVM_OP_PHI) {
        LLVMPositionBuilderBefore(p->b, i);
        return offset_of_phi(p, i);
    }
    LLVMValueRef a = number_offset(p, LLVMGetOperand(i, op == LLVM_OP_SELECT ? 1 : 0));
    if (op == LLVM_OP_ZEXT)
        return extended(p, i, a);
    LLVMValueRef b = op == LLVM_OP_TRUNC
                         ? NULL
                         : number_offset(p, LLVMGetOperand(i, op == LLVM_OP_SELECT ? 2 : 1));
    LLVMPositionBuilderBefore(p->b, i);
    if (op == LLVM_OP_TRUNC)
        return LLVMBuildCast(p->b, LLVM_OP_TRUNC, a, LLVMTypeOf(i), "");
    return op == LLVM_OP_SELECT ? LLVMBuildSelect(p->b, LLVMGetOperand(i, 0), a, b, "")
                                : LLVMBuildBinOp(p->b, op, a, b, "");
}

/* The number less its base; without a base, the number. */
static LLVMValueRef number_offset(struct pointers *p, LLVMValueRef value)
{
    struct number *n = known_number(p, value);

    if (n == NULL || n->base == NULL)
        return value;
    if (n->offset == NULL)
        n->offset =
            own_base(value) != NULL ? LLVMConstNull(LLVMTypeOf(value)) : build_offset(p, value);
    return n->offset;
}

/* ---- pointers ---- */

static LLVMValueRef pointer_of(struct pointers *p, LLVMValueRef base)
{
    LLVMTypeRef byte = cc_byte_pointer(p->l, 0);

    if (LLVMGetTypeKind(LLVMTypeOf(base)) == LLVM_TYPE_POINTER)
        return base;
    LLVMValueRef at = LLVMIsAInstruction(base) != NULL
                          ? LLVMGetNextInstruction(base)
                          : LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(p->function));
    LLVMPositionBuilderBefore(p->b, at);
    return LLVMBuildCast(p->b, LLVM_OP_INT_TO_PTR, base, byte, "");
}

static void make_pointer(struct pointers *p, LLVMValueRef i)
{
    bool is = LLVMGetInstructionOpcode(i) == LLVM_OP_INT_TO_PTR;
    struct number *n = is ? known_number(p, LLVMGetOperand(i, 0)) : NULL;

    if (n == NULL || n->base == NULL || number_bits(n->value) != 64)
        return;
    LLVMValueRef offset = number_offset(p, n->value), base = pointer_of(p, n->base);
    LLVMPositionBuilderBefore(p->b, i);
    LLVMValueRef made = LLVMBuildGEP2(p->b, cc_int_type(p->l, 8), base, &offset, 1, "");
    LLVMReplaceAllUsesWith(i, LLVMBuildPointerCast(p->b, made, LLVMTypeOf(i), ""));
    LLVMInstructionEraseFromParent(i);
}

static void end_place(struct pointers *p, LLVMValueRef i)
{
    if (!is_place_call(i))
        return;
    LLVMPositionBuilderBefore(p->b, i);
    LLVMReplaceAllUsesWith(
        i, LLVMBuildCast(p->b, LLVM_OP_PTR_TO_INT, LLVMGetOperand(i, 0), LLVMTypeOf(i), ""));
    LLVMInstructionEraseFromParent(i);
}

static void simplify_shuffle(struct pointers *p, LLVMValueRef i)
{
    cc_ptx_simplify_shuffle(p->l, i);
}

static void find_pointers(struct pointers *p)
{
    for (unsigned i = 0; i < LLVMCountParams(p->function); i++)
        note_number(p, LLVMGetParam(p->function, i));
    in_function(p, note_number);
    if (p->count == 0)
        return;
    do {
        p->changed = false;
        in_function(p, find_base);
    } while (p->changed);
    in_function(p, make_pointer);
}

/* As in CUDA's code: LLVM makes no copies of a barrier for some of the threads. */
static void set_convergent(struct cc_lowering *l)
{
    static const char word[] = "convergent";
    unsigned kind = LLVMGetEnumAttributeKindForName(word, sizeof word - 1);

    for (LLVMValueRef f = LLVMGetFirstFunction(l->module); f != NULL; f = LLVMGetNextFunction(f))
        if (LLVMGetIntrinsicID(f) == 0)
            LLVMAddAttributeAtIndex(f, (unsigned)LLVM_ATTRIBUTE_FUNCTION,
                                    LLVMCreateEnumAttribute(l->context, kind, 0));
}

bool cc_ptx_make_pointers(struct cc_lowering *l)
{
    set_convergent(l);
    bool done = l->debug || cc_run_passes(l, "function(simplifycfg,sroa,early-cse)");

    for (LLVMValueRef f = LLVMGetFirstFunction(l->module); f != NULL; f = LLVMGetNextFunction(f)) {
        struct pointers p = {l, f, LLVMCreateBuilderInContext(l->context), NULL, 0, 0, false};
        if (!LLVMIsDeclaration(f) && !l->debug)
            find_pointers(&p);
        in_function(&p, end_place);
        if (!l->debug)
            in_function(&p, simplify_shuffle);
    }
    LLVMValueRef place = LLVMGetNamedFunction(l->module, CC_PTX_PLACE);
    if (place != NULL)
        LLVMDeleteFunction(place);
    set_convergent(l); /* and those that were added */
    return done;
}
