/* SPDX-License-Identifier: MIT
 * ptx_arithmetic.c: PTX instructions whose results depend only on their operands: arithmetic,
 * comparisons, conversions, moves. vgpu-exec computes the results (vgpu/exec/threads/ptx.c).
 */
#include <string.h>

#include "image.h"
#include "ptx_numbers.h"

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
        value[i] = cc_ptx_operand(s, in->operand[i + 1],
                                  counts                ? 32
                                  : sums_wide && i == 2 ? result
                                                        : type.bits);
        if (value[i] == NULL)
            return CC_PTX_UNKNOWN;
    }
    LLVMValueRef made =
        type.kind != 'f' && s->call == NULL ? cc_ptx_native(s, o->is, type, value) : NULL;
    for (int i = 0; i < o->operands && made == NULL; i++)
        value[i] = cc_ptx_bits(s, value[i], 64);
    if (made == NULL)
        made = work_out(s, o->is, type, value, o->operands);
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

/* LLVM's numbers of a comparison: of unsigned and signed integers, and of floating-point numbers;
 * 0: there is none. */
static const struct comparison {
    const char *word;
    int is_unsigned, is_signed, is_float;
} comparisons[] = {{"eq", 32, 32, 1}, {"ne", 33, 33, 6}, {"lt", 36, 40, 4}, {"le", 37, 41, 5},
                   {"gt", 34, 38, 2}, {"ge", 35, 39, 3}, {"lo", 36, 0, 0},  {"ls", 37, 0, 0},
                   {"hi", 34, 0, 0},  {"hs", 35, 0, 0},  {"equ", 0, 0, 9},  {"neu", 0, 0, 14},
                   {"ltu", 0, 0, 12}, {"leu", 0, 0, 13}, {"gtu", 0, 0, 10}, {"geu", 0, 0, 11},
                   {"num", 0, 0, 7},  {"nan", 0, 0, 8}};

static int find_comparison(const char *word, char kind)
{
    for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++)
        if (strcmp(word, comparisons[i].word) == 0)
            return kind == 'u'   ? comparisons[i].is_unsigned
                   : kind == 's' ? comparisons[i].is_signed
                                 : comparisons[i].is_float;
    return 0;
}

/* An operand of a comparison: an integer, f32 or f64. */
static LLVMValueRef compared(struct cc_ptx_statement *s, const char *operand,
                             struct cc_ptx_type type, bool ftz)
{
    LLVMValueRef value = cc_ptx_operand(s, operand, type.bits);

    if (value == NULL || strchr("us", type.kind) != NULL)
        return value;
    if (type.kind != 'f')
        return cc_ptx_from_half(s, ftz ? cc_ptx_half_flushed(s, value, type.kind) : value,
                                type.kind);
    value = cc_ptx_as_float(s, value);
    return ftz && type.bits == 32 ? cc_ptx_flushed(s, value) : value;
}

/* What set stores of a comparison that holds, in as many bits. */
static LLVMValueRef set_value(struct cc_ptx_statement *s, struct cc_ptx_type result, unsigned bits)
{
    static const struct {
        char kind;
        uint64_t one;
    } ones[] = {{'f', 0x3f800000}, {'F', 0x3c00}, {'X', 0x3c00}, {'G', 0x3f80}, {'Y', 0x3f80}};

    for (size_t i = 0; i < sizeof ones / sizeof *ones; i++)
        if (ones[i].kind == result.kind)
            return cc_ptx_number(s, ones[i].one, bits);
    return cc_ptx_number(s, (1ull << bits) - 1, bits);
}

/* Half `number` of an operand of type f16x2 or bf16x2. */
static LLVMValueRef compared_half(struct cc_ptx_statement *s, const char *operand,
                                  struct cc_ptx_type type, bool ftz, int number)
{
    LLVMValueRef value = cc_ptx_operand(s, operand, 32);
    char kind = type.kind == 'X' ? 'F' : 'G';

    if (value == NULL)
        return NULL;
    value = cc_ptx_op(s, LLVM_OP_LSHR, value, cc_ptx_number(s, 16 * (uint64_t)number, 32));
    value = cc_ptx_resized(s, value, 16, false);
    return cc_ptx_from_half(s, ftz ? cc_ptx_half_flushed(s, value, kind) : value, kind);
}

struct relation {
    int is, join; /* join: 0, or how it is joined with a predicate */
    bool ftz;
};

/* setp.lt.and.f16x2 p|q, a, b, c: of the lower halves, and of the upper ones;
 * set.lt.f16x2.f16x2 d, a, b */
static enum cc_ptx_known compare_halves(struct cc_ptx_statement *s, const struct cc_ptx *in,
                                        struct cc_ptx_type type, struct cc_ptx_type result,
                                        struct relation r)
{
    LLVMValueRef holds[2], both = cc_ptx_number(s, 0, 32);
    LLVMValueRef with = r.join != 0 ? cc_ptx_predicate(s, in->operand[3]) : NULL;

    if (r.join != 0 && with == NULL)
        return CC_PTX_UNKNOWN;
    for (int i = 0; i < 2; i++) {
        LLVMValueRef a = compared_half(s, in->operand[1], type, r.ftz, i),
                     b = compared_half(s, in->operand[2], type, r.ftz, i);
        if (a == NULL || b == NULL)
            return CC_PTX_UNKNOWN;
        holds[i] = LLVMBuildFCmp(s->b, r.is, a, b, "");
        if (with != NULL)
            holds[i] = LLVMBuildBinOp(s->b, r.join, holds[i], with, "");
        LLVMValueRef half =
            LLVMBuildSelect(s->b, holds[i], set_value(s, result, 16), cc_ptx_number(s, 0, 16), "");
        half = cc_ptx_op(s, LLVM_OP_SHL, cc_ptx_resized(s, half, 32, false),
                         cc_ptx_number(s, 16 * (uint64_t)i, 32));
        both = cc_ptx_op(s, LLVM_OP_OR, both, half);
    }
    bool done = result.kind != 'p'
                    ? cc_ptx_assign_bits(s, in->operand[0], both)
                    : cc_ptx_assign_predicate(s, in->operand[0], holds[0]) && *in->predicate != 0 &&
                          cc_ptx_assign_predicate(s, in->predicate, holds[1]);
    return done ? CC_PTX_DONE : CC_PTX_UNKNOWN;
}

/* setp.lt.and.s32 p|q, a, b, c: q has the opposite comparison; set.lt.u32.f32 d, a, b */
static enum cc_ptx_known compare(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    static const struct {
        const char *word;
        int op;
    } joins[] = {{"and", LLVM_OP_AND}, {"or", LLVM_OP_OR}, {"xor", LLVM_OP_XOR}};
    bool is_set = cc_ptx_is(in, "set"), ftz = false;
    struct cc_ptx_type type, result = {1, 'p'};
    int join = 0, types = 1 + is_set, last = in->qualifiers - types;

    if (last < 1 || !cc_ptx_type(in->qualifier[in->qualifiers - 1], &type) ||
        strchr("usfFGXY", type.kind) == NULL ||
        (is_set && !cc_ptx_type(in->qualifier[in->qualifiers - 2], &result)))
        return CC_PTX_UNKNOWN;
    int is = find_comparison(in->qualifier[0], type.kind);
    for (int k = 1; k < last; k++) {
        int found = 0;
        for (size_t i = 0; i < sizeof joins / sizeof *joins; i++)
            if (strcmp(in->qualifier[k], joins[i].word) == 0)
                found = join = joins[i].op;
        if (found == 0 && strcmp(in->qualifier[k], "ftz") != 0)
            return CC_PTX_UNKNOWN;
        ftz |= found == 0;
    }
    if (is == 0 || in->operands != 3 + (join != 0) ||
        (is_set && result.bits != 32 && result.bits != 16))
        return CC_PTX_UNKNOWN;
    if (type.kind == 'X' || type.kind == 'Y')
        return compare_halves(s, in, type, result, (struct relation){is, join, ftz});
    LLVMValueRef a = compared(s, in->operand[1], type, ftz),
                 b = compared(s, in->operand[2], type, ftz),
                 with = join != 0 ? cc_ptx_predicate(s, in->operand[3]) : NULL;
    if (a == NULL || b == NULL || (join != 0 && with == NULL))
        return CC_PTX_UNKNOWN;
    LLVMValueRef first = strchr("us", type.kind) != NULL ? LLVMBuildICmp(s->b, is, a, b, "")
                                                         : LLVMBuildFCmp(s->b, is, a, b, "");
    LLVMValueRef second = LLVMBuildBinOp(s->b, LLVM_OP_XOR, first, cc_ptx_number(s, 1, 1), "");
    if (join != 0) {
        first = LLVMBuildBinOp(s->b, join, first, with, "");
        second = LLVMBuildBinOp(s->b, join, second, with, "");
    }
    if (is_set) {
        first = LLVMBuildSelect(s->b, first, set_value(s, result, result.bits),
                                cc_ptx_number(s, 0, result.bits), "");
        return cc_ptx_assign_bits(s, in->operand[0], first) ? CC_PTX_DONE : CC_PTX_UNKNOWN;
    }
    return cc_ptx_assign_predicate(s, in->operand[0], first) &&
                   (*in->predicate == 0 || cc_ptx_assign_predicate(s, in->predicate, second))
               ? CC_PTX_DONE
               : CC_PTX_UNKNOWN;
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
    unsigned wide = bits > 64 ? bits : 64;
    LLVMValueRef all = cc_ptx_operand(s, in->operand[count], bits);

    all = all != NULL ? cc_ptx_bits(s, all, wide) : NULL;
    for (unsigned i = 0; i < count && all != NULL; i++) {
        LLVMValueRef value =
            LLVMBuildBinOp(s->b, LLVM_OP_LSHR, all, cc_ptx_number(s, i * part, wide), "");
        if (!cc_ptx_assign_bits(s, in->operand[i], cc_ptx_bits(s, value, part)))
            return CC_PTX_UNKNOWN;
    }
    return all != NULL ? CC_PTX_DONE : CC_PTX_UNKNOWN;
}

/* mov.b64 d, {lo, hi} */
static enum cc_ptx_known pack(struct cc_ptx_statement *s, const struct cc_ptx *in, unsigned bits)
{
    unsigned count = (unsigned)in->operands - 1, part = bits / count;
    unsigned wide = bits > 64 ? bits : 64;
    LLVMValueRef all = cc_ptx_number(s, 0, wide);

    for (unsigned i = 0; i < count; i++) {
        LLVMValueRef value = cc_ptx_operand(s, in->operand[i + 1], part);
        if (value == NULL)
            return CC_PTX_UNKNOWN;
        value = cc_ptx_bits(s, value, wide);
        value = LLVMBuildBinOp(s->b, LLVM_OP_SHL, value, cc_ptx_number(s, i * part, wide), "");
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

/* State spaces whose addresses are generic ones here. */
static bool is_generic(const char *space)
{
    static const char *const spaces[] = {"global", "local",        "const",
                                         "param",  "param::entry", "param::func"};

    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (strcmp(space, spaces[i]) == 0)
            return true;
    return false;
}

/* cvta.shared.u64 d, a; cvta.to.shared.u64 d, a; for global memory it is a move */
static enum cc_ptx_known convert_address(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    int to = in->qualifiers == 3 && strcmp(in->qualifier[0], "to") == 0;
    const char *space = in->qualifiers == 2 + to ? in->qualifier[to] : "";
    bool shared = strcmp(space, "shared") == 0 || cc_starts(space, "shared::c");
    LLVMValueRef value = in->operands == 2 ? cc_ptx_operand(s, in->operand[1], 64) : NULL;

    if (value == NULL || (!shared && !is_generic(space)) ||
        strcmp(in->qualifier[1 + to], "u64") != 0)
        return CC_PTX_UNKNOWN;
    if (shared)
        value = LLVMBuildBinOp(s->b, to ? LLVM_OP_SUB : LLVM_OP_ADD, value,
                               cc_ptx_number(s, VGPU_SHARED_VA, 64), "");
    return cc_ptx_assign_bits(s, in->operand[0], value) ? CC_PTX_DONE : CC_PTX_UNKNOWN;
}

/* isspacep.shared p, a; constants lie in global memory here, parameters in local memory */
static enum cc_ptx_known ask_space(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    const char *word = in->qualifiers == 1 ? in->qualifier[0] : "";
    bool nowhere = strcmp(word, "const") == 0 || cc_starts(word, "param");
    int space = strcmp(word, "global") == 0  ? VGPU_SPACE_GLOBAL
                : strcmp(word, "local") == 0 ? VGPU_SPACE_LOCAL
                : cc_starts(word, "shared")  ? VGPU_SPACE_SHARED
                                             : -1;
    LLVMValueRef address = in->operands == 2 && (nowhere || space >= 0)
                               ? cc_ptx_address(s, in->operand[1], 0, false)
                               : NULL;

    if (address == NULL)
        return CC_PTX_UNKNOWN;
    LLVMValueRef argument[] = {cc_ptx_number(s, (uint64_t)space, 32), address};
    LLVMValueRef is = nowhere ? cc_ptx_number(s, 0, 32)
                              : cc_ptx_call(s, "vgpu_is_space", cc_int_type(s->l, 32), argument, 2);
    return cc_ptx_assign_predicate(s, in->operand[0], is) ? CC_PTX_DONE : CC_PTX_UNKNOWN;
}

enum cc_ptx_known cc_ptx_arithmetic(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    struct cc_ptx_type type;
    const char *mode;
    bool named = false;
    enum cc_ptx_known rare;

    if (cc_ptx_is(in, "setp") || cc_ptx_is(in, "set"))
        return compare(s, in);
    if (cc_ptx_is(in, "selp"))
        return choose(s, in);
    if (cc_ptx_is(in, "cvt"))
        return cc_ptx_convert(s, in);
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
    if (s->call == NULL && (rare = cc_ptx_float(s, in)) != CC_PTX_NOT_MINE)
        return rare;
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        const struct operation *o = &operations[i];
        if (typed_well && cc_ptx_is(in, o->name) && strcmp(mode, o->mode) == 0 &&
            (*mode != 0 || strchr(o->types, type.kind) != NULL))
            return calculate(s, in, o, type);
        named |= cc_ptx_is(in, o->name);
    }
    rare = cc_ptx_float(s, in);
    if (rare == CC_PTX_NOT_MINE)
        rare = cc_ptx_integer(s, in);
    return rare == CC_PTX_NOT_MINE && named ? CC_PTX_UNKNOWN : rare;
}
