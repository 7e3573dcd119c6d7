/* SPDX-License-Identifier: MIT
 * ptx_video.c: video instructions: arithmetic on words, halves or bytes of either sign, and on two
 * halves or four bytes side by side; then saturation, and a second operation with a third operand.
 *
 * Values are computed in 64 bits, in which nothing overflows. Not known are the parallel forms with
 * selectors or a mask, and two forms for which an H100 answers otherwise than the guide to PTX
 * says: saturation to a part of the result, and vmad with saturation, a shift or .po.
 */
#include <string.h>

#include "module.h"
#include "ptx.h"

struct video {
    char operation[16]; /* add, sub, absdiff, min, max, avrg, shl, shr, mad, set */
    unsigned lanes;     /* 1, 2 or 4 */
    bool sign, a_sign, b_sign, saturate;
    const char *second;  /* add, min or max with c; null: none */
    const char *compare; /* set: eq, lt, ... */
};

/* A byte or a half of a register: %r1.b2 */
struct part {
    const char *operand;
    unsigned bits, at;
};

static struct part video_part(const char *operand)
{
    const char *dot = strrchr(operand, '.');
    unsigned bits = dot != NULL && dot[1] == 'b' ? 8 : 16;

    if (dot == NULL || strlen(dot) != 3 || strchr("bh", dot[1]) == NULL || dot[2] < '0' ||
        dot[2] >= '0' + (int)(32 / bits))
        return (struct part){operand, 32, 0};
    return (struct part){cc_copy(operand, (size_t)(dot - operand)), bits,
                         (unsigned)(dot[2] - '0') * bits};
}

static LLVMValueRef wide(struct cc_ptx_statement *s, int64_t value)
{
    return cc_ptx_number(s, (uint64_t)value, 64);
}

static LLVMValueRef cut(struct cc_ptx_statement *s, LLVMValueRef word, unsigned at, unsigned bits,
                        bool sign)
{
    LLVMValueRef part = cc_ptx_op(s, LLVM_OP_LSHR, word, cc_ptx_number(s, at, 32));
    return cc_ptx_resized(s, cc_ptx_resized(s, part, bits, false), 64, sign);
}

static LLVMValueRef video_choice(struct cc_ptx_statement *s, int compare, LLVMValueRef a,
                                 LLVMValueRef b, LLVMValueRef yes, LLVMValueRef no)
{
    return LLVMBuildSelect(s->b, LLVMBuildICmp(s->b, compare, a, b, ""), yes, no, "");
}

static LLVMValueRef smaller(struct cc_ptx_statement *s, LLVMValueRef a, LLVMValueRef b)
{
    return video_choice(s, CC_PTX_LESS, a, b, a, b);
}

static LLVMValueRef larger(struct cc_ptx_statement *s, LLVMValueRef a, LLVMValueRef b)
{
    return video_choice(s, CC_PTX_LESS, a, b, b, a);
}

static LLVMValueRef comparison(struct cc_ptx_statement *s, const char *name, LLVMValueRef a,
                               LLVMValueRef b)
{
    static const struct {
        const char *name;
        int compare;
    } names[] = {{"eq", CC_PTX_EQUAL},    {"ne", CC_PTX_EQUAL + 1}, {"lt", CC_PTX_LESS},
                 {"le", CC_PTX_LESS + 1}, {"gt", CC_PTX_GREATER},   {"ge", CC_PTX_GREATER + 1}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i].name) == 0)
            return video_choice(s, names[i].compare, a, b, wide(s, 1), wide(s, 0));
    return NULL;
}

/* Rounded away from zero where the sum is not negative. */
static LLVMValueRef average(struct cc_ptx_statement *s, LLVMValueRef a, LLVMValueRef b)
{
    LLVMValueRef sum = cc_ptx_op(s, LLVM_OP_ADD, a, b);
    LLVMValueRef one = video_choice(s, CC_PTX_LESS, sum, wide(s, 0), wide(s, 0), wide(s, 1));
    return cc_ptx_op(s, LLVM_OP_ASHR, cc_ptx_op(s, LLVM_OP_ADD, sum, one), wide(s, 1));
}

static LLVMValueRef calculated(struct cc_ptx_statement *s, const struct video *v, LLVMValueRef a,
                               LLVMValueRef b)
{
    const char *name = v->operation;

    if (strcmp(name, "add") == 0)
        return cc_ptx_op(s, LLVM_OP_ADD, a, b);
    if (strcmp(name, "sub") == 0)
        return cc_ptx_op(s, LLVM_OP_SUB, a, b);
    if (strcmp(name, "absdiff") == 0)
        return cc_ptx_op(s, LLVM_OP_SUB, larger(s, a, b), smaller(s, a, b));
    if (strcmp(name, "min") == 0)
        return smaller(s, a, b);
    if (strcmp(name, "max") == 0)
        return larger(s, a, b);
    if (strcmp(name, "shl") == 0)
        return cc_ptx_op(s, LLVM_OP_SHL, a, b);
    if (strcmp(name, "shr") == 0)
        return cc_ptx_op(s, LLVM_OP_ASHR, a, b);
    return strcmp(name, "set") == 0    ? comparison(s, v->compare, a, b)
           : strcmp(name, "avrg") == 0 ? average(s, a, b)
                                       : NULL;
}

/* Within what `bits` bits of the result's type hold. */
static LLVMValueRef saturated(struct cc_ptx_statement *s, const struct video *v, LLVMValueRef value,
                              unsigned bits)
{
    int64_t most = ((int64_t)1 << (bits - v->sign)) - 1;

    if (!v->saturate)
        return value;
    return larger(s, smaller(s, value, wide(s, most)), wide(s, v->sign ? -most - 1 : 0));
}

static LLVMValueRef with_third(struct cc_ptx_statement *s, const struct video *v,
                               LLVMValueRef value, LLVMValueRef third)
{
    third = cc_ptx_resized(s, third, 64, v->sign);
    return strcmp(v->second, "add") == 0   ? cc_ptx_op(s, LLVM_OP_ADD, value, third)
           : strcmp(v->second, "min") == 0 ? smaller(s, value, third)
                                           : larger(s, value, third);
}

/* `value` in a part of `word`. */
static LLVMValueRef merged(struct cc_ptx_statement *s, LLVMValueRef word, LLVMValueRef value,
                           unsigned at, unsigned bits)
{
    uint64_t mask = (bits == 32 ? 0xffffffffu : ((uint64_t)1 << bits) - 1) << at;
    value =
        cc_ptx_op(s, LLVM_OP_SHL, cc_ptx_resized(s, value, 32, false), cc_ptx_number(s, at, 32));
    return cc_ptx_op(s, LLVM_OP_OR, cc_ptx_op(s, LLVM_OP_AND, value, cc_ptx_number(s, mask, 32)),
                     cc_ptx_op(s, LLVM_OP_AND, word, cc_ptx_number(s, ~mask & 0xffffffff, 32)));
}

/* vadd.s32.u32.s32.sat.max d, a.h1, b, c */
static LLVMValueRef scalar(struct cc_ptx_statement *s, const struct video *v,
                           const struct cc_ptx *in)
{
    struct part from_a = video_part(in->operand[1]), from_b = video_part(in->operand[2]);
    LLVMValueRef a = cc_ptx_operand(s, from_a.operand, 32),
                 b = cc_ptx_operand(s, from_b.operand, 32),
                 c = in->operands > 3 ? cc_ptx_operand(s, in->operand[3], 32) : NULL, value;

    if (a == NULL || b == NULL || (c == NULL) != (v->second == NULL) ||
        (v->saturate && !v->sign && !(v->a_sign && v->b_sign)))
        return NULL;
    a = cut(s, a, from_a.at, from_a.bits, v->a_sign);
    b = cut(s, b, from_b.at, from_b.bits, v->b_sign);
    if (cc_ptx_has(in, "clamp"))
        b = video_choice(s, CC_PTX_ABOVE, b, wide(s, 32), wide(s, 32), b);
    if (cc_ptx_has(in, "wrap"))
        b = cc_ptx_op(s, LLVM_OP_AND, b, wide(s, 31));
    value = calculated(s, v, a, b);
    if (value == NULL)
        return NULL;
    value = saturated(s, v, value, 32);
    if (v->second != NULL)
        value = with_third(s, v, value, c);
    return cc_ptx_resized(s, value, 32, false);
}

/* vmad.s32.s32.u32 d, a.h0, b.h1, c */
static LLVMValueRef video_product(struct cc_ptx_statement *s, const struct video *v,
                                  const struct cc_ptx *in)
{
    struct part from_a = video_part(in->operand[1]), from_b = video_part(in->operand[2]);
    LLVMValueRef a = cc_ptx_operand(s, from_a.operand, 32),
                 b = cc_ptx_operand(s, from_b.operand, 32),
                 c = in->operands == 4 ? cc_ptx_operand(s, in->operand[3], 32) : NULL, value;

    if (a == NULL || b == NULL || c == NULL || in->qualifiers != 3)
        return NULL;
    value = cc_ptx_op(s, LLVM_OP_MULTIPLY, cut(s, a, from_a.at, from_a.bits, v->a_sign),
                      cut(s, b, from_b.at, from_b.bits, v->b_sign));
    return cc_ptx_op(s, LLVM_OP_ADD, cc_ptx_resized(s, value, 32, false), c);
}

/* vadd4.s32.u32.u32.sat d, a, b, c; with .add the sum of all and c. */
static LLVMValueRef parallel(struct cc_ptx_statement *s, const struct video *v,
                             const struct cc_ptx *in)
{
    LLVMValueRef a = cc_ptx_operand(s, in->operand[1], 32),
                 b = cc_ptx_operand(s, in->operand[2], 32),
                 c = in->operands == 4 ? cc_ptx_operand(s, in->operand[3], 32) : NULL;
    unsigned bits = 32 / v->lanes;

    if (a == NULL || b == NULL || c == NULL ||
        (v->second && (strcmp(v->second, "add") != 0 || v->saturate)))
        return NULL;
    for (unsigned i = 0; i < v->lanes; i++) {
        LLVMValueRef value = calculated(s, v, cut(s, a, i * bits, bits, v->a_sign),
                                        cut(s, b, i * bits, bits, v->b_sign));
        if (value == NULL)
            return NULL;
        c = v->second ? cc_ptx_op(s, LLVM_OP_ADD, c, cc_ptx_resized(s, value, 32, false))
                      : merged(s, c, saturated(s, v, value, bits), i * bits, bits);
    }
    return c;
}

static bool is_video_word(const char *word, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(word, words[i]) == 0)
            return true;
    return false;
}
#define IS_WORD(word, words) is_video_word(word, words, sizeof(words) / sizeof *(words))

/* The types: of the result, which vset does not have, of a and of b; and what follows them. */
static bool read_qualifiers(struct video *v, const struct cc_ptx *in)
{
    static const char *const types[] = {"u32", "s32"}, *const seconds[] = {"add", "min", "max"},
                             *const compares[] = {"eq", "ne", "lt", "le", "gt", "ge"},
                             *const others[] = {"clamp", "wrap"};
    bool set = strcmp(v->operation, "set") == 0;
    int first = set ? 0 : 1;

    if (in->qualifiers < first + 2)
        return false;
    for (int i = 0; i < first + 2; i++)
        if (!IS_WORD(in->qualifier[i], types))
            return false;
    v->sign = !set && *in->qualifier[0] == 's';
    v->a_sign = *in->qualifier[first] == 's';
    v->b_sign = *in->qualifier[first + 1] == 's';
    for (int i = first + 2; i < in->qualifiers; i++) {
        const char *word = in->qualifier[i];
        if (strcmp(word, "sat") == 0)
            v->saturate = true;
        else if (IS_WORD(word, seconds))
            v->second = word;
        else if (set && IS_WORD(word, compares))
            v->compare = word;
        else if (!IS_WORD(word, others))
            return false;
    }
    return set == (v->compare != NULL);
}

static bool read_video_name(struct video *v, const char *name)
{
    static const char *const scalars[] = {"add", "sub", "absdiff", "min", "max",
                                          "shl", "shr", "mad",     "set"},
                             *const parallels[] = {"add", "sub",  "absdiff", "min",
                                                   "max", "avrg", "set"};
    size_t length = strlen(name);
    char last = name[length - 1];

    v->lanes = last == '2' ? 2 : last == '4' ? 4 : 1;
    length -= v->lanes > 1 ? 2 : 1;
    if (*name != 'v' || length >= sizeof v->operation)
        return false;
    memcpy(v->operation, name + 1, length);
    return v->lanes == 1 ? IS_WORD(v->operation, scalars) : IS_WORD(v->operation, parallels);
}

enum cc_ptx_known cc_ptx_video(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    struct video v = {.lanes = 1};
    LLVMValueRef value;

    if (!read_video_name(&v, in->name))
        return CC_PTX_NOT_MINE;
    if (in->operands < 3 || in->operands > 4 || !read_qualifiers(&v, in))
        return CC_PTX_UNKNOWN;
    value = v.lanes > 1                       ? parallel(s, &v, in)
            : strcmp(v.operation, "mad") == 0 ? video_product(s, &v, in)
                                              : scalar(s, &v, in);
    return value != NULL && cc_ptx_assign_bits(s, in->operand[0], value) ? CC_PTX_DONE
                                                                         : CC_PTX_UNKNOWN;
}
