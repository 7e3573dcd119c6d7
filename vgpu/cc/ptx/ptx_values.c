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
        {"b8", {8, 'u'}},     {"u8", {8, 'u'}},     {"s8", {8, 's'}},      {"b16", {16, 'u'}},
        {"u16", {16, 'u'}},   {"s16", {16, 's'}},   {"b32", {32, 'u'}},    {"u32", {32, 'u'}},
        {"s32", {32, 's'}},   {"b64", {64, 'u'}},   {"u64", {64, 'u'}},    {"s64", {64, 's'}},
        {"f32", {32, 'f'}},   {"f64", {64, 'f'}},   {"pred", {1, 'p'}},    {"f16", {16, 'F'}},
        {"bf16", {16, 'G'}},  {"f16x2", {32, 'X'}}, {"bf16x2", {32, 'Y'}}, {"u16x2", {32, 'U'}},
        {"s16x2", {32, 'S'}}, {"b128", {128, 'u'}},
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

/* ---- registers ---- */

void cc_ptx_declare(struct cc_ptx_statement *s, const char *name, LLVMTypeRef type)
{
    const char *many = strchr(name, '<');
    struct cc_ptx_register added = {.name = cc_copy(name, strcspn(name, "<")),
                                    .count = many != NULL ? atoi(many + 1) : 0,
                                    .type = type};

    added.value = cc_alloc((size_t)(added.count + 1) * sizeof *added.value);
    s->reg = cc_grow(s->reg, s->registers, &s->register_room, sizeof added);
    s->reg[s->registers++] = added;
}

/* Sums of a module's loops stay floating-point numbers. */
static LLVMTypeRef register_type(const struct cc_ptx_statement *s, struct cc_ptx_type type)
{
    if (s->entry == NULL || type.kind != 'f')
        return cc_int_type(s->l, type.bits);
    return type.bits == 32 ? LLVMFloatTypeInContext(s->l->context)
                           : LLVMDoubleTypeInContext(s->l->context);
}

bool cc_ptx_declare_all(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    struct cc_ptx_type type;

    if (in->qualifiers != 1 || strcmp(in->qualifier[0], "reg") != 0 || in->operands < 2 ||
        *in->operand[0] != '.' || !cc_ptx_type(in->operand[0] + 1, &type))
        return false;
    for (int i = 1; i < in->operands; i++)
        cc_ptx_declare(s, in->operand[i], register_type(s, type));
    return true;
}

/* The number of the register in its range: 12 of %r12 in %r<20>; -1: it is none of these. */
static int number_in(const struct cc_ptx_register *r, const char *name)
{
    size_t length = strlen(r->name);
    char *end;

    if (strncmp(r->name, name, length) != 0)
        return -1;
    if (r->count == 0)
        return name[length] == 0 ? 0 : -1;
    if (name[length] < '0' || name[length] > '9' || (name[length] == '0' && name[length + 1] != 0))
        return -1;
    long number = strtol(name + length, &end, 10);
    return *end == 0 && number < r->count ? (int)number : -1;
}

static struct cc_ptx_register *find_register(struct cc_ptx_statement *s, const char *name,
                                             int *number)
{
    for (size_t i = s->registers; i-- > 0;)
        if ((*number = number_in(&s->reg[i], name)) >= 0)
            return &s->reg[i];
    return NULL;
}

/* The register's value, or where it is stored. */
static LLVMValueRef *register_cell(struct cc_ptx_statement *s, struct cc_ptx_register *r,
                                   int number)
{
    LLVMValueRef *cell = &r->value[number];

    if (*cell == NULL)
        *cell = s->entry != NULL ? LLVMBuildAlloca(s->entry, r->type, "") : LLVMGetUndef(r->type);
    return cell;
}

/* 42, -1, 0x2a, 42U, 0f3F800000, 0d3FF0000000000000 */
static bool read_number(const char *word, unsigned long long *value)
{
    bool bits =
        word[0] == '0' && (word[1] == 'f' || word[1] == 'F' || word[1] == 'd' || word[1] == 'D');
    const char *from = bits ? word + 2 : word;
    char *end;

    if (strcmp(word, "WARP_SZ") == 0) {
        *value = 32;
        return true;
    }
    if (*word < '0' && *word != '-' && *word != '+')
        return false;
    *value = strtoull(from, &end, bits ? 16 : 0);
    end += *end == 'U';
    return *end == 0 && end != from;
}

/* The address of a variable or function of the module, in the form of its space. */
static LLVMValueRef symbol_address(struct cc_ptx_statement *s, const char *name)
{
    LLVMValueRef pointer = s->call == NULL ? cc_ptx_symbol(s, name) : NULL;
    LLVMTypeRef number = cc_int_type(s->l, 64);
    int index;

    if (pointer == NULL)
        return NULL;
    const struct cc_ptx_register *own = find_register(s, name, &index);
    LLVMValueRef global = own == NULL ? LLVMGetNamedGlobal(s->l->module, name) : NULL;
    LLVMValueRef address = own != NULL || global != NULL
                               ? cc_ptx_call(s, CC_PTX_PLACE, number, &pointer, 1)
                               : LLVMBuildCast(s->b, LLVM_OP_PTR_TO_INT, pointer, number, "");
    bool shared = own != NULL
                      ? own->shared
                      : global != NULL && LLVMGetPointerAddressSpace(LLVMTypeOf(global)) == 3;
    return shared ? LLVMBuildBinOp(s->b, LLVM_OP_SUB, address,
                                   LLVMConstInt(number, VGPU_SHARED_VA, 0), "")
                  : address;
}

LLVMValueRef cc_ptx_symbol(struct cc_ptx_statement *s, const char *name)
{
    int number;
    const struct cc_ptx_register *found = find_register(s, name, &number);

    if (found != NULL)
        return found->memory;
    LLVMValueRef global = LLVMGetNamedGlobal(s->l->module, name);
    if (global == NULL)
        global = LLVMGetNamedFunction(s->l->module, name);
    if (global == NULL)
        return NULL;
    global = LLVMConstPointerCast(
        global, cc_byte_pointer(s->l, LLVMGetPointerAddressSpace(LLVMTypeOf(global))));
    return LLVMGetPointerAddressSpace(LLVMTypeOf(global)) != 0
               ? LLVMConstAddrSpaceCast(global, cc_byte_pointer(s->l, 0))
               : global;
}

/* The value of an operand: an output or a register that was assigned, an input, a number, an
 * address. */
LLVMValueRef cc_ptx_value(struct cc_ptx_statement *s, const char *word)
{
    int operand = operand_number(word), number;
    struct cc_ptx_register *found = operand < 0 ? find_register(s, word, &number) : NULL;
    unsigned long long value;

    if (operand >= 0 && operand < s->outputs)
        return s->output[operand];
    if (operand >= 0)
        return operand - s->outputs < s->inputs ? s->input[operand - s->outputs] : NULL;
    if (found != NULL && found->memory == NULL) {
        LLVMValueRef cell = *register_cell(s, found, number);
        return s->entry != NULL ? LLVMBuildLoad2(s->b, found->type, cell, "") : cell;
    }
    if (read_number(word, &value))
        return LLVMConstInt(cc_int_type(s->l, 64), value, 0);
    return symbol_address(s, word);
}

bool cc_ptx_assign(struct cc_ptx_statement *s, const char *word, LLVMValueRef value)
{
    int operand = operand_number(word), number;
    struct cc_ptx_register *found = operand < 0 ? find_register(s, word, &number) : NULL;
    LLVMValueRef *to = operand >= 0 && operand < s->outputs     ? &s->output[operand]
                       : found != NULL && found->memory == NULL ? register_cell(s, found, number)
                                                                : NULL;

    if (to == NULL || value == NULL)
        return false;
    if (s->entry != NULL && found != NULL)
        LLVMBuildStore(s->b, value, *to);
    else
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

/* 1.5: a number of the instruction's type */
static bool read_decimal(const char *word, unsigned bits, uint64_t *value)
{
    char *end;
    double wide = strtod(word, &end);
    float narrow = (float)wide;
    uint32_t low;

    if (strchr(word, '.') == NULL || *end != 0 || strchr("0123456789-+.", *word) == NULL)
        return false;
    memcpy(value, &wide, sizeof wide);
    memcpy(&low, &narrow, sizeof low);
    *value = bits == 32 ? low : *value;
    return bits >= 32;
}

LLVMValueRef cc_ptx_operand(struct cc_ptx_statement *s, const char *operand, unsigned bits)
{
    uint64_t decimal;

    if (read_decimal(operand, bits, &decimal))
        return cc_ptx_number(s, decimal, bits);
    LLVMValueRef value = cc_ptx_value(s, operand);

    return value != NULL && !is_predicate(value) ? cc_ptx_bits(s, value, bits) : NULL;
}

LLVMValueRef cc_ptx_predicate(struct cc_ptx_statement *s, const char *operand)
{
    bool negated = *operand == '!';
    LLVMValueRef value = cc_ptx_value(s, operand + negated);

    if (value != NULL && LLVMIsAConstantInt(value) != NULL) /* mov.pred p, -1 */
        value = cc_ptx_number(s, LLVMConstIntGetZExtValue(value) != 0, 1);
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
    const char *plus = strchr(operand, '+'), *name = cc_copy(operand, strcspn(operand, "+"));
    LLVMValueRef symbol = s->call == NULL ? cc_ptx_symbol(s, name) : NULL;
    LLVMTypeRef byte = cc_int_type(s->l, 8);

    if (plus != NULL)
        offset += strtoull(plus + 1, NULL, 0);
    LLVMValueRef by = cc_ptx_number(s, offset, 64);
    if (symbol != NULL)
        return LLVMBuildGEP2(s->b, byte, symbol, &by, 1, "");
    LLVMValueRef value = cc_ptx_operand(s, name, 64);
    if (value == NULL)
        return NULL;
    by = cc_ptx_number(s, offset + (shared ? VGPU_SHARED_VA : 0), 64);
    value = LLVMBuildBinOp(s->b, LLVM_OP_ADD, value, by, "");
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
    struct cc_place place = s->place;
    const char *file = place.file != NULL ? place.file : s->l->source, *slash = strrchr(file, '/');
    const char *site = cc_format("%s:%d", slash != NULL ? slash + 1 : file, place.line);
    LLVMValueRef text = LLVMConstStringInContext(s->l->context, site, (unsigned)strlen(site), 0);
    LLVMValueRef global = LLVMAddGlobal(s->l->module, LLVMTypeOf(text), "vgpu_site");

    LLVMSetInitializer(global, text);
    LLVMSetGlobalConstant(global, 1);
    LLVMSetLinkage(global, LLVM_LINKAGE_PRIVATE);
    return LLVMConstPointerCast(global, cc_byte_pointer(s->l, 0));
}

LLVMValueRef cc_ptx_op(struct cc_ptx_statement *s, int op, LLVMValueRef a, LLVMValueRef b)
{
    return LLVMBuildBinOp(s->b, op, a, b, "");
}

LLVMValueRef cc_ptx_resized(struct cc_ptx_statement *s, LLVMValueRef value, unsigned bits,
                            bool sign)
{
    return LLVMBuildIntCast2(s->b, value, cc_int_type(s->l, bits), sign, "");
}

bool cc_ptx_has(const struct cc_ptx *in, const char *word)
{
    for (int i = 0; i < in->qualifiers; i++)
        if (strcmp(in->qualifier[i], word) == 0)
            return true;
    return false;
}
