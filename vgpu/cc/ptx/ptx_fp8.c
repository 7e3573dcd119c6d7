/* SPDX-License-Identifier: MIT
 * ptx_fp8.c: cvt from and to e4m3x2 and e5m2x2, two numbers of eight bits in a register of 16.
 */
#include <string.h>

#include "image.h"
#include "ptx_numbers.h"

/* VGPU_NARROW_E4M3 or VGPU_NARROW_E5M2; -1: another type. */
static int format_of(const char *word)
{
    return strcmp(word, "e4m3x2") == 0   ? VGPU_NARROW_E4M3
           : strcmp(word, "e5m2x2") == 0 ? VGPU_NARROW_E5M2
                                         : -1;
}

/* .rn, then .satfinite where it goes to eight bits, then perhaps .relu. */
static bool modes_of(const struct cc_ptx *in, bool to_fp8, bool *relu)
{
    int at = 0, end = in->qualifiers - 2;

    *relu = false;
    if (end < 1 || strcmp(in->qualifier[at++], "rn") != 0)
        return false;
    if (to_fp8 && (at == end || strcmp(in->qualifier[at++], "satfinite") != 0))
        return false;
    if (at < end && strcmp(in->qualifier[at], "relu") == 0)
        *relu = ++at > 0;
    return at == end;
}

/* Part 0 or 1 of a register, of `bits` each. */
static LLVMValueRef lane_of(struct cc_ptx_statement *s, LLVMValueRef both, unsigned part,
                            unsigned bits)
{
    LLVMValueRef wide = cc_ptx_bits(s, both, 32);

    wide = cc_ptx_op(s, LLVM_OP_LSHR, wide, cc_ptx_number(s, (uint64_t)part * bits, 32));
    return cc_ptx_op(s, LLVM_OP_AND, wide, cc_ptx_number(s, (1ull << bits) - 1, 32));
}

static bool assign_parts(struct cc_ptx_statement *s, const char *to, LLVMValueRef const *part,
                         unsigned bits)
{
    LLVMValueRef high = cc_ptx_op(s, LLVM_OP_SHL, part[1], cc_ptx_number(s, bits, 32));

    return cc_ptx_assign_bits(s, to,
                              cc_ptx_bits(s, cc_ptx_op(s, LLVM_OP_OR, part[0], high), 2 * bits));
}

/* Number `part` of the source, as f32; of two sources of f32 the first is the upper one. */
static LLVMValueRef source(struct cc_ptx_statement *s, const struct cc_ptx *in, bool halves,
                           unsigned part)
{
    LLVMValueRef value = cc_ptx_operand(s, in->operand[halves ? 1 : 2 - part], 32);

    if (value == NULL)
        return NULL;
    return halves ? cc_ptx_from_half(s, lane_of(s, value, part, 16), 'F')
                  : cc_ptx_as_float(s, value);
}

/* cvt.rn.satfinite{.relu}.e4m3x2.f32 d, a, b and .e4m3x2.f16x2 d, a */
static enum cc_ptx_known to_fp8(struct cc_ptx_statement *s, const struct cc_ptx *in, int format,
                                bool relu)
{
    const char *from = in->qualifier[in->qualifiers - 1];
    bool halves = strcmp(from, "f16x2") == 0;
    LLVMValueRef part[2];

    if ((!halves && strcmp(from, "f32") != 0) || in->operands != 3 - halves)
        return CC_PTX_UNKNOWN;
    for (unsigned i = 0; i < 2; i++) {
        LLVMValueRef value = source(s, in, halves, i);
        if (value == NULL)
            return CC_PTX_UNKNOWN;
        if (relu)
            value = cc_ptx_not_negative(s, value);
        part[i] = cc_ptx_bits(s, cc_ptx_narrowed(s, value, (enum vgpu_narrow)format, 0), 32);
    }
    return assign_parts(s, in->operand[0], part, 8) ? CC_PTX_DONE : CC_PTX_UNKNOWN;
}

/* The bits of an f16 of e4m3, whose bias is less by 8; a NaN is not kept. */
static LLVMValueRef e4m3_as_half(struct cc_ptx_statement *s, LLVMValueRef rest)
{
    LLVMValueRef small =
        cc_ptx_from_half(s, cc_ptx_op(s, LLVM_OP_SHL, rest, cc_ptx_number(s, 7, 32)), 'F');
    LLVMValueRef scale = cc_ptx_as_float(s, cc_ptx_number(s, 0x43800000, 32)); /* 2 to the 8th */

    return cc_ptx_bits(s, cc_ptx_to_half(s, cc_ptx_op(s, CC_PTX_F_MUL, small, scale), 'F', 0), 32);
}

/* The bits of an f16; e5m2 is its upper half. There is one NaN. */
static LLVMValueRef as_half(struct cc_ptx_statement *s, LLVMValueRef byte, int format)
{
    bool is_e4m3 = format == VGPU_NARROW_E4M3;
    LLVMValueRef upper = cc_ptx_op(s, LLVM_OP_SHL, byte, cc_ptx_number(s, 8, 32));
    LLVMValueRef sign = cc_ptx_op(s, LLVM_OP_AND, upper, cc_ptx_number(s, 0x8000, 32));
    LLVMValueRef rest = cc_ptx_op(s, LLVM_OP_AND, byte, cc_ptx_number(s, 0x7f, 32));
    LLVMValueRef value = is_e4m3 ? cc_ptx_op(s, LLVM_OP_OR, e4m3_as_half(s, rest), sign) : upper;
    LLVMValueRef last = cc_ptx_number(s, is_e4m3 ? 0x7e : 0x7c, 32);

    return LLVMBuildSelect(s->b, LLVMBuildICmp(s->b, CC_PTX_ABOVE, rest, last, ""),
                           cc_ptx_number(s, 0x7fff, 32), value, "");
}

/* cvt.rn{.relu}.f16x2.e4m3x2 d, a */
static enum cc_ptx_known from_fp8(struct cc_ptx_statement *s, const struct cc_ptx *in, int format,
                                  bool relu)
{
    LLVMValueRef both, part[2];

    if (strcmp(in->qualifier[in->qualifiers - 2], "f16x2") != 0 || in->operands != 2 ||
        (both = cc_ptx_operand(s, in->operand[1], 16)) == NULL)
        return CC_PTX_UNKNOWN;
    for (unsigned i = 0; i < 2; i++) {
        part[i] = as_half(s, lane_of(s, both, i, 8), format);
        if (relu) {
            LLVMValueRef value = cc_ptx_not_negative(s, cc_ptx_from_half(s, part[i], 'F'));
            part[i] = cc_ptx_bits(s, cc_ptx_to_half(s, value, 'F', 0), 32);
        }
    }
    return assign_parts(s, in->operand[0], part, 16) ? CC_PTX_DONE : CC_PTX_UNKNOWN;
}

enum cc_ptx_known cc_ptx_convert_fp8(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    int to = in->qualifiers < 2 ? -1 : format_of(in->qualifier[in->qualifiers - 2]);
    int from = in->qualifiers < 2 ? -1 : format_of(in->qualifier[in->qualifiers - 1]);
    bool relu;

    if (to < 0 && from < 0)
        return CC_PTX_NOT_MINE;
    if ((to >= 0 && from >= 0) || !modes_of(in, to >= 0, &relu))
        return CC_PTX_UNKNOWN;
    return to >= 0 ? to_fp8(s, in, to, relu) : from_fp8(s, in, from, relu);
}
