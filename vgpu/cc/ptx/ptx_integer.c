/* SPDX-License-Identifier: MIT
 * ptx_integer.c: integer instructions of PTX that few programs use: carry chains, saturation, sums
 * of differences and of products of parts.
 */
#include <string.h>

#include "ptx_numbers.h"

static enum cc_ptx_known assigned(struct cc_ptx_statement *s, const struct cc_ptx *in,
                                  LLVMValueRef value)
{
    return cc_ptx_assign_bits(s, in->operand[0], value) ? CC_PTX_DONE : CC_PTX_UNKNOWN;
}

/* ---- carry chains ---- */

static LLVMValueRef read_carry(struct cc_ptx_statement *s, unsigned bits)
{
    LLVMValueRef flag = cc_ptx_value(s, CC_PTX_CARRY);

    return flag != NULL ? cc_ptx_resized(s, flag, bits, false) : cc_ptx_number(s, 0, bits);
}

static void write_carry(struct cc_ptx_statement *s, LLVMValueRef flag)
{
    cc_ptx_assign(s, CC_PTX_CARRY, flag);
}

/* The addend of mad.lo.cc and the like: a product's half. */
static LLVMValueRef half_product(struct cc_ptx_statement *s, const struct cc_ptx *in, bool high,
                                 struct cc_ptx_type type)
{
    LLVMValueRef a = cc_ptx_operand(s, in->operand[1], type.bits);
    LLVMValueRef b = cc_ptx_operand(s, in->operand[2], type.bits);
    bool sign = type.kind == 's';

    if (a == NULL || b == NULL)
        return NULL;
    LLVMValueRef all = cc_ptx_op(s, LLVM_OP_MULTIPLY, cc_ptx_resized(s, a, 2 * type.bits, sign),
                                 cc_ptx_resized(s, b, 2 * type.bits, sign));
    if (high)
        all = cc_ptx_op(s, LLVM_OP_LSHR, all, LLVMConstInt(LLVMTypeOf(all), type.bits, 0));
    return cc_ptx_resized(s, all, type.bits, false);
}

/* add.cc, addc, sub.cc, subc, mad.lo.cc, madc.hi: in one bit more, which is the carry, or borrow.
 */
static enum cc_ptx_known chain(struct cc_ptx_statement *s, const struct cc_ptx *in,
                               struct cc_ptx_type type)
{
    bool sub = cc_starts(in->name, "sub"), product = cc_starts(in->name, "mad");
    bool takes = in->name[strlen(in->name) - 1] == 'c', gives = cc_ptx_has(in, "cc");
    LLVMValueRef a, b;

    if (in->operands != 3 + product)
        return CC_PTX_UNKNOWN;
    a = product ? half_product(s, in, cc_ptx_has(in, "hi"), type)
                : cc_ptx_operand(s, in->operand[1], type.bits);
    b = cc_ptx_operand(s, in->operand[2 + product], type.bits);
    if (a == NULL || b == NULL)
        return CC_PTX_UNKNOWN;
    a = cc_ptx_resized(s, a, type.bits + 1, false);
    b = cc_ptx_resized(s, b, type.bits + 1, false);
    LLVMValueRef all = cc_ptx_op(s, sub ? LLVM_OP_SUB : LLVM_OP_ADD, a, b);
    if (takes)
        all = cc_ptx_op(s, sub ? LLVM_OP_SUB : LLVM_OP_ADD, all, read_carry(s, type.bits + 1));
    if (gives)
        write_carry(s, cc_ptx_resized(s,
                                      cc_ptx_op(s, LLVM_OP_LSHR, all,
                                                LLVMConstInt(LLVMTypeOf(all), type.bits, 0)),
                                      1, false));
    return assigned(s, in, cc_ptx_resized(s, all, type.bits, false));
}

/* ---- others ---- */

static LLVMValueRef saturated_sum(struct cc_ptx_statement *s, bool sub, LLVMValueRef a,
                                  LLVMValueRef b)
{
    LLVMValueRef most = cc_ptx_number(s, 0x7fffffff, 64),
                 least = cc_ptx_number(s, ~0x7fffffffull, 64);

    a = cc_ptx_op(s, sub ? LLVM_OP_SUB : LLVM_OP_ADD, cc_ptx_resized(s, a, 64, true),
                  cc_ptx_resized(s, b, 64, true));
    a = LLVMBuildSelect(s->b, LLVMBuildICmp(s->b, CC_PTX_GREATER, a, most, ""), most, a, "");
    return LLVMBuildSelect(s->b, LLVMBuildICmp(s->b, CC_PTX_LESS, a, least, ""), least, a, "");
}

/* add.sat.s32, sub.sat.s32, mad.hi.sat.s32 */
static enum cc_ptx_known saturate(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    bool mad = cc_ptx_is(in, "mad");
    struct cc_ptx_type type = {32, 's'};
    LLVMValueRef a = mad ? half_product(s, in, true, type) : cc_ptx_operand(s, in->operand[1], 32);
    LLVMValueRef b = cc_ptx_operand(s, in->operand[2 + mad], 32);

    if (a == NULL || b == NULL || in->operands != 3 + mad)
        return CC_PTX_UNKNOWN;
    return assigned(s, in, saturated_sum(s, cc_ptx_is(in, "sub"), a, b));
}

/* sad.u32 d, a, b, c: c + |a - b| */
static enum cc_ptx_known sum_difference(struct cc_ptx_statement *s, const struct cc_ptx *in,
                                        struct cc_ptx_type type)
{
    LLVMValueRef a = cc_ptx_operand(s, in->operand[1], type.bits),
                 b = cc_ptx_operand(s, in->operand[2], type.bits),
                 c = in->operands == 4 ? cc_ptx_operand(s, in->operand[3], type.bits) : NULL;

    if (a == NULL || b == NULL || c == NULL)
        return CC_PTX_UNKNOWN;
    LLVMValueRef less =
        LLVMBuildICmp(s->b, type.kind == 's' ? CC_PTX_LESS : CC_PTX_BELOW, a, b, "");
    LLVMValueRef between = LLVMBuildSelect(s->b, less, cc_ptx_op(s, LLVM_OP_SUB, b, a),
                                           cc_ptx_op(s, LLVM_OP_SUB, a, b), "");
    return assigned(s, in, cc_ptx_op(s, LLVM_OP_ADD, c, between));
}

/* cnot.b32 d, a: a == 0 ? 1 : 0 */
static enum cc_ptx_known count_not(struct cc_ptx_statement *s, const struct cc_ptx *in,
                                   unsigned bits)
{
    LLVMValueRef a = in->operands == 2 ? cc_ptx_operand(s, in->operand[1], bits) : NULL;

    if (a == NULL)
        return CC_PTX_UNKNOWN;
    LLVMValueRef none = LLVMBuildICmp(s->b, CC_PTX_EQUAL, a, cc_ptx_number(s, 0, bits), "");
    return assigned(s, in, cc_ptx_resized(s, none, bits, false));
}

/* mul24.lo.u32, mad24.hi.s32: of the lower 24 bits; .hi: bits 16 to 47 of the product */
static enum cc_ptx_known multiply_24(struct cc_ptx_statement *s, const struct cc_ptx *in,
                                     struct cc_ptx_type type)
{
    bool sums = cc_ptx_is(in, "mad24"), sign = type.kind == 's', saturates = cc_ptx_has(in, "sat");
    LLVMValueRef part[2], all;

    if (in->operands != 3 + sums || type.bits != 32 ||
        (saturates && !(sums && sign && cc_ptx_has(in, "hi"))))
        return CC_PTX_UNKNOWN;
    for (int i = 0; i < 2; i++) {
        if ((part[i] = cc_ptx_operand(s, in->operand[i + 1], 32)) == NULL)
            return CC_PTX_UNKNOWN;
        part[i] = cc_ptx_resized(s, cc_ptx_resized(s, part[i], 24, false), 64, sign);
    }
    all = cc_ptx_op(s, LLVM_OP_MULTIPLY, part[0], part[1]);
    if (cc_ptx_has(in, "hi"))
        all = cc_ptx_op(s, LLVM_OP_LSHR, all, cc_ptx_number(s, 16, 64));
    all = cc_ptx_resized(s, all, 32, false);
    LLVMValueRef c = sums ? cc_ptx_operand(s, in->operand[3], 32) : cc_ptx_number(s, 0, 32);
    if (c == NULL)
        return CC_PTX_UNKNOWN;
    return assigned(
        s, in, saturates ? saturated_sum(s, false, all, c) : cc_ptx_op(s, LLVM_OP_ADD, all, c));
}

static LLVMValueRef field(struct cc_ptx_statement *s, LLVMValueRef value, int number, unsigned bits,
                          bool sign)
{
    LLVMValueRef at = cc_ptx_number(s, (uint64_t)number * bits, 32);

    return cc_ptx_resized(s, cc_ptx_resized(s, cc_ptx_op(s, LLVM_OP_LSHR, value, at), bits, false),
                          32, sign);
}

/* dp4a.u32.s32 d, a, b, c: c and the products of four bytes; dp2a.lo: of two halves and two bytes
 */
static enum cc_ptx_known dot_product(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    bool four = cc_ptx_is(in, "dp4a"), upper = cc_ptx_has(in, "hi");
    const char *first = in->qualifiers >= 2 ? in->qualifier[in->qualifiers - 2] : "",
               *second = in->qualifiers >= 2 ? in->qualifier[in->qualifiers - 1] : "";
    LLVMValueRef a = cc_ptx_operand(s, in->operand[1], 32),
                 b = cc_ptx_operand(s, in->operand[2], 32),
                 sum = in->operands == 4 ? cc_ptx_operand(s, in->operand[3], 32) : NULL;

    if (a == NULL || b == NULL || sum == NULL || strstr("u32 s32", first) == NULL ||
        strstr("u32 s32", second) == NULL || *first == 0)
        return CC_PTX_UNKNOWN;
    for (int i = 0; i < (four ? 4 : 2); i++) {
        LLVMValueRef x = field(s, a, i, four ? 8 : 16, *first == 's'),
                     y = field(s, b, four ? i : i + 2 * upper, 8, *second == 's');
        sum = cc_ptx_op(s, LLVM_OP_ADD, sum, cc_ptx_op(s, LLVM_OP_MULTIPLY, x, y));
    }
    return assigned(s, in, sum);
}

/* szext.wrap.s32 d, a, b: the lower b bits of a, extended; .clamp: b above 32 is 32 */
static enum cc_ptx_known extend_field(struct cc_ptx_statement *s, const struct cc_ptx *in,
                                      struct cc_ptx_type type)
{
    LLVMValueRef a = cc_ptx_operand(s, in->operand[1], 32),
                 b = in->operands == 3 ? cc_ptx_operand(s, in->operand[2], 32) : NULL;
    LLVMValueRef most = cc_ptx_number(s, 32, 32), zero = cc_ptx_number(s, 0, 32);

    if (a == NULL || b == NULL || type.bits != 32)
        return CC_PTX_UNKNOWN;
    if (cc_ptx_has(in, "wrap"))
        b = cc_ptx_op(s, LLVM_OP_AND, b, cc_ptx_number(s, 31, 32));
    else
        b = LLVMBuildSelect(s->b, LLVMBuildICmp(s->b, CC_PTX_BELOW, b, most, ""), b, most, "");
    LLVMValueRef none = LLVMBuildICmp(s->b, CC_PTX_EQUAL, b, zero, "");
    LLVMValueRef by = cc_ptx_op(s, LLVM_OP_SUB, most, LLVMBuildSelect(s->b, none, most, b, ""));
    a = cc_ptx_op(s, LLVM_OP_SHL, a, by);
    a = cc_ptx_op(s, type.kind == 's' ? LLVM_OP_ASHR : LLVM_OP_LSHR, a, by);
    return assigned(s, in, LLVMBuildSelect(s->b, none, zero, a, ""));
}

/* bfind.shiftamt.u32 d, a: by how much to shift the highest digit to the left end */
static enum cc_ptx_known find_shift(struct cc_ptx_statement *s, const struct cc_ptx *in,
                                    struct cc_ptx_type type)
{
    LLVMValueRef a = in->operands == 2 ? cc_ptx_operand(s, in->operand[1], type.bits) : NULL;
    LLVMValueRef zero = cc_ptx_number(s, 0, type.bits);

    if (a == NULL || type.bits < 32)
        return CC_PTX_UNKNOWN;
    if (type.kind == 's') {
        LLVMValueRef negative = LLVMBuildICmp(s->b, CC_PTX_LESS, a, zero, "");
        LLVMValueRef ones = LLVMConstInt(cc_int_type(s->l, type.bits), ~0ull, 1);
        a = LLVMBuildSelect(s->b, negative, cc_ptx_op(s, LLVM_OP_XOR, a, ones), a, "");
    }
    LLVMValueRef argument[] = {a, cc_ptx_number(s, 0, 1)};
    LLVMValueRef by = cc_ptx_intrinsic(s, "ctlz", LLVMTypeOf(a), argument, 2);
    LLVMValueRef none = LLVMBuildICmp(s->b, CC_PTX_EQUAL, a, zero, "");
    by = cc_ptx_resized(s, by, 32, false);
    return assigned(s, in, LLVMBuildSelect(s->b, none, cc_ptx_number(s, 0xffffffff, 32), by, ""));
}

/* slct.f32.s32 d, a, b, c: c >= 0 ? a : b */
static enum cc_ptx_known select_by_sign(struct cc_ptx_statement *s, const struct cc_ptx *in,
                                        struct cc_ptx_type by)
{
    struct cc_ptx_type type;
    LLVMValueRef is;

    if (in->operands != 4 || in->qualifiers < 2 ||
        !cc_ptx_type(in->qualifier[in->qualifiers - 2], &type) || by.bits != 32)
        return CC_PTX_UNKNOWN;
    LLVMValueRef a = cc_ptx_operand(s, in->operand[1], type.bits),
                 b = cc_ptx_operand(s, in->operand[2], type.bits),
                 c = cc_ptx_operand(s, in->operand[3], 32);
    if (a == NULL || b == NULL || c == NULL)
        return CC_PTX_UNKNOWN;
    if (by.kind == 'f') {
        c = cc_ptx_as_float(s, c);
        is =
            LLVMBuildFCmp(s->b, CC_PTX_F_AT_LEAST, cc_ptx_has(in, "ftz") ? cc_ptx_flushed(s, c) : c,
                          LLVMConstNull(LLVMTypeOf(c)), "");
    } else {
        is = LLVMBuildICmp(s->b, CC_PTX_GREATER, c, cc_ptx_number(s, 0xffffffff, 32), "");
    }
    return assigned(s, in, LLVMBuildSelect(s->b, is, a, b, ""));
}

/* min, max (sign: of signed numbers) and add of two numbers of 32 bits; with .relu at least 0 */
static LLVMValueRef combined(struct cc_ptx_statement *s, const struct cc_ptx *in, LLVMValueRef a,
                             LLVMValueRef b, bool sign)
{
    LLVMValueRef zero = cc_ptx_number(s, 0, 32), less, value;

    if (cc_ptx_is(in, "add"))
        return cc_ptx_op(s, LLVM_OP_ADD, a, b);
    less = LLVMBuildICmp(s->b, sign ? CC_PTX_LESS : CC_PTX_BELOW, a, b, "");
    value = cc_ptx_is(in, "min") ? LLVMBuildSelect(s->b, less, a, b, "")
                                 : LLVMBuildSelect(s->b, less, b, a, "");
    if (!cc_ptx_has(in, "relu"))
        return value;
    less = LLVMBuildICmp(s->b, CC_PTX_LESS, value, zero, "");
    return LLVMBuildSelect(s->b, less, zero, value, "");
}

/* add.u16x2, min.relu.s16x2: of two halves each; max.relu.s32 */
static enum cc_ptx_known halves(struct cc_ptx_statement *s, const struct cc_ptx *in,
                                struct cc_ptx_type type)
{
    LLVMValueRef a = cc_ptx_operand(s, in->operand[1], 32),
                 b = in->operands == 3 ? cc_ptx_operand(s, in->operand[2], 32) : NULL;
    bool sign = type.kind == 'S', relu = cc_ptx_has(in, "relu");
    LLVMValueRef value = cc_ptx_number(s, 0, 32);

    if (a == NULL || b == NULL || in->qualifiers != 1 + relu ||
        (relu && (type.kind == 'U' || cc_ptx_is(in, "add"))))
        return CC_PTX_UNKNOWN;
    if (type.kind == 's')
        return assigned(s, in, combined(s, in, a, b, true));
    for (int i = 0; i < 2; i++) {
        LLVMValueRef half =
            combined(s, in, field(s, a, i, 16, sign), field(s, b, i, 16, sign), sign);
        half = cc_ptx_resized(s, cc_ptx_resized(s, half, 16, false), 32, false);
        half = cc_ptx_op(s, LLVM_OP_SHL, half, cc_ptx_number(s, 16 * (uint64_t)i, 32));
        value = cc_ptx_op(s, LLVM_OP_OR, value, half);
    }
    return assigned(s, in, value);
}

enum cc_ptx_known cc_ptx_integer(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    struct cc_ptx_type type;
    const char *name = in->name;
    enum cc_ptx_known of_bits;

    if (*name == 'v')
        return cc_ptx_video(s, in);
    if ((of_bits = cc_ptx_bits_of(s, in)) != CC_PTX_NOT_MINE)
        return of_bits;
    if (in->qualifiers == 0 || !cc_ptx_type(in->qualifier[in->qualifiers - 1], &type))
        return CC_PTX_NOT_MINE;
    if (cc_ptx_is(in, "slct"))
        return select_by_sign(s, in, type);
    if ((cc_ptx_is(in, "add") || cc_ptx_is(in, "min") || cc_ptx_is(in, "max")) &&
        (strchr("US", type.kind) != NULL ||
         (cc_ptx_has(in, "relu") && type.kind == 's' && type.bits == 32)))
        return halves(s, in, type);
    if (strchr("us", type.kind) == NULL)
        return CC_PTX_NOT_MINE;
    if (cc_ptx_is(in, "addc") || cc_ptx_is(in, "subc") || cc_ptx_is(in, "madc") ||
        cc_ptx_has(in, "cc"))
        return chain(s, in, type);
    if (cc_ptx_has(in, "sat") && type.kind == 's' && type.bits == 32 &&
        (cc_ptx_is(in, "add") || cc_ptx_is(in, "sub") ||
         (cc_ptx_is(in, "mad") && cc_ptx_has(in, "hi"))))
        return saturate(s, in);
    if (strcmp(name, "bfind") == 0 && cc_ptx_has(in, "shiftamt"))
        return find_shift(s, in, type);
    if (strcmp(name, "sad") == 0)
        return sum_difference(s, in, type);
    if (strcmp(name, "cnot") == 0)
        return count_not(s, in, type.bits);
    if (strcmp(name, "mul24") == 0 || strcmp(name, "mad24") == 0)
        return multiply_24(s, in, type);
    if (strcmp(name, "dp4a") == 0 || strcmp(name, "dp2a") == 0)
        return dot_product(s, in);
    return strcmp(name, "szext") == 0 ? extend_field(s, in, type) : CC_PTX_NOT_MINE;
}
