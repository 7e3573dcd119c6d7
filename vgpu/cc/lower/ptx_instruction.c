/* SPDX-License-Identifier: MIT
 * ptx_instruction.c: the instructions of PTX that are known, as LLVM's or as calls of vgpu-exec.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image.h"
#include "lower_ptx.h"

struct meaning {
    const char *word;
    int is;
};

enum { VOLATILE = -1 };

static const struct meaning orders[] = {
    {"weak", LLVM_ORDER_NONE},
    {"volatile", VOLATILE},
    {"cv", VOLATILE},
    {"relaxed", LLVM_ORDER_MONOTONIC},
    {"acquire", LLVM_ORDER_ACQUIRE},
    {"release", LLVM_ORDER_RELEASE},
    {"acq_rel", LLVM_ORDER_ACQ_REL},
    {"sc", LLVM_ORDER_SEQ_CST},
};
static const struct meaning scopes[] = {{"cta", 0}, {"gpu", 1}, {"gl", 1}, {"sys", 2}};
static const struct meaning operations[] = {{"add", VGPU_ATOMIC_ADD}, {"exch", VGPU_ATOMIC_EXCH},
                                            {"min", VGPU_ATOMIC_MIN}, {"max", VGPU_ATOMIC_MAX},
                                            {"inc", VGPU_ATOMIC_INC}, {"dec", VGPU_ATOMIC_DEC},
                                            {"and", VGPU_ATOMIC_AND}, {"or", VGPU_ATOMIC_OR},
                                            {"xor", VGPU_ATOMIC_XOR}, {"cas", VGPU_ATOMIC_CAS}};

/* Kinds of numbers: signed, unsigned (and bits), floating point. */
static const struct {
    const char *word;
    unsigned bits;
    char kind;
    int atomic;
} types[] = {
    {"b8", 8, 'u', -1},         {"u8", 8, 'u', -1},         {"s8", 8, 's', -1},
    {"b16", 16, 'u', -1},       {"u16", 16, 'u', -1},       {"s16", 16, 's', -1},
    {"b32", 32, 'u', VGPU_U32}, {"u32", 32, 'u', VGPU_U32}, {"s32", 32, 's', VGPU_I32},
    {"b64", 64, 'u', VGPU_U64}, {"u64", 64, 'u', VGPU_U64}, {"s64", 64, 's', VGPU_I64},
    {"f32", 32, 'f', VGPU_F32}, {"f64", 64, 'f', VGPU_F64},
};

/* Say where to look for the data, not what is read: nothing here has such caches. */
static const char *const hints[] = {"global",
                                    "nc",
                                    "ca",
                                    "cg",
                                    "cs",
                                    "lu",
                                    "wb",
                                    "wt",
                                    "L1::no_allocate",
                                    "L1::evict_last",
                                    "L1::evict_first",
                                    "L2::64B",
                                    "L2::128B",
                                    "L2::256B"};

struct access {
    int order, scope, operation, type; /* -2: not said; type: a row of types */
    int elements;
};

static bool look_up(const struct meaning *table, size_t count, const char *word, int *is)
{
    for (size_t i = 0; i < count && *is == -2; i++)
        if (strcmp(table[i].word, word) == 0) {
            *is = table[i].is;
            return true;
        }
    return false;
}
#define LOOK_UP(table, word, is) look_up(table, sizeof(table) / sizeof *(table), word, is)

static bool is_hint(const char *word)
{
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (strcmp(hints[i], word) == 0)
            return true;
    return false;
}

static bool take_type(const char *word, int *type)
{
    for (size_t i = 0; i < sizeof types / sizeof *types && *type == -2; i++)
        if (strcmp(types[i].word, word) == 0) {
            *type = (int)i;
            return true;
        }
    return false;
}

/* All qualifiers; one that is not known makes the instruction unknown. */
static bool read_access(const struct cc_ptx *in, struct access *a)
{
    bool update = strcmp(in->name, "red") == 0 || strcmp(in->name, "atom") == 0;

    *a = (struct access){-2, -2, -2, -2, 1};
    for (int i = 0; i < in->qualifiers; i++) {
        const char *word = in->qualifier[i];
        if (strcmp(word, "v2") == 0 || strcmp(word, "v4") == 0) {
            a->elements = word[1] - '0';
            continue;
        }
        if (update && LOOK_UP(operations, word, &a->operation))
            continue;
        if (!LOOK_UP(orders, word, &a->order) && !LOOK_UP(scopes, word, &a->scope) &&
            !take_type(word, &a->type) && !is_hint(word))
            return false;
    }
    return true;
}

/* ---- values ---- */

/* The value's bits as a number of `bits` bits, cut or filled up with zeros. */
static LLVMValueRef as_bits(struct cc_ptx_statement *s, LLVMValueRef value, unsigned bits)
{
    LLVMTypeRef type = LLVMTypeOf(value), to = cc_int_type(s->l, bits);
    unsigned own = (unsigned)LLVMABISizeOfType(s->l->layout, type) * 8;

    if (LLVMGetTypeKind(type) == LLVM_TYPE_POINTER) {
        value = LLVMBuildCast(s->b, LLVM_OP_PTR_TO_INT, value, cc_int_type(s->l, 64), "");
        own = 64;
    } else if (LLVMGetTypeKind(type) != LLVM_TYPE_INTEGER) {
        value = LLVMBuildCast(s->b, LLVM_OP_BIT_CAST, value, cc_int_type(s->l, own), "");
    } else {
        own = LLVMGetIntTypeWidth(type);
    }
    if (own == bits)
        return value;
    return LLVMBuildCast(s->b, own > bits ? LLVM_OP_TRUNC : LLVM_OP_ZEXT, value, to, "");
}

/* Bits as a value of the type of that output. */
static bool assign_bits(struct cc_ptx_statement *s, const char *operand, LLVMValueRef bits)
{
    LLVMValueRef old = cc_ptx_value(s, operand);

    if (old == NULL)
        return false;
    LLVMTypeRef type = LLVMTypeOf(old);
    unsigned size = (unsigned)LLVMABISizeOfType(s->l->layout, type) * 8;
    bits = as_bits(s, bits, size);
    if (LLVMGetTypeKind(type) == LLVM_TYPE_POINTER)
        bits = LLVMBuildCast(s->b, LLVM_OP_INT_TO_PTR, bits, type, "");
    else if (LLVMGetTypeKind(type) != LLVM_TYPE_INTEGER)
        bits = LLVMBuildCast(s->b, LLVM_OP_BIT_CAST, bits, type, "");
    return cc_ptx_assign(s, operand, bits);
}

static LLVMValueRef number(struct cc_ptx_statement *s, uint64_t value, unsigned bits)
{
    return LLVMConstInt(cc_int_type(s->l, bits), value, 0);
}

/* The address of an element: "$4" is a pointer or a number of 64 bits, "$4+16" is behind it. */
static LLVMValueRef address_of(struct cc_ptx_statement *s, const char *operand, unsigned bits,
                               int element)
{
    char word[96];
    const char *plus = strchr(operand, '+');
    uint64_t offset = (uint64_t)element * (bits / 8);

    snprintf(word, sizeof word, "%.*s", (int)strcspn(operand, "+"), operand);
    if (plus != NULL)
        offset += strtoull(plus + 1, NULL, 0);
    LLVMValueRef value = cc_ptx_value(s, word);
    if (value == NULL)
        return NULL;
    value = LLVMBuildBinOp(s->b, LLVM_OP_ADD, as_bits(s, value, 64), number(s, offset, 64), "");
    return LLVMBuildCast(s->b, LLVM_OP_INT_TO_PTR, value,
                         LLVMPointerType(cc_int_type(s->l, bits), 0), "");
}

/* ---- calls of vgpu-exec ---- */

static LLVMValueRef call(struct cc_ptx_statement *s, const char *name, LLVMTypeRef result,
                         LLVMValueRef *argument, unsigned count)
{
    LLVMTypeRef type[8];

    for (unsigned i = 0; i < count; i++)
        type[i] = LLVMTypeOf(argument[i]);
    LLVMTypeRef function = LLVMFunctionType(result, type, count, 0);
    return LLVMBuildCall2(s->b, function, cc_declare(s->l, name, function), argument, count, "");
}

static bool fence(struct cc_ptx_statement *s, int scope)
{
    LLVMValueRef argument = number(s, (uint64_t)scope, 32);

    call(s, "vgpu_fence", LLVMVoidTypeInContext(s->l->context), &argument, 1);
    return true;
}

/* ---- instructions ---- */

static void set_order(LLVMValueRef access, const struct access *a, unsigned bits)
{
    if (a->order == VOLATILE)
        LLVMSetVolatile(access, 1);
    else if (a->order > LLVM_ORDER_NONE)
        LLVMSetOrdering(access, a->order);
    if (a->order != -2)
        LLVMSetAlignment(access, bits / 8);
}

static bool load(struct cc_ptx_statement *s, const struct cc_ptx *in, const struct access *a)
{
    if (a->type < 0 || in->operands != a->elements + 1)
        return false;
    unsigned bits = types[a->type].bits;
    for (int i = 0; i < a->elements; i++) {
        LLVMValueRef from = address_of(s, in->operand[a->elements], bits, i);
        if (from == NULL)
            return false;
        LLVMValueRef value = LLVMBuildLoad2(s->b, cc_int_type(s->l, bits), from, "");
        set_order(value, a, bits);
        if (bits < 32)
            value = LLVMBuildCast(s->b, types[a->type].kind == 's' ? LLVM_OP_SEXT : LLVM_OP_ZEXT,
                                  value, cc_int_type(s->l, 32), "");
        if (!assign_bits(s, in->operand[i], value))
            return false;
    }
    return true;
}

static bool store(struct cc_ptx_statement *s, const struct cc_ptx *in, const struct access *a)
{
    if (a->type < 0 || in->operands != a->elements + 1)
        return false;
    unsigned bits = types[a->type].bits;
    for (int i = 0; i < a->elements; i++) {
        LLVMValueRef to = address_of(s, in->operand[0], bits, i);
        LLVMValueRef value = cc_ptx_value(s, in->operand[i + 1]);
        if (to == NULL || value == NULL)
            return false;
        set_order(LLVMBuildStore(s->b, as_bits(s, value, bits), to), a, bits);
    }
    return true;
}

/* atom d, [a], b; atom.cas d, [a], b, c; red [a], b */
static bool update(struct cc_ptx_statement *s, const struct cc_ptx *in, const struct access *a)
{
    int returns = strcmp(in->name, "atom") == 0, cas = a->operation == VGPU_ATOMIC_CAS;

    if (a->type < 0 || types[a->type].atomic < 0 || a->operation < 0 || a->elements != 1 ||
        in->operands != returns + 2 + cas)
        return false;
    unsigned bits = types[a->type].bits;
    LLVMValueRef at = address_of(s, in->operand[returns], bits, 0);
    LLVMValueRef value = cc_ptx_value(s, in->operand[returns + 1 + cas]);
    LLVMValueRef compare = cas ? cc_ptx_value(s, in->operand[returns + 1]) : number(s, 0, 64);
    if (at == NULL || value == NULL || compare == NULL)
        return false;
    LLVMValueRef argument[] = {
        number(s, (uint64_t)a->operation, 32),
        number(s, (uint64_t)types[a->type].atomic, 32),
        LLVMBuildPointerCast(s->b, at, cc_byte_pointer(s->l, 0), ""),
        as_bits(s, as_bits(s, value, bits), 64),
        as_bits(s, as_bits(s, compare, bits), 64),
        number(s, a->scope >= 0 ? (uint64_t)a->scope : 1, 32),
    };
    LLVMValueRef old = call(s, "vgpu_atomic", cc_int_type(s->l, 64), argument, 6);
    return !returns || assign_bits(s, in->operand[0], old);
}

/* mov from a special register, or of a value. */
static bool move(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    LLVMTypeRef wide = cc_int_type(s->l, 64), word = cc_int_type(s->l, 32);
    const char *from = in->operand[1];

    if (in->operands != 2)
        return false;
    LLVMValueRef value = cc_ptx_value(s, from);
    if (value == NULL && (strcmp(from, "%clock64") == 0 || strcmp(from, "%clock") == 0))
        value = call(s, "vgpu_clock64", wide, NULL, 0);
    else if (value == NULL && strcmp(from, "%globaltimer") == 0)
        value = call(s, "vgpu_globaltimer", wide, NULL, 0);
    else if (value == NULL && strcmp(from, "%laneid") == 0)
        value = call(s, "vgpu_lane_id", word, NULL, 0);
    return value != NULL && assign_bits(s, in->operand[0], value);
}

static bool is(const struct cc_ptx *in, const char *name)
{
    return strcmp(in->name, name) == 0;
}

bool cc_ptx_instruction(struct cc_ptx_statement *s, struct cc_ptx *in)
{
    struct access a;

    if (is(in, "mov"))
        return move(s, in);
    if (is(in, "trap") && in->operands == 0) {
        call(s, "vgpu_trap", LLVMVoidTypeInContext(s->l->context), NULL, 0);
        return true;
    }
    /* a kernel starts when the one before it has ended: there is nothing left to wait for */
    if (is(in, "griddepcontrol"))
        return in->operands == 0;
    if (!read_access(in, &a))
        return false;
    if (is(in, "membar") || is(in, "fence"))
        return in->operands == 0 && a.scope >= 0 && fence(s, a.scope);
    if (is(in, "ld"))
        return load(s, in, &a);
    if (is(in, "st"))
        return store(s, in, &a);
    return (is(in, "red") || is(in, "atom")) && update(s, in, &a);
}
