/* SPDX-License-Identifier: MIT
 * ptx_float.c: floating-point arithmetic of PTX: f32 and f64 as LLVM instructions, with another
 * rounding than to nearest by vgpu-exec; f16 and bf16 by way of f32. What PTX calls approximate is
 * as exact as libm. A NaN is not always the one that PTX names.
 */
#include <string.h>

#include "image.h"
#include "ptx_numbers.h"

/* A qualifier that is no rounding; false: another one. */
static bool read_flag(const char *word, struct cc_ptx_modes *modes)
{
    static const char *const ignored[] = {"approx", "full", "noftz", "abs"};
    const struct {
        const char *word;
        bool *flag;
    } flags[] = {{"ftz", &modes->ftz},
                 {"sat", &modes->sat},
                 {"NaN", &modes->nan},
                 {"relu", &modes->relu},
                 {"oob", &modes->oob},
                 {"xorsign", &modes->xorsign},
                 {"satfinite", &modes->satfinite}};

    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (strcmp(word, flags[i].word) == 0)
            return *flags[i].flag = true;
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        if (strcmp(word, ignored[i]) == 0)
            return true;
    return false;
}

bool cc_ptx_modes(const struct cc_ptx *in, int types, struct cc_ptx_modes *modes)
{
    static const char rounds[][4] = {"rn", "rz", "rm", "rp"};

    *modes = (struct cc_ptx_modes){0};
    for (int i = 0; i + types < in->qualifiers; i++) {
        const char *word = in->qualifier[i];
        bool known = read_flag(word, modes);
        for (int k = 0; k < 4; k++)
            if (strcmp(word, rounds[k]) == 0 ||
                (strncmp(word, rounds[k], 2) == 0 && strcmp(word + 2, "i") == 0)) {
                modes->round = k;
                modes->rounds = known = true;
                modes->to_integer |= word[2] == 'i';
            }
        if (!known)
            return false;
    }
    return true;
}

/* ---- values ---- */

LLVMTypeRef cc_ptx_float_type(struct cc_ptx_statement *s, unsigned bits)
{
    return bits == 64 ? LLVMDoubleTypeInContext(s->l->context)
                      : LLVMFloatTypeInContext(s->l->context);
}

LLVMValueRef cc_ptx_as_float(struct cc_ptx_statement *s, LLVMValueRef bits)
{
    return LLVMBuildCast(s->b, LLVM_OP_BIT_CAST, bits,
                         cc_ptx_float_type(s, LLVMGetIntTypeWidth(LLVMTypeOf(bits))), "");
}

LLVMValueRef cc_ptx_float_bits(struct cc_ptx_statement *s, LLVMValueRef value)
{
    return cc_ptx_bits(s, value, (unsigned)LLVMABISizeOfType(s->l->layout, LLVMTypeOf(value)) * 8);
}

/* A subnormal f32 becomes a zero of its sign. */
LLVMValueRef cc_ptx_flushed(struct cc_ptx_statement *s, LLVMValueRef value)
{
    LLVMValueRef bits = cc_ptx_float_bits(s, value);
    LLVMValueRef exponent = cc_ptx_op(s, LLVM_OP_AND, bits, cc_ptx_number(s, 0x7f800000, 32));
    LLVMValueRef sign = cc_ptx_op(s, LLVM_OP_AND, bits, cc_ptx_number(s, 0x80000000, 32));
    LLVMValueRef small = LLVMBuildICmp(s->b, CC_PTX_EQUAL, exponent, cc_ptx_number(s, 0, 32), "");

    return cc_ptx_as_float(s, LLVMBuildSelect(s->b, small, sign, bits, ""));
}

static LLVMValueRef constant(struct cc_ptx_statement *s, double value, unsigned bits)
{
    float narrow = (float)value;
    uint64_t raw = 0;

    memcpy(&raw, bits == 64 ? (void *)&value : (void *)&narrow, bits / 8);
    return cc_ptx_as_float(s, cc_ptx_number(s, raw, bits));
}

static unsigned bits_of(struct cc_ptx_statement *s, LLVMValueRef value)
{
    return (unsigned)LLVMABISizeOfType(s->l->layout, LLVMTypeOf(value)) * 8;
}

/* NaN becomes 0. */
LLVMValueRef cc_ptx_not_negative(struct cc_ptx_statement *s, LLVMValueRef value)
{
    LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(value));

    return LLVMBuildSelect(s->b, LLVMBuildFCmp(s->b, CC_PTX_F_AT_LEAST, zero, value, ""), zero,
                           value, "");
}

LLVMValueRef cc_ptx_saturated(struct cc_ptx_statement *s, LLVMValueRef value)
{
    LLVMValueRef zero = constant(s, 0, bits_of(s, value)), one = constant(s, 1, bits_of(s, value));

    value = LLVMBuildSelect(s->b, LLVMBuildFCmp(s->b, CC_PTX_F_ABOVE, value, zero, ""), value, zero,
                            "");
    return LLVMBuildSelect(s->b, LLVMBuildFCmp(s->b, CC_PTX_F_BELOW, value, one, ""), value, one,
                           "");
}

/* ---- 16 bits ---- */

LLVMValueRef cc_ptx_from_half(struct cc_ptx_statement *s, LLVMValueRef bits, char kind)
{
    LLVMValueRef wide = cc_ptx_bits(s, cc_ptx_bits(s, bits, 16), 32);

    if (kind == 'G')
        return cc_ptx_as_float(s, cc_ptx_op(s, LLVM_OP_SHL, wide, cc_ptx_number(s, 16, 32)));
    LLVMValueRef rest = cc_ptx_op(s, LLVM_OP_AND, wide, cc_ptx_number(s, 0x7fff, 32));
    LLVMValueRef sign =
        cc_ptx_op(s, LLVM_OP_SHL, cc_ptx_op(s, LLVM_OP_AND, wide, cc_ptx_number(s, 0x8000, 32)),
                  cc_ptx_number(s, 16, 32));
    LLVMValueRef small =
        cc_ptx_as_float(s, cc_ptx_op(s, LLVM_OP_SHL, rest, cc_ptx_number(s, 13, 32)));
    LLVMValueRef scaled =
        cc_ptx_float_bits(s, cc_ptx_op(s, CC_PTX_F_MUL, small, constant(s, 0x1p112, 32)));
    LLVMValueRef high = cc_ptx_op(s, LLVM_OP_OR, scaled, cc_ptx_number(s, 0x7f800000, 32));
    LLVMValueRef special =
        LLVMBuildICmp(s->b, CC_PTX_ABOVE, rest, cc_ptx_number(s, 0x7bff, 32), "");
    return cc_ptx_as_float(
        s, cc_ptx_op(s, LLVM_OP_OR, LLVMBuildSelect(s->b, special, high, scaled, ""), sign));
}

/* A subnormal f16 becomes a zero of its sign; bf16 has no .ftz. */
LLVMValueRef cc_ptx_half_flushed(struct cc_ptx_statement *s, LLVMValueRef bits, char kind)
{
    LLVMValueRef exponent = cc_ptx_op(s, LLVM_OP_AND, bits, cc_ptx_number(s, 0x7c00, 16));
    LLVMValueRef sign = cc_ptx_op(s, LLVM_OP_AND, bits, cc_ptx_number(s, 0x8000, 16));
    LLVMValueRef small = LLVMBuildICmp(s->b, CC_PTX_EQUAL, exponent, cc_ptx_number(s, 0, 16), "");

    return kind == 'F' ? LLVMBuildSelect(s->b, small, sign, bits, "") : bits;
}

LLVMValueRef cc_ptx_narrowed(struct cc_ptx_statement *s, LLVMValueRef value, enum vgpu_narrow to,
                             int round)
{
    if (bits_of(s, value) == 32)
        value = LLVMBuildCast(s->b, CC_PTX_F_EXTEND, value, cc_ptx_float_type(s, 64), "");
    LLVMValueRef argument[] = {cc_ptx_number(s, to, 32), cc_ptx_number(s, (uint64_t)round, 32),
                               cc_ptx_float_bits(s, value)};
    LLVMValueRef made = cc_ptx_call(s, "vgpu_ptx_narrow", cc_int_type(s->l, 64), argument, 3);
    return cc_ptx_bits(s, made, 16);
}

LLVMValueRef cc_ptx_to_half(struct cc_ptx_statement *s, LLVMValueRef value, char kind, int round)
{
    return cc_ptx_narrowed(s, value, kind == 'F' ? VGPU_NARROW_F16 : VGPU_NARROW_BF16, round);
}

/* ---- operations ---- */

static const struct operation {
    const char *name;
    int operands;
    enum vgpu_float_operation is;
    const char *function; /* of libm, for float; null: none */
} operations[] = {
    {"add", 2, VGPU_FLOAT_ADD, NULL},     {"sub", 2, VGPU_FLOAT_SUB, NULL},
    {"mul", 2, VGPU_FLOAT_MUL, NULL},     {"fma", 3, VGPU_FLOAT_FMA, NULL},
    {"mad", 3, VGPU_FLOAT_FMA, NULL},     {"div", 2, VGPU_FLOAT_DIV, NULL},
    {"sqrt", 1, VGPU_FLOAT_SQRT, NULL},   {"rcp", 1, VGPU_FLOAT_RCP, NULL},
    {"rsqrt", 1, VGPU_FLOAT_RSQRT, NULL}, {"min", 2, VGPU_FLOAT_MIN, NULL},
    {"max", 2, VGPU_FLOAT_MAX, NULL},     {"neg", 1, VGPU_FLOAT_NEG, NULL},
    {"abs", 1, VGPU_FLOAT_ABS, NULL},     {"sin", 1, VGPU_FLOAT_CALL, "sin"},
    {"cos", 1, VGPU_FLOAT_CALL, "cos"},   {"ex2", 1, VGPU_FLOAT_CALL, "exp2"},
    {"lg2", 1, VGPU_FLOAT_CALL, "log2"},  {"tanh", 1, VGPU_FLOAT_CALL, "tanh"},
};

static LLVMValueRef is_nan(struct cc_ptx_statement *s, LLVMValueRef value)
{
    return LLVMBuildFCmp(s->b, CC_PTX_F_UNORDERED, value, value, "");
}

/* Of a number and a NaN the number (with .NaN: the NaN); -0 is less than +0. */
static LLVMValueRef extreme(struct cc_ptx_statement *s, bool max, bool nan, LLVMValueRef a,
                            LLVMValueRef b)
{
    int better = max ? CC_PTX_F_ABOVE : CC_PTX_F_BELOW,
        worse = max ? CC_PTX_F_BELOW : CC_PTX_F_ABOVE;
    LLVMValueRef same =
        cc_ptx_as_float(s, cc_ptx_op(s, max ? LLVM_OP_AND : LLVM_OP_OR, cc_ptx_float_bits(s, a),
                                     cc_ptx_float_bits(s, b)));
    LLVMValueRef unequal =
        LLVMBuildSelect(s->b, is_nan(s, a), nan ? a : b,
                        LLVMBuildSelect(s->b, is_nan(s, b), nan ? b : a, same, ""), "");

    unequal = LLVMBuildSelect(s->b, LLVMBuildFCmp(s->b, worse, a, b, ""), b, unequal, "");
    return LLVMBuildSelect(s->b, LLVMBuildFCmp(s->b, better, a, b, ""), a, unequal, "");
}

static LLVMValueRef intrinsic(struct cc_ptx_statement *s, const char *name, LLVMValueRef *value,
                              unsigned count)
{
    return cc_ptx_intrinsic(s, name, LLVMTypeOf(value[0]), value, count);
}

static LLVMValueRef rounded(struct cc_ptx_statement *s, const struct operation *o, int round,
                            LLVMValueRef *value)
{
    unsigned bits = bits_of(s, value[0]);
    LLVMValueRef argument[6] = {cc_ptx_number(s, (uint64_t)o->is, 32), cc_ptx_number(s, bits, 32),
                                cc_ptx_number(s, (uint64_t)round, 32)};

    for (int i = 0; i < 3; i++)
        argument[3 + i] = i < o->operands ? cc_ptx_bits(s, cc_ptx_float_bits(s, value[i]), 64)
                                          : cc_ptx_number(s, 0, 64);
    LLVMValueRef made = cc_ptx_call(s, "vgpu_ptx_round", cc_int_type(s->l, 64), argument, 6);
    return cc_ptx_as_float(s, cc_ptx_bits(s, made, bits));
}

/* As vgpu/include's rsqrtf: of f32 in f64, so that one number has one result. */
static LLVMValueRef inverse_root(struct cc_ptx_statement *s, LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    bool wide = bits_of(s, value) == 64;

    if (!wide)
        value = LLVMBuildCast(s->b, CC_PTX_F_EXTEND, value, cc_ptx_float_type(s, 64), "");
    value = cc_ptx_op(s, CC_PTX_F_DIV, constant(s, 1, 64), intrinsic(s, "sqrt", &value, 1));
    return wide ? value : LLVMBuildCast(s->b, CC_PTX_F_TRUNC, value, type, "");
}

static LLVMValueRef build_float(struct cc_ptx_statement *s, const struct operation *o,
                                const struct cc_ptx_modes *modes, LLVMValueRef *value)
{
    unsigned bits = bits_of(s, value[0]);
    LLVMValueRef one = constant(s, 1, bits), sign = cc_ptx_number(s, 1ull << (bits - 1), bits);

    if (modes->rounds && modes->round != 0 && o->is <= VGPU_FLOAT_RCP)
        return rounded(s, o, modes->round, value);
    switch (o->is) {
    case VGPU_FLOAT_ADD:
        return cc_ptx_op(s, CC_PTX_F_ADD, value[0], value[1]);
    case VGPU_FLOAT_SUB:
        return cc_ptx_op(s, CC_PTX_F_SUB, value[0], value[1]);
    case VGPU_FLOAT_MUL:
        return cc_ptx_op(s, CC_PTX_F_MUL, value[0], value[1]);
    case VGPU_FLOAT_FMA:
        return intrinsic(s, "fma", value, 3);
    case VGPU_FLOAT_DIV:
        return cc_ptx_op(s, CC_PTX_F_DIV, value[0], value[1]);
    case VGPU_FLOAT_SQRT:
        return intrinsic(s, "sqrt", value, 1);
    case VGPU_FLOAT_RCP:
        return cc_ptx_op(s, CC_PTX_F_DIV, one, value[0]);
    case VGPU_FLOAT_RSQRT:
        return inverse_root(s, value[0]);
    case VGPU_FLOAT_MIN:
    case VGPU_FLOAT_MAX:
        return extreme(s, o->is == VGPU_FLOAT_MAX, modes->nan, value[0], value[1]);
    case VGPU_FLOAT_NEG:
        return cc_ptx_as_float(s, cc_ptx_op(s, LLVM_OP_XOR, cc_ptx_float_bits(s, value[0]), sign));
    case VGPU_FLOAT_ABS:
        return intrinsic(s, "fabs", value, 1);
    default:
        return cc_ptx_call(s, cc_format("%s%s", o->function, bits == 32 ? "f" : ""),
                           LLVMTypeOf(value[0]), value, 1);
    }
}

/* The result's bits, of operands in f32 or f64. */
static LLVMValueRef finish_float(struct cc_ptx_statement *s, const struct cc_ptx_modes *modes,
                                 LLVMValueRef value)
{
    if (modes->ftz)
        value = cc_ptx_flushed(s, value);
    if (modes->relu)
        value = cc_ptx_not_negative(s, value);
    return modes->sat ? cc_ptx_saturated(s, value) : value;
}

/* .oob: 0 where a factor is the NaN of what is read outside of a tensor, 0x7ff7 with either sign */
static LLVMValueRef zero_outside(struct cc_ptx_statement *s, LLVMValueRef made,
                                 const LLVMValueRef *bits)
{
    for (int i = 0; i < 2; i++) {
        LLVMValueRef rest = cc_ptx_op(s, LLVM_OP_AND, bits[i], cc_ptx_number(s, 0x7fff, 16));
        LLVMValueRef outside =
            LLVMBuildICmp(s->b, CC_PTX_EQUAL, rest, cc_ptx_number(s, 0x7ff7, 16), "");
        made = LLVMBuildSelect(s->b, outside, cc_ptx_number(s, 0, 16), made, "");
    }
    return made;
}

static LLVMValueRef of_halves_exactly(struct cc_ptx_statement *s, const struct operation *o,
                                      const struct cc_ptx_modes *modes, char kind,
                                      LLVMValueRef *bits)
{
    LLVMValueRef value[3], sign = cc_ptx_number(s, 0x8000, 16), rest = cc_ptx_number(s, 0x7fff, 16);

    if (o->is == VGPU_FLOAT_NEG)
        return cc_ptx_op(s, LLVM_OP_XOR, bits[0], sign);
    if (o->is == VGPU_FLOAT_ABS)
        return cc_ptx_op(s, LLVM_OP_AND, bits[0], rest);
    for (int i = 0; i < o->operands; i++)
        value[i] = cc_ptx_from_half(s, bits[i], kind);
    if (o->is != VGPU_FLOAT_FMA)
        return cc_ptx_to_half(s, finish_float(s, modes, build_float(s, o, modes, value)), kind, 0);
    LLVMValueRef argument[3];
    for (int i = 0; i < 3; i++) /* in f64, rounded to odd: then rounding again is exact */
        argument[i] = cc_ptx_float_bits(
            s, LLVMBuildCast(s->b, CC_PTX_F_EXTEND, value[i], cc_ptx_float_type(s, 64), ""));
    LLVMValueRef made = cc_ptx_call(s, "vgpu_ptx_fma_odd", cc_int_type(s->l, 64), argument, 3);
    made = cc_ptx_to_half(s, finish_float(s, modes, cc_ptx_as_float(s, made)), kind, 0);
    return modes->oob ? zero_outside(s, made, bits) : made;
}

static LLVMValueRef of_halves(struct cc_ptx_statement *s, const struct operation *o,
                              const struct cc_ptx_modes *modes, char kind, LLVMValueRef *bits)
{
    struct cc_ptx_modes others = *modes;
    LLVMValueRef flushed[3];

    if (!modes->ftz)
        return of_halves_exactly(s, o, modes, kind, bits);
    others.ftz = false;
    for (int i = 0; i < o->operands; i++)
        flushed[i] = cc_ptx_half_flushed(s, bits[i], kind);
    return cc_ptx_half_flushed(s, of_halves_exactly(s, o, &others, kind, flushed), kind);
}

static LLVMValueRef half_of(struct cc_ptx_statement *s, LLVMValueRef both, int part)
{
    return cc_ptx_bits(
        s, cc_ptx_op(s, LLVM_OP_LSHR, both, cc_ptx_number(s, (uint64_t)part * 16, 32)), 16);
}

static LLVMValueRef of_pairs(struct cc_ptx_statement *s, const struct operation *o,
                             const struct cc_ptx_modes *modes, char kind, LLVMValueRef *value)
{
    LLVMValueRef made[2], part[3];

    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < o->operands; i++)
            part[i] = half_of(s, value[i], k);
        made[k] = cc_ptx_bits(s, of_halves(s, o, modes, kind == 'X' ? 'F' : 'G', part), 32);
    }
    return cc_ptx_op(s, LLVM_OP_OR, made[0],
                     cc_ptx_op(s, LLVM_OP_SHL, made[1], cc_ptx_number(s, 16, 32)));
}

/* .xorsign.abs: of the absolute values; returns the result's sign, which is that of the product. */
static LLVMValueRef take_signs(struct cc_ptx_statement *s, struct cc_ptx_type type,
                               LLVMValueRef *value)
{
    bool pair = type.kind == 'X' || type.kind == 'Y';
    uint64_t sign = pair ? 0x80008000 : 1ull << (type.bits - 1);
    uint64_t rest = pair ? 0x7fff7fff : sign - 1;
    LLVMValueRef product = cc_ptx_op(s, LLVM_OP_XOR, value[0], value[1]);

    for (int i = 0; i < 2; i++)
        value[i] = cc_ptx_op(s, LLVM_OP_AND, value[i], cc_ptx_number(s, rest, type.bits));
    return cc_ptx_op(s, LLVM_OP_AND, product, cc_ptx_number(s, sign, type.bits));
}

static bool is_float_kind(char kind)
{
    return kind != 0 && strchr("fFGXY", kind) != NULL;
}

static enum cc_ptx_known calculate_float(struct cc_ptx_statement *s, const struct cc_ptx *in,
                                         const struct operation *o, struct cc_ptx_type type)
{
    struct cc_ptx_modes modes;
    LLVMValueRef value[3], made, sign = NULL;
    bool extreme = o->is == VGPU_FLOAT_MIN || o->is == VGPU_FLOAT_MAX;

    if (!cc_ptx_modes(in, 1, &modes) || in->operands != o->operands + 1 || *in->predicate != 0 ||
        modes.satfinite || (modes.xorsign && (!extreme || type.bits == 64)) ||
        (modes.oob && (o->is != VGPU_FLOAT_FMA || type.kind == 'f')))
        return CC_PTX_UNKNOWN;
    for (int i = 0; i < o->operands; i++)
        if ((value[i] = cc_ptx_operand(s, in->operand[i + 1], type.bits)) == NULL)
            return CC_PTX_UNKNOWN;
    if (modes.xorsign)
        sign = take_signs(s, type, value);
    for (int i = 0; i < o->operands && type.kind == 'f'; i++) {
        value[i] = cc_ptx_as_float(s, value[i]);
        if (modes.ftz && type.bits == 32)
            value[i] = cc_ptx_flushed(s, value[i]);
    }
    modes.ftz &= type.bits < 64;
    made = type.kind == 'f'
               ? cc_ptx_float_bits(s, finish_float(s, &modes, build_float(s, o, &modes, value)))
           : type.kind == 'F' || type.kind == 'G' ? of_halves(s, o, &modes, type.kind, value)
                                                  : of_pairs(s, o, &modes, type.kind, value);
    if (sign != NULL)
        made = cc_ptx_op(s, LLVM_OP_OR, made, sign);
    return cc_ptx_assign_bits(s, in->operand[0], made) ? CC_PTX_DONE : CC_PTX_UNKNOWN;
}

/* copysign.f32 d, a, b: b with the sign of a */
static enum cc_ptx_known copy_sign(struct cc_ptx_statement *s, const struct cc_ptx *in,
                                   unsigned bits)
{
    LLVMValueRef a = in->operands == 3 ? cc_ptx_operand(s, in->operand[1], bits) : NULL;
    LLVMValueRef b = a != NULL ? cc_ptx_operand(s, in->operand[2], bits) : NULL;
    LLVMValueRef sign = cc_ptx_number(s, 1ull << (bits - 1), bits);

    if (b == NULL)
        return CC_PTX_UNKNOWN;
    b = cc_ptx_op(s, LLVM_OP_AND, b, cc_ptx_op(s, LLVM_OP_SUB, sign, cc_ptx_number(s, 1, bits)));
    b = cc_ptx_op(s, LLVM_OP_OR, b, cc_ptx_op(s, LLVM_OP_AND, a, sign));
    return cc_ptx_assign_bits(s, in->operand[0], b) ? CC_PTX_DONE : CC_PTX_UNKNOWN;
}

/* testp.finite.f32 p, a: by the bits without the sign */
static enum cc_ptx_known test_property(struct cc_ptx_statement *s, const struct cc_ptx *in,
                                       unsigned bits)
{
    LLVMValueRef a = in->operands == 2 ? cc_ptx_operand(s, in->operand[1], bits) : NULL;
    const char *word = in->qualifier[0];
    uint64_t infinite = bits == 32 ? 0x7f800000 : 0x7ff0000000000000,
             normal = bits == 32 ? 0x00800000 : 0x0010000000000000;

    if (a == NULL || in->qualifiers != 2)
        return CC_PTX_UNKNOWN;
    a = cc_ptx_op(s, LLVM_OP_AND, a, cc_ptx_number(s, (1ull << (bits - 1)) - 1, bits));
    LLVMValueRef top = cc_ptx_number(s, infinite, bits), low = cc_ptx_number(s, normal, bits);
    LLVMValueRef finite = LLVMBuildICmp(s->b, CC_PTX_BELOW, a, top, ""),
                 nan = LLVMBuildICmp(s->b, CC_PTX_ABOVE, a, top, ""),
                 small = LLVMBuildICmp(s->b, CC_PTX_BELOW, a, low, ""),
                 zero = LLVMBuildICmp(s->b, CC_PTX_EQUAL, a, cc_ptx_number(s, 0, bits), ""),
                 yes = cc_ptx_number(s, 1, 1);
    LLVMValueRef is = strcmp(word, "finite") == 0 ? finite
                      : strcmp(word, "infinite") == 0
                          ? LLVMBuildICmp(s->b, CC_PTX_EQUAL, a, top, "")
                      : strcmp(word, "number") == 0     ? cc_ptx_op(s, LLVM_OP_XOR, nan, yes)
                      : strcmp(word, "notanumber") == 0 ? nan
                      : strcmp(word, "normal") == 0
                          ? cc_ptx_op(s, LLVM_OP_AND, finite, cc_ptx_op(s, LLVM_OP_XOR, small, yes))
                      : strcmp(word, "subnormal") == 0
                          ? cc_ptx_op(s, LLVM_OP_AND, small, cc_ptx_op(s, LLVM_OP_XOR, zero, yes))
                          : NULL;
    return is != NULL && cc_ptx_assign_predicate(s, in->operand[0], is) ? CC_PTX_DONE
                                                                        : CC_PTX_UNKNOWN;
}

enum cc_ptx_known cc_ptx_float(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    struct cc_ptx_type type;

    if (in->qualifiers == 0 || !cc_ptx_type(in->qualifier[in->qualifiers - 1], &type) ||
        !is_float_kind(type.kind))
        return CC_PTX_NOT_MINE;
    if (cc_ptx_is(in, "copysign") && in->qualifiers == 1 && type.kind == 'f')
        return copy_sign(s, in, type.bits);
    if (cc_ptx_is(in, "testp") && type.kind == 'f')
        return test_property(s, in, type.bits);
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (cc_ptx_is(in, operations[i].name))
            return calculate_float(s, in, &operations[i], type);
    return CC_PTX_NOT_MINE;
}
