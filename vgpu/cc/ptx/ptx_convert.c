/* SPDX-License-Identifier: MIT
 * ptx_convert.c: cvt, between all types of 16 and more bits; ptx_fp8.c has those of 8.
 */
#include <string.h>

#include "image.h"
#include "ptx_numbers.h"

struct conversion {
    struct cc_ptx_type to, from;
    struct cc_ptx_modes modes;
};

static bool is_integer(struct cc_ptx_type type)
{
    return type.kind == 'u' || type.kind == 's';
}

/* ---- to integers ---- */

static LLVMValueRef limit_of(struct cc_ptx_statement *s, struct cc_ptx_type type, bool max)
{
    uint64_t all = type.bits == 64 ? ~0ull : (1ull << type.bits) - 1, half = all >> 1;

    return cc_ptx_number(s,
                         type.kind == 'u' ? (max ? all : 0)
                         : max            ? half
                                          : ~half & all,
                         type.bits);
}

static LLVMValueRef selected(struct cc_ptx_statement *s, LLVMValueRef is, LLVMValueRef then,
                             LLVMValueRef otherwise)
{
    return LLVMBuildSelect(s->b, is, then, otherwise, "");
}

/* A number of integers, as f32 or f64: 2 to the power. */
static LLVMValueRef power(struct cc_ptx_statement *s, LLVMTypeRef type, unsigned exponent,
                          bool sign)
{
    bool wide = LLVMABISizeOfType(s->l->layout, type) == 8;
    uint64_t raw = wide ? (1023ull + exponent) << 52 | (uint64_t)sign << 63
                        : (127ull + exponent) << 23 | (uint64_t)sign << 31;

    return cc_ptx_as_float(s, cc_ptx_number(s, raw, wide ? 64 : 32));
}

/* Out of range: the nearest number; NaN: 0, or of 64 bits the highest bit. */
static LLVMValueRef to_integer(struct cc_ptx_statement *s, const struct conversion *c,
                               LLVMValueRef value)
{
    static const char *const round[] = {"rint", "trunc", "floor", "ceil"};
    struct cc_ptx_type to = c->to;
    bool sign = to.kind == 's', wide = to.bits == 64 || c->from.bits == 64;
    LLVMTypeRef type = LLVMTypeOf(value);

    if (c->modes.round != 1)
        value = cc_ptx_intrinsic(s, round[c->modes.round], type, &value, 1);
    LLVMValueRef nan = LLVMBuildFCmp(s->b, CC_PTX_F_UNORDERED, value, value, "");
    LLVMValueRef high =
        LLVMBuildFCmp(s->b, CC_PTX_F_AT_LEAST, value, power(s, type, to.bits - sign, false), "");
    LLVMValueRef low =
        LLVMBuildFCmp(s->b, CC_PTX_F_BELOW, value,
                      sign ? power(s, type, to.bits - 1, true) : LLVMConstNull(type), "");
    LLVMValueRef made = LLVMBuildCast(s->b, sign ? LLVM_OP_FP_TO_SIGNED : LLVM_OP_FP_TO_UNSIGNED,
                                      value, cc_int_type(s->l, to.bits), "");
    made = selected(s, high, limit_of(s, to, true), made);
    made = selected(s, low, limit_of(s, to, false), made);
    return selected(s, nan, cc_ptx_number(s, wide ? 1ull << (to.bits - 1) : 0, to.bits), made);
}

/* .sat: to the nearest number of the type. */
static LLVMValueRef limited(struct cc_ptx_statement *s, const struct conversion *c,
                            LLVMValueRef value)
{
    struct cc_ptx_type to = c->to;
    bool sign = c->from.kind == 's';
    LLVMTypeRef wide = cc_int_type(s->l, 65); /* all numbers of both types, with a sign */
    LLVMValueRef all = LLVMBuildIntCast2(s->b, value, wide, sign, "");
    LLVMValueRef most = LLVMBuildIntCast2(s->b, limit_of(s, to, true), wide, to.kind == 's', "");
    LLVMValueRef least = LLVMBuildIntCast2(s->b, limit_of(s, to, false), wide, to.kind == 's', "");

    all = selected(s, LLVMBuildICmp(s->b, CC_PTX_GREATER, all, most, ""), most, all);
    all = selected(s, LLVMBuildICmp(s->b, CC_PTX_LESS, all, least, ""), least, all);
    return LLVMBuildIntCast2(s->b, all, cc_int_type(s->l, to.bits), false, "");
}

/* ---- to floating point ---- */

static LLVMValueRef narrowed(struct cc_ptx_statement *s, LLVMValueRef value, int round)
{
    LLVMValueRef argument[] = {cc_ptx_number(s, VGPU_NARROW_F32, 32),
                               cc_ptx_number(s, (uint64_t)round, 32), cc_ptx_float_bits(s, value)};

    return cc_ptx_as_float(
        s,
        cc_ptx_bits(s, cc_ptx_call(s, "vgpu_ptx_narrow", cc_int_type(s->l, 64), argument, 3), 32));
}

/* f32 or f64 for a conversion to `bits` (16: f64, which is exact). */
static LLVMValueRef from_integer(struct cc_ptx_statement *s, const struct conversion *c,
                                 LLVMValueRef value)
{
    bool sign = c->from.kind == 's';
    unsigned bits = c->to.kind == 'f' ? c->to.bits : 64;

    if (c->modes.round == 0 || c->to.kind != 'f')
        return LLVMBuildCast(s->b, sign ? CC_PTX_F_FROM_SIGNED : CC_PTX_F_FROM_UNSIGNED, value,
                             cc_ptx_float_type(s, bits), "");
    LLVMValueRef wide = LLVMBuildIntCast2(s->b, value, cc_int_type(s->l, 64), sign, "");
    LLVMValueRef argument[] = {
        cc_ptx_number(s, sign ? VGPU_FLOAT_FROM_SIGNED : VGPU_FLOAT_FROM_UNSIGNED, 32),
        cc_ptx_number(s, bits, 32),
        cc_ptx_number(s, (uint64_t)c->modes.round, 32),
        wide,
        cc_ptx_number(s, 0, 64),
        cc_ptx_number(s, 0, 64)};
    LLVMValueRef made = cc_ptx_call(s, "vgpu_ptx_round", cc_int_type(s->l, 64), argument, 6);
    return cc_ptx_as_float(s, cc_ptx_bits(s, made, bits));
}

static unsigned float_bits(struct cc_ptx_statement *s, LLVMValueRef value)
{
    return (unsigned)LLVMABISizeOfType(s->l->layout, LLVMTypeOf(value)) * 8;
}

/* .satfinite: in place of infinity the largest number, whose bits are one less. */
static LLVMValueRef finite_half(struct cc_ptx_statement *s, const struct conversion *c,
                                LLVMValueRef bits)
{
    LLVMValueRef infinite = cc_ptx_number(s, c->to.kind == 'F' ? 0x7c00 : 0x7f80, 16);
    LLVMValueRef rest = cc_ptx_op(s, LLVM_OP_AND, bits, cc_ptx_number(s, 0x7fff, 16));

    if (!c->modes.satfinite)
        return bits;
    LLVMValueRef is = LLVMBuildICmp(s->b, CC_PTX_EQUAL, rest, infinite, "");
    return selected(s, is, cc_ptx_op(s, LLVM_OP_SUB, bits, cc_ptx_number(s, 1, 16)), bits);
}

/* The bits of the result, of an f32 or f64. */
static LLVMValueRef to_float(struct cc_ptx_statement *s, const struct conversion *c,
                             LLVMValueRef value)
{
    static const char *const round[] = {"rint", "trunc", "floor", "ceil"};

    if (c->modes.to_integer)
        value = cc_ptx_intrinsic(s, round[c->modes.round], LLVMTypeOf(value), &value, 1);
    if (c->modes.relu)
        value = cc_ptx_not_negative(s, value);
    if (c->modes.sat)
        value = cc_ptx_saturated(s, value);
    if (c->to.kind != 'f')
        return finite_half(s, c, cc_ptx_to_half(s, value, c->to.kind, c->modes.round));
    if (c->to.bits == 64 && float_bits(s, value) == 32)
        value = LLVMBuildCast(s->b, CC_PTX_F_EXTEND, value, cc_ptx_float_type(s, 64), "");
    else if (c->to.bits == 32 && float_bits(s, value) == 64)
        value = c->modes.round != 0
                    ? narrowed(s, value, c->modes.round)
                    : LLVMBuildCast(s->b, CC_PTX_F_TRUNC, value, cc_ptx_float_type(s, 32), "");
    if (c->modes.ftz && c->to.bits == 32)
        value = cc_ptx_flushed(s, value);
    return cc_ptx_float_bits(s, value);
}

/* ---- the instruction ---- */

/* An operand as f32 or f64. */
static LLVMValueRef float_operand(struct cc_ptx_statement *s, const struct conversion *c,
                                  const char *operand)
{
    LLVMValueRef value = cc_ptx_operand(s, operand, c->from.bits);

    if (value == NULL)
        return NULL;
    if (c->from.kind != 'f')
        return cc_ptx_from_half(s, value, c->from.kind);
    value = cc_ptx_as_float(s, value);
    return c->modes.ftz && c->from.bits == 32 ? cc_ptx_flushed(s, value) : value;
}

/* cvt.rn.f16x2.f32 d, a, b: a is the upper half */
static enum cc_ptx_known convert_pair(struct cc_ptx_statement *s, const struct cc_ptx *in,
                                      struct conversion *c)
{
    LLVMValueRef half[2];

    if (in->operands != 3 || c->from.kind != 'f' || c->from.bits != 32)
        return CC_PTX_UNKNOWN;
    c->to = (struct cc_ptx_type){16, c->to.kind == 'X' ? 'F' : 'G'};
    for (int i = 0; i < 2; i++) {
        LLVMValueRef value = float_operand(s, c, in->operand[2 - i]);
        if (value == NULL)
            return CC_PTX_UNKNOWN;
        half[i] = cc_ptx_bits(s, to_float(s, c, value), 32);
    }
    half[1] = LLVMBuildBinOp(s->b, LLVM_OP_SHL, half[1], cc_ptx_number(s, 16, 32), "");
    LLVMValueRef both = LLVMBuildBinOp(s->b, LLVM_OP_OR, half[0], half[1], "");
    return cc_ptx_assign_bits(s, in->operand[0], both) ? CC_PTX_DONE : CC_PTX_UNKNOWN;
}

static enum cc_ptx_known from_float(struct cc_ptx_statement *s, const struct cc_ptx *in,
                                    const struct conversion *c)
{
    LLVMValueRef value = float_operand(s, c, in->operand[1]), made;

    if (value == NULL)
        return CC_PTX_UNKNOWN;
    if (!is_integer(c->to))
        return cc_ptx_assign_bits(s, in->operand[0], to_float(s, c, value)) ? CC_PTX_DONE
                                                                            : CC_PTX_UNKNOWN;
    made = to_integer(s, c, value);
    made = LLVMBuildIntCast2(s->b, made, cc_int_type(s->l, 64), c->to.kind == 's', "");
    return cc_ptx_assign_bits(s, in->operand[0], made) ? CC_PTX_DONE : CC_PTX_UNKNOWN;
}

enum cc_ptx_known cc_ptx_convert(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    struct conversion c;
    enum cc_ptx_known fp8 = cc_ptx_convert_fp8(s, in);

    if (fp8 != CC_PTX_NOT_MINE)
        return fp8;
    if (cc_ptx_has(in, "pack"))
        return cc_ptx_bits_of(s, in);
    if (in->qualifiers < 2 || !cc_ptx_type(in->qualifier[in->qualifiers - 2], &c.to) ||
        !cc_ptx_type(in->qualifier[in->qualifiers - 1], &c.from) ||
        !cc_ptx_modes(in, 2, &c.modes) || c.to.kind == 'p' || c.from.kind == 'p' ||
        c.from.kind == 'X' || c.from.kind == 'Y' || c.modes.xorsign || c.modes.oob ||
        (c.modes.satfinite && strchr("FGXY", c.to.kind) == NULL))
        return CC_PTX_UNKNOWN;
    if (c.to.kind == 'X' || c.to.kind == 'Y')
        return convert_pair(s, in, &c);
    if (in->operands != 2)
        return CC_PTX_UNKNOWN;
    if (!is_integer(c.from))
        return from_float(s, in, &c);
    LLVMValueRef value = cc_ptx_operand(s, in->operand[1], c.from.bits);
    if (value == NULL)
        return CC_PTX_UNKNOWN;
    if (!is_integer(c.to))
        value = to_float(s, &c, from_integer(s, &c, value));
    else if (c.modes.sat)
        value = limited(s, &c, value);
    else
        value =
            LLVMBuildIntCast2(s->b, value, cc_int_type(s->l, c.to.bits), c.from.kind == 's', "");
    if (is_integer(c.to))
        value = LLVMBuildIntCast2(s->b, value, cc_int_type(s->l, 64), c.to.kind == 's', "");
    return cc_ptx_assign_bits(s, in->operand[0], value) ? CC_PTX_DONE : CC_PTX_UNKNOWN;
}
