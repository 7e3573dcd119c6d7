/* SPDX-License-Identifier: MIT
 * ptx_values.c: converts operands of inline PTX to LLVM values, and builds calls of vgpu-exec.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diag.h"
#include "image.h"
#include "ptx.h"

bool cc_ptx_is(const struct cc_ptx *in, const char *name)
{
    return strcmp(in->name, name) == 0;
}

bool cc_ptx_type(const char *word, struct cc_ptx_type *type)
{
    static const struct {
        const char *word;
        struct cc_ptx_type type;
    } types[] = {
        {"b8", {8, 'u'}},   {"u8", {8, 'u'}},   {"s8", {8, 's'}},   {"b16", {16, 'u'}},
        {"u16", {16, 'u'}}, {"s16", {16, 's'}}, {"b32", {32, 'u'}}, {"u32", {32, 'u'}},
        {"s32", {32, 's'}}, {"b64", {64, 'u'}}, {"u64", {64, 'u'}}, {"s64", {64, 's'}},
        {"f32", {32, 'f'}}, {"f64", {64, 'f'}}, {"pred", {1, 'p'}},
    };

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].word, word) == 0) {
            *type = types[i].type;
            return true;
        }
    return false;
}

/* ---- operands ---- */

/* $0 or ${0:x} as 0; -1: not an operand of the statement. */
static int operand_number(const char *word)
{
    int braced = word[0] == '$' && word[1] == '{';

    return *word == '$' && word[1 + braced] >= '0' && word[1 + braced] <= '9'
               ? atoi(word + 1 + braced)
               : -1;
}

static struct cc_ptx_register *find_register(struct cc_ptx_statement *s, const char *name)
{
    for (int i = s->registers; i-- > 0;)
        if (strcmp(s->reg[i].name, name) == 0)
            return &s->reg[i];
    return NULL;
}

/* 42, -1, 0x2a, 42U, 0f3F800000, 0d3FF0000000000000 */
static bool read_number(const char *word, unsigned long long *value)
{
    bool bits =
        word[0] == '0' && (word[1] == 'f' || word[1] == 'F' || word[1] == 'd' || word[1] == 'D');
    const char *from = bits ? word + 2 : word;
    char *end;

    *value = strtoull(from, &end, bits ? 16 : 0);
    end += *end == 'U';
    return *end == 0 && end != from;
}

/* The value of an operand: an output or a register that was assigned, an input, or a number. */
LLVMValueRef cc_ptx_value(struct cc_ptx_statement *s, const char *word)
{
    int operand = operand_number(word);
    const struct cc_ptx_register *found = find_register(s, word);
    unsigned long long value;

    if (operand >= 0 && operand < s->outputs)
        return s->output[operand];
    if (operand >= 0)
        return operand - s->outputs < s->inputs ? s->input[operand - s->outputs] : NULL;
    if (found != NULL)
        return found->value;
    return read_number(word, &value) ? LLVMConstInt(cc_int_type(s->l, 64), value, 0) : NULL;
}

bool cc_ptx_assign(struct cc_ptx_statement *s, const char *word, LLVMValueRef value)
{
    int operand = operand_number(word);
    struct cc_ptx_register *found = find_register(s, word);
    LLVMValueRef *to = operand >= 0 && operand < s->outputs ? &s->output[operand]
                       : found != NULL                      ? &found->value
                                                            : NULL;

    if (to == NULL || value == NULL)
        return false;
    *to = s->guard != NULL ? LLVMBuildSelect(s->b, s->guard, value, *to, "") : value;
    return true;
}

/* ---- bits ---- */

LLVMValueRef cc_ptx_number(struct cc_ptx_statement *s, uint64_t value, unsigned bits)
{
    return LLVMConstInt(cc_int_type(s->l, bits), value, 0);
}

LLVMValueRef cc_ptx_bits(struct cc_ptx_statement *s, LLVMValueRef value, unsigned bits)
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

static bool is_predicate(LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value);

    return LLVMGetTypeKind(type) == LLVM_TYPE_INTEGER && LLVMGetIntTypeWidth(type) == 1;
}

LLVMValueRef cc_ptx_operand(struct cc_ptx_statement *s, const char *operand, unsigned bits)
{
    LLVMValueRef value = cc_ptx_value(s, operand);

    return value != NULL && !is_predicate(value) ? cc_ptx_bits(s, value, bits) : NULL;
}

LLVMValueRef cc_ptx_predicate(struct cc_ptx_statement *s, const char *operand)
{
    bool negated = *operand == '!';
    LLVMValueRef value = cc_ptx_value(s, operand + negated);

    if (value == NULL || !is_predicate(value))
        return NULL;
    return negated ? LLVMBuildBinOp(s->b, LLVM_OP_XOR, value, cc_ptx_number(s, 1, 1), "") : value;
}

bool cc_ptx_assign_bits(struct cc_ptx_statement *s, const char *operand, LLVMValueRef bits)
{
    LLVMValueRef old = cc_ptx_value(s, operand);

    if (strcmp(operand, "_") == 0)
        return true;
    if (old == NULL || is_predicate(old))
        return false;
    LLVMTypeRef type = LLVMTypeOf(old);
    unsigned size = (unsigned)LLVMABISizeOfType(s->l->layout, type) * 8;
    bits = cc_ptx_bits(s, bits, size);
    if (LLVMGetTypeKind(type) == LLVM_TYPE_POINTER)
        bits = LLVMBuildCast(s->b, LLVM_OP_INT_TO_PTR, bits, type, "");
    else if (LLVMGetTypeKind(type) != LLVM_TYPE_INTEGER)
        bits = LLVMBuildCast(s->b, LLVM_OP_BIT_CAST, bits, type, "");
    return cc_ptx_assign(s, operand, bits);
}

bool cc_ptx_assign_predicate(struct cc_ptx_statement *s, const char *operand, LLVMValueRef value)
{
    LLVMValueRef old = cc_ptx_value(s, operand);

    if (strcmp(operand, "_") == 0)
        return true;
    if (old == NULL || !is_predicate(old))
        return false;
    if (!is_predicate(value))
        value = LLVMBuildICmp(s->b, LLVM_IS_NOT_EQUAL, value, LLVMConstNull(LLVMTypeOf(value)), "");
    return cc_ptx_assign(s, operand, value);
}

LLVMValueRef cc_ptx_address(struct cc_ptx_statement *s, const char *operand, uint64_t offset,
                            bool shared)
{
    const char *plus = strchr(operand, '+');
    LLVMValueRef value = cc_ptx_operand(s, cc_copy(operand, strcspn(operand, "+")), 64);

    if (value == NULL)
        return NULL;
    if (plus != NULL)
        offset += strtoull(plus + 1, NULL, 0);
    if (shared)
        offset += VGPU_SHARED_VA;
    value = LLVMBuildBinOp(s->b, LLVM_OP_ADD, value, cc_ptx_number(s, offset, 64), "");
    return LLVMBuildCast(s->b, LLVM_OP_INT_TO_PTR, value, cc_byte_pointer(s->l, 0), "");
}

LLVMValueRef cc_ptx_call(struct cc_ptx_statement *s, const char *name, LLVMTypeRef result,
                         LLVMValueRef *argument, unsigned count)
{
    LLVMTypeRef type[8];

    for (unsigned i = 0; i < count; i++)
        type[i] = LLVMTypeOf(argument[i]);
    LLVMTypeRef function = LLVMFunctionType(result, type, count, 0);
    return LLVMBuildCall2(s->b, function, cc_declare(s->l, name, function), argument, count, "");
}

LLVMValueRef cc_ptx_site(struct cc_ptx_statement *s)
{
    struct cc_place place = cc_place_of(s->call);
    const char *file = place.file != NULL ? place.file : s->l->source, *slash = strrchr(file, '/');
    const char *site = cc_format("%s:%d", slash != NULL ? slash + 1 : file, place.line);
    LLVMValueRef text = LLVMConstStringInContext(s->l->context, site, (unsigned)strlen(site), 0);
    LLVMValueRef global = LLVMAddGlobal(s->l->module, LLVMTypeOf(text), "vgpu_site");

    LLVMSetInitializer(global, text);
    LLVMSetGlobalConstant(global, 1);
    LLVMSetLinkage(global, LLVM_LINKAGE_PRIVATE);
    return LLVMConstPointerCast(global, cc_byte_pointer(s->l, 0));
}
