/* SPDX-License-Identifier: MIT
 * ptx_bits.c: rare instructions of PTX that choose bits and bytes: modes of prmt, lop3 with a
 * predicate, fns, cvt.pack.
 */
#include <string.h>

#include "image.h"
#include "ptx_numbers.h"

static enum cc_ptx_known done_if(bool done)
{
    return done ? CC_PTX_DONE : CC_PTX_UNKNOWN;
}

/* prmt.b32.f4e d, a, b, c: the lower two bits of c are the row of a table of selectors */
static enum cc_ptx_known permute(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    static const struct {
        const char *mode;
        uint64_t rows; /* the last one first; a digit is the number of a byte of b:a */
    } modes[] = {{"f4e", 0x6543543243213210}, {"b4e", 0x0123701267015670},
                 {"rc8", 0x3333222211110000}, {"ecl", 0x3333322232113210},
                 {"ecr", 0x3210221011100000}, {"rc16", 0x3232101032321010}};
    LLVMValueRef value[3], made = cc_ptx_number(s, 0, 64);
    uint64_t rows = 0;

    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strcmp(in->qualifier[1], modes[i].mode) == 0)
            rows = modes[i].rows;
    if (rows == 0 || in->operands != 4)
        return CC_PTX_UNKNOWN;
    for (int i = 0; i < 3; i++) {
        if ((value[i] = cc_ptx_operand(s, in->operand[i + 1], 32)) == NULL)
            return CC_PTX_UNKNOWN;
        value[i] = cc_ptx_resized(s, value[i], 64, false);
    }
    LLVMValueRef both = cc_ptx_op(s, LLVM_OP_OR, value[0],
                                  cc_ptx_op(s, LLVM_OP_SHL, value[1], cc_ptx_number(s, 32, 64)));
    LLVMValueRef row = cc_ptx_op(s, LLVM_OP_AND, value[2], cc_ptx_number(s, 3, 64));
    row = cc_ptx_op(s, LLVM_OP_SHL, row, cc_ptx_number(s, 4, 64));
    row = cc_ptx_op(s, LLVM_OP_LSHR, cc_ptx_number(s, rows, 64), row);
    for (uint64_t i = 0; i < 4; i++) {
        LLVMValueRef by = cc_ptx_op(s, LLVM_OP_LSHR, row, cc_ptx_number(s, 4 * i, 64));
        by = cc_ptx_op(s, LLVM_OP_AND, by, cc_ptx_number(s, 7, 64));
        by = cc_ptx_op(s, LLVM_OP_SHL, by, cc_ptx_number(s, 3, 64));
        LLVMValueRef byte = cc_ptx_op(s, LLVM_OP_LSHR, both, by);
        byte = cc_ptx_op(s, LLVM_OP_AND, byte, cc_ptx_number(s, 255, 64));
        byte = cc_ptx_op(s, LLVM_OP_SHL, byte, cc_ptx_number(s, 8 * i, 64));
        made = cc_ptx_op(s, LLVM_OP_OR, made, byte);
    }
    return done_if(cc_ptx_assign_bits(s, in->operand[0], made));
}

/* lop3.and.b32 d|p, a, b, c, table, q: p is whether d is not 0, and q */
static enum cc_ptx_known join_table(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    int join = strcmp(in->qualifier[0], "and") == 0  ? LLVM_OP_AND
               : strcmp(in->qualifier[0], "or") == 0 ? LLVM_OP_OR
                                                     : 0;
    LLVMValueRef value[4], with = in->operands == 6 ? cc_ptx_predicate(s, in->operand[5]) : NULL;
    struct cc_ptx_type type = {32, 'u'};

    if (join == 0 || with == NULL || *in->predicate == 0)
        return CC_PTX_UNKNOWN;
    for (int i = 0; i < 4; i++)
        if ((value[i] = cc_ptx_operand(s, in->operand[i + 1], 32)) == NULL)
            return CC_PTX_UNKNOWN;
    LLVMValueRef made = cc_ptx_native(s, VGPU_PTX_LOP3, type, value);
    if (made == NULL)
        return CC_PTX_UNKNOWN;
    LLVMValueRef is = LLVMBuildICmp(s->b, CC_PTX_NOT_EQUAL, made, cc_ptx_number(s, 0, 32), "");
    is = LLVMBuildBinOp(s->b, join, is, with, "");
    return done_if(cc_ptx_assign_bits(s, in->operand[0], made) &&
                   cc_ptx_assign_predicate(s, in->predicate, is));
}

/* fns.b32 d, mask, base, offset */
static enum cc_ptx_known find_set_bit(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    LLVMValueRef argument[7] = {cc_ptx_number(s, VGPU_PTX_FNS, 32),
                                cc_ptx_number(s, VGPU_PTX_UNSIGNED, 32), cc_ptx_number(s, 32, 32)};

    for (int i = 0; i < 4; i++) {
        LLVMValueRef value = i == 3              ? cc_ptx_number(s, 0, 64)
                             : in->operands != 4 ? NULL
                                                 : cc_ptx_operand(s, in->operand[i + 1], 32);
        if (value == NULL)
            return CC_PTX_UNKNOWN;
        argument[3 + i] = cc_ptx_bits(s, value, 64);
    }
    return done_if(cc_ptx_assign_bits(
        s, in->operand[0], cc_ptx_call(s, "vgpu_ptx", cc_int_type(s->l, 64), argument, 7)));
}

/* A signed number of 32 bits as the nearest one of the type, in its bits. */
static LLVMValueRef saturated_to(struct cc_ptx_statement *s, LLVMValueRef value, unsigned bits,
                                 bool sign)
{
    uint64_t highest = (1ull << (bits - sign)) - 1;
    LLVMValueRef most = cc_ptx_number(s, highest, 32),
                 least = cc_ptx_number(s, sign ? ~highest & UINT32_MAX : 0, 32);

    value = LLVMBuildSelect(s->b, LLVMBuildICmp(s->b, CC_PTX_GREATER, value, most, ""), most, value,
                            "");
    value =
        LLVMBuildSelect(s->b, LLVMBuildICmp(s->b, CC_PTX_LESS, value, least, ""), least, value, "");
    return cc_ptx_op(s, LLVM_OP_AND, value, cc_ptx_number(s, (1ull << bits) - 1, 32));
}

/* cvt.pack.sat.u16.s32 d, a, b: a above b; cvt.pack.sat.u8.s32.b32 d, a, b, c: below c */
static enum cc_ptx_known pack_integers(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    const char *to = in->qualifiers >= 4 ? in->qualifier[2] : "";
    unsigned bits = strcmp(to + (*to != 0), "16") == 0  ? 16
                    : strcmp(to + (*to != 0), "8") == 0 ? 8
                    : strcmp(to + (*to != 0), "4") == 0 ? 4
                    : strcmp(to + (*to != 0), "2") == 0 ? 2
                                                        : 0;
    bool below = bits < 16;
    LLVMValueRef value[3] = {NULL, NULL, cc_ptx_number(s, 0, 32)};

    if (bits == 0 || (*to != 'u' && *to != 's') || strcmp(in->qualifier[1], "sat") != 0 ||
        strcmp(in->qualifier[3], "s32") != 0 || in->qualifiers != 4 + below ||
        in->operands != 3 + below)
        return CC_PTX_UNKNOWN;
    for (int i = 0; i < 2 + below; i++)
        if ((value[i] = cc_ptx_operand(s, in->operand[i + 1], 32)) == NULL)
            return CC_PTX_UNKNOWN;
    LLVMValueRef made = saturated_to(s, value[1], bits, *to == 's');
    made = cc_ptx_op(s, LLVM_OP_OR, made,
                     cc_ptx_op(s, LLVM_OP_SHL, saturated_to(s, value[0], bits, *to == 's'),
                               cc_ptx_number(s, bits, 32)));
    if (below)
        made = cc_ptx_op(
            s, LLVM_OP_OR, made,
            cc_ptx_op(s, LLVM_OP_SHL, value[2], cc_ptx_number(s, 2 * (uint64_t)bits, 32)));
    return done_if(cc_ptx_assign_bits(s, in->operand[0], made));
}

enum cc_ptx_known cc_ptx_bits_of(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    if (cc_ptx_is(in, "prmt") && in->qualifiers == 2 && strcmp(in->qualifier[0], "b32") == 0)
        return permute(s, in);
    if (cc_ptx_is(in, "lop3") && in->qualifiers == 2 && strcmp(in->qualifier[1], "b32") == 0)
        return join_table(s, in);
    if (cc_ptx_is(in, "fns") && in->qualifiers == 1 && strcmp(in->qualifier[0], "b32") == 0)
        return find_set_bit(s, in);
    if (cc_ptx_is(in, "cvt") && cc_ptx_has(in, "pack"))
        return pack_integers(s, in);
    return CC_PTX_NOT_MINE;
}
