/* SPDX-License-Identifier: MIT
 * ptx_arithmetic.c: PTX instructions whose results depend only on their operands: arithmetic,
 * comparisons, conversions, moves. vgpu-exec computes the results (vgpu/exec/threads/ptx.c).
 */
#include <string.h>

#include "image.h"
#include "ptx.h"

static const struct operation {
    const char *name, *mode; /* mode: the qualifiers before the type; "": none */
    enum vgpu_ptx_operation is;
    int operands;
    const char *types; /* kinds; 'h': 16 bits are allowed, too */
} operations[] = {
    {"add", "", VGPU_PTX_ADD, 2, "usfh"},
    {"sub", "", VGPU_PTX_SUB, 2, "usfh"},
    {"mul", "", VGPU_PTX_MUL, 2, "f"},
    {"mul", "lo", VGPU_PTX_MUL, 2, "ush"},
    {"mul", "hi", VGPU_PTX_MUL_HI, 2, "ush"},
    {"mul", "wide", VGPU_PTX_MUL_WIDE, 2, "ush"},
    {"mad", "lo", VGPU_PTX_MAD, 3, "ush"},
    {"mad", "hi", VGPU_PTX_MAD_HI, 3, "ush"},
    {"mad", "wide", VGPU_PTX_MAD_WIDE, 3, "ush"},
    {"fma", "rn", VGPU_PTX_FMA, 3, "f"},
    {"add", "rn", VGPU_PTX_ADD, 2, "f"},
    {"sub", "rn", VGPU_PTX_SUB, 2, "f"},
    {"mul", "rn", VGPU_PTX_MUL, 2, "f"},
    {"div", "rn", VGPU_PTX_DIV, 2, "f"},
    {"div", "", VGPU_PTX_DIV, 2, "ush"},
    {"rem", "", VGPU_PTX_REM, 2, "ush"},
    {"min", "", VGPU_PTX_MIN, 2, "usfh"},
    {"max", "", VGPU_PTX_MAX, 2, "usfh"},
    {"neg", "", VGPU_PTX_NEG, 1, "sfh"},
    {"abs", "", VGPU_PTX_ABS, 1, "sfh"},
    {"and", "", VGPU_PTX_AND, 2, "uh"},
    {"or", "", VGPU_PTX_OR, 2, "uh"},
    {"xor", "", VGPU_PTX_XOR, 2, "uh"},
    {"not", "", VGPU_PTX_NOT, 1, "uh"},
    {"shl", "", VGPU_PTX_SHL, 2, "uh"},
    {"shr", "", VGPU_PTX_SHR, 2, "ush"},
    {"shf", "l.wrap", VGPU_PTX_SHF_L_WRAP, 3, "u"},
    {"shf", "l.clamp", VGPU_PTX_SHF_L_CLAMP, 3, "u"},
    {"shf", "r.wrap", VGPU_PTX_SHF_R_WRAP, 3, "u"},
    {"shf", "r.clamp", VGPU_PTX_SHF_R_CLAMP, 3, "u"},
    {"bfe", "", VGPU_PTX_BFE, 3, "us"},
    {"bfi", "", VGPU_PTX_BFI, 4, "u"},
    {"bmsk", "wrap", VGPU_PTX_BMSK_WRAP, 2, "u"},
    {"bmsk", "clamp", VGPU_PTX_BMSK_CLAMP, 2, "u"},
    {"prmt", "", VGPU_PTX_PRMT, 3, "u"},
    {"lop3", "", VGPU_PTX_LOP3, 4, "u"},
    {"popc", "", VGPU_PTX_POPC, 1, "u"},
    {"clz", "", VGPU_PTX_CLZ, 1, "u"},
    {"brev", "", VGPU_PTX_BREV, 1, "u"},
    {"bfind", "", VGPU_PTX_BFIND, 1, "us"},
};

/* The type is the last qualifier; *mode: those before it, separated by dots. */
static bool split_qualifiers(const struct cc_ptx *in, const char **mode, struct cc_ptx_type *type)
{
    *mode = "";
    for (int i = 0; i + 1 < in->qualifiers; i++)
        *mode = cc_format("%s%s%s", *mode, **mode != 0 ? "." : "", in->qualifier[i]);
    return in->qualifiers > 0 && cc_ptx_type(in->qualifier[in->qualifiers - 1], type);
}

static enum vgpu_ptx_kind kind_of(struct cc_ptx_type type)
{
    return type.kind == 'f'   ? VGPU_PTX_FLOAT
           : type.kind == 's' ? VGPU_PTX_SIGNED
                              : VGPU_PTX_UNSIGNED;
}

/* value: at least two */
static LLVMValueRef work_out(struct cc_ptx_statement *s, enum vgpu_ptx_operation operation,
                             struct cc_ptx_type type, const LLVMValueRef *value, int count)
{
    LLVMValueRef argument[7] = {cc_ptx_number(s, (uint64_t)operation, 32),
                                cc_ptx_number(s, (uint64_t)kind_of(type), 32),
                                cc_ptx_number(s, type.bits, 32)};

    for (int i = 0; i < 4; i++)
        argument[3 + i] = i < count ? value[i] : cc_ptx_number(s, 0, 64);
    return cc_ptx_call(s, "vgpu_ptx", cc_int_type(s->l, 64), argument, 7);
}

/* An operand of that type, which may be narrower than its register. */
static LLVMValueRef typed(struct cc_ptx_statement *s, const char *operand, unsigned bits)
{
    LLVMValueRef value = cc_ptx_operand(s, operand, bits);

    return value != NULL ? cc_ptx_bits(s, value, 64) : NULL;
}

static enum cc_ptx_known calculate(struct cc_ptx_statement *s, const struct cc_ptx *in,
                                   const struct operation *o, struct cc_ptx_type type)
{
    LLVMValueRef value[4];
    bool sums_wide = o->is == VGPU_PTX_MAD_WIDE, is_wide = sums_wide || o->is == VGPU_PTX_MUL_WIDE;
    bool narrow = o->is == VGPU_PTX_POPC || o->is == VGPU_PTX_CLZ || o->is == VGPU_PTX_BFIND;
    unsigned result = is_wide ? 2 * type.bits : narrow ? 32 : type.bits;

    if (in->operands != o->operands + 1 || *in->predicate != 0 ||
        strchr(o->types, type.kind) == NULL ||
        (type.bits < 32 && (type.bits != 16 || strchr(o->types, 'h') == NULL)) ||
        (is_wide && type.bits == 64))
        return CC_PTX_UNKNOWN;
    for (int i = 0; i < o->operands; i++) {
        bool counts = i > 0 &&
                      (o->is == VGPU_PTX_SHL || o->is == VGPU_PTX_SHR || o->is == VGPU_PTX_BFE ||
                       o->is == VGPU_PTX_BFI) &&
                      !(i == 1 && o->is == VGPU_PTX_BFI);
        value[i] = typed(s, in->operand[i + 1],
                         counts                ? 32
                         : sums_wide && i == 2 ? result
                                               : type.bits);
        if (value[i] == NULL)
            return CC_PTX_UNKNOWN;
    }
    LLVMValueRef made = work_out(s, o->is, type, value, o->operands);
    return cc_ptx_assign_bits(s, in->operand[0], cc_ptx_bits(s, made, result)) ? CC_PTX_DONE
                                                                               : CC_PTX_UNKNOWN;
}

/* ---- predicates ---- */

/* and.pred, or.pred, xor.pred, not.pred, mov.pred */
static enum cc_ptx_known logic(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    int op = cc_ptx_is(in, "and")   ? LLVM_OP_AND
             : cc_ptx_is(in, "or")  ? LLVM_OP_OR
             : cc_ptx_is(in, "xor") ? LLVM_OP_XOR
                                    : 0;
    bool alone = cc_ptx_is(in, "mov") || cc_ptx_is(in, "not");
    LLVMValueRef a = in->operands > 1 ? cc_ptx_predicate(s, in->operand[1]) : NULL;
    LLVMValueRef b = in->operands > 2 ? cc_ptx_predicate(s, in->operand[2]) : NULL;

    if (in->qualifiers != 1 || a == NULL || (op == 0) != alone || in->operands != 3 - alone ||
        (b == NULL) != alone)
        return CC_PTX_UNKNOWN;
    if (cc_ptx_is(in, "not"))
        op = LLVM_OP_XOR, b = cc_ptx_number(s, 1, 1);
    if (op != 0)
        a = LLVMBuildBinOp(s->b, op, a, b, "");
    return cc_ptx_assign_predicate(s, in->operand[0], a) ? CC_PTX_DONE : CC_PTX_UNKNOWN;
}

static bool find_comparison(const char *word, struct cc_ptx_type *type, enum vgpu_ptx_operation *is)
{
    static const struct {
        const char *word;
        enum vgpu_ptx_operation is;
        char kind; /* 0: any */
    } known[] = {{"eq", VGPU_PTX_EQ, 0},   {"ne", VGPU_PTX_NE, 0},   {"lt", VGPU_PTX_LT, 0},
                 {"le", VGPU_PTX_LE, 0},   {"gt", VGPU_PTX_GT, 0},   {"ge", VGPU_PTX_GE, 0},
                 {"lo", VGPU_PTX_LT, 'u'}, {"ls", VGPU_PTX_LE, 'u'}, {"hi", VGPU_PTX_GT, 'u'},
                 {"hs", VGPU_PTX_GE, 'u'}};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(word, known[i].word) == 0) {
            *is = known[i].is;
            return known[i].kind == 0 || known[i].kind == type->kind;
        }
    return false;
}

/* setp.lt.and.s32 p, a, b, q */
static enum cc_ptx_known compare(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    static const struct {
        const char *word;
        int op;
    } joins[] = {{"and", LLVM_OP_AND}, {"or", LLVM_OP_OR}, {"xor", LLVM_OP_XOR}};
    struct cc_ptx_type type;
    const char *mode;
    enum vgpu_ptx_operation comparison;
    int join = 0, last = in->qualifiers - 1;

    if (!split_qualifiers(in, &mode, &type) || last < 1 || last > 2 || type.kind == 'p' ||
        *in->predicate != 0 || !find_comparison(in->qualifier[0], &type, &comparison))
        return CC_PTX_UNKNOWN;
    for (size_t i = 0; last == 2 && i < sizeof joins / sizeof *joins; i++)
        if (strcmp(in->qualifier[1], joins[i].word) == 0)
            join = joins[i].op;
    if (in->operands != last + 2 || (join == 0) != (last == 1))
        return CC_PTX_UNKNOWN;
    LLVMValueRef value[] = {typed(s, in->operand[1], type.bits),
                            typed(s, in->operand[2], type.bits)};
    LLVMValueRef with = join != 0 ? cc_ptx_predicate(s, in->operand[3]) : NULL;
    if (value[0] == NULL || value[1] == NULL || (join != 0 && with == NULL))
        return CC_PTX_UNKNOWN;
    LLVMValueRef result = cc_ptx_bits(s, work_out(s, comparison, type, value, 2), 1);
    if (join != 0)
        result = LLVMBuildBinOp(s->b, join, result, with, "");
    return cc_ptx_assign_predicate(s, in->operand[0], result) ? CC_PTX_DONE : CC_PTX_UNKNOWN;
}

/* selp.b32 d, a, b, p */
static enum cc_ptx_known choose(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    struct cc_ptx_type type;
    const char *mode;

    if (!split_qualifiers(in, &mode, &type) || *mode != 0 || in->operands != 4)
        return CC_PTX_UNKNOWN;
    LLVMValueRef a = cc_ptx_operand(s, in->operand[1], type.bits);
    LLVMValueRef b = cc_ptx_operand(s, in->operand[2], type.bits);
    LLVMValueRef which = cc_ptx_predicate(s, in->operand[3]);
    if (a == NULL || b == NULL || which == NULL)
        return CC_PTX_UNKNOWN;
    a = LLVMBuildSelect(s->b, which, a, b, "");
    return cc_ptx_assign_bits(s, in->operand[0], a) ? CC_PTX_DONE : CC_PTX_UNKNOWN;
}

/* ---- moves and conversions ---- */

/* mov.b64 {lo, hi}, a */
static enum cc_ptx_known unpack(struct cc_ptx_statement *s, const struct cc_ptx *in, unsigned bits)
{
    unsigned count = (unsigned)in->operands - 1, part = bits / count;
    LLVMValueRef all = typed(s, in->operand[count], bits);

    for (unsigned i = 0; i < count && all != NULL; i++) {
        LLVMValueRef value =
            LLVMBuildBinOp(s->b, LLVM_OP_LSHR, all, cc_ptx_number(s, i * part, 64), "");
        if (!cc_ptx_assign_bits(s, in->operand[i], cc_ptx_bits(s, value, part)))
            return CC_PTX_UNKNOWN;
    }
    return all != NULL ? CC_PTX_DONE : CC_PTX_UNKNOWN;
}

/* mov.b64 d, {lo, hi} */
static enum cc_ptx_known pack(struct cc_ptx_statement *s, const struct cc_ptx *in, unsigned bits)
{
    unsigned count = (unsigned)in->operands - 1, part = bits / count;
    LLVMValueRef all = cc_ptx_number(s, 0, 64);

    for (unsigned i = 0; i < count; i++) {
        LLVMValueRef value = typed(s, in->operand[i + 1], part);
        if (value == NULL)
            return CC_PTX_UNKNOWN;
        value = LLVMBuildBinOp(s->b, LLVM_OP_SHL, value, cc_ptx_number(s, i * part, 64), "");
        all = LLVMBuildBinOp(s->b, LLVM_OP_OR, all, value, "");
    }
    return cc_ptx_assign_bits(s, in->operand[0], cc_ptx_bits(s, all, bits)) ? CC_PTX_DONE
                                                                            : CC_PTX_UNKNOWN;
}

/* All sources but special registers, which are calls and cannot have a guard. */
static enum cc_ptx_known move_value(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    struct cc_ptx_type type;
    const char *mode;
    bool packed = in->operands == 3 || in->operands == 5;

    if (!split_qualifiers(in, &mode, &type) || *mode != 0)
        return CC_PTX_UNKNOWN;
    if (packed && in->group[0] != 0 && in->group[in->operands - 1] == 0)
        return unpack(s, in, type.bits);
    if (packed && in->group[0] == 0 && in->group[1] != 0)
        return pack(s, in, type.bits);
    LLVMValueRef value = in->operands == 2 ? cc_ptx_operand(s, in->operand[1], type.bits) : NULL;
    if (value == NULL)
        return CC_PTX_NOT_MINE;
    return cc_ptx_assign_bits(s, in->operand[0], value) ? CC_PTX_DONE : CC_PTX_UNKNOWN;
}

/* cvt.u32.s16 d, a; integers only */
static enum cc_ptx_known convert(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    struct cc_ptx_type to, from;

    if (in->qualifiers != 2 || in->operands != 2 || !cc_ptx_type(in->qualifier[0], &to) ||
        !cc_ptx_type(in->qualifier[1], &from) || strchr("us", to.kind) == NULL ||
        strchr("us", from.kind) == NULL)
        return CC_PTX_UNKNOWN;
    LLVMValueRef value = cc_ptx_operand(s, in->operand[1], from.bits);
    LLVMValueRef old = cc_ptx_value(s, in->operand[0]);
    if (value == NULL || old == NULL)
        return CC_PTX_UNKNOWN;
    value = LLVMBuildIntCast2(s->b, value, cc_int_type(s->l, to.bits), from.kind == 's', "");
    value = LLVMBuildIntCast2(s->b, value, cc_int_type(s->l, 64), to.kind == 's', "");
    return cc_ptx_assign_bits(s, in->operand[0], value) ? CC_PTX_DONE : CC_PTX_UNKNOWN;
}

/* cvta.shared.u64 d, a; cvta.to.shared.u64 d, a; for global memory it is a move */
static enum cc_ptx_known convert_address(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    int to = in->qualifiers == 3 && strcmp(in->qualifier[0], "to") == 0;
    const char *space = in->qualifiers == 2 + to ? in->qualifier[to] : "";
    bool shared = strcmp(space, "shared") == 0 || strcmp(space, "shared::cta") == 0;
    LLVMValueRef value = in->operands == 2 ? cc_ptx_operand(s, in->operand[1], 64) : NULL;

    if (value == NULL || (!shared && strcmp(space, "global") != 0) ||
        strcmp(in->qualifier[1 + to], "u64") != 0)
        return CC_PTX_UNKNOWN;
    if (shared)
        value = LLVMBuildBinOp(s->b, to ? LLVM_OP_SUB : LLVM_OP_ADD, value,
                               cc_ptx_number(s, VGPU_SHARED_VA, 64), "");
    return cc_ptx_assign_bits(s, in->operand[0], value) ? CC_PTX_DONE : CC_PTX_UNKNOWN;
}

/* isspacep.shared p, a */
static enum cc_ptx_known ask_space(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    const char *word = in->qualifiers == 1 ? in->qualifier[0] : "";
    int space = strcmp(word, "global") == 0  ? VGPU_SPACE_GLOBAL
                : strcmp(word, "local") == 0 ? VGPU_SPACE_LOCAL
                : cc_starts(word, "shared")  ? VGPU_SPACE_SHARED
                                             : -1;
    LLVMValueRef address =
        in->operands == 2 && space >= 0 ? cc_ptx_address(s, in->operand[1], 0, false) : NULL;

    if (address == NULL)
        return CC_PTX_UNKNOWN;
    LLVMValueRef argument[] = {cc_ptx_number(s, (uint64_t)space, 32), address};
    LLVMValueRef is = cc_ptx_call(s, "vgpu_is_space", cc_int_type(s->l, 32), argument, 2);
    return cc_ptx_assign_predicate(s, in->operand[0], is) ? CC_PTX_DONE : CC_PTX_UNKNOWN;
}

enum cc_ptx_known cc_ptx_arithmetic(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    struct cc_ptx_type type;
    const char *mode;
    bool named = false;

    if (cc_ptx_is(in, "setp"))
        return compare(s, in);
    if (cc_ptx_is(in, "selp"))
        return choose(s, in);
    if (cc_ptx_is(in, "cvt"))
        return convert(s, in);
    if (cc_ptx_is(in, "cvta"))
        return convert_address(s, in);
    if (cc_ptx_is(in, "isspacep"))
        return ask_space(s, in);
    bool typed_well = split_qualifiers(in, &mode, &type);
    bool logical = cc_ptx_is(in, "and") || cc_ptx_is(in, "or") || cc_ptx_is(in, "xor") ||
                   cc_ptx_is(in, "not") || cc_ptx_is(in, "mov");
    if (logical && typed_well && type.kind == 'p')
        return logic(s, in);
    if (cc_ptx_is(in, "mov"))
        return move_value(s, in);
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        const struct operation *o = &operations[i];
        named |= cc_ptx_is(in, o->name);
        if (typed_well && cc_ptx_is(in, o->name) && strcmp(mode, o->mode) == 0 &&
            (*mode != 0 || strchr(o->types, type.kind) != NULL))
            return calculate(s, in, o, type);
    }
    return named ? CC_PTX_UNKNOWN : CC_PTX_NOT_MINE;
}
