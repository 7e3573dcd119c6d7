/* SPDX-License-Identifier: MIT
 * ptx_native.c: integer arithmetic of PTX modules as LLVM instructions, so that both forms of a
 * kernel have it as they have CUDA's.
 */
#include <string.h>

#include "image.h"
#include "ptx.h"

LLVMValueRef cc_ptx_intrinsic(struct cc_ptx_statement *s, const char *name, LLVMTypeRef result,
                              LLVMValueRef *argument, unsigned count)
{
    LLVMTypeRef type = LLVMTypeOf(argument[0]);
    unsigned bits = (unsigned)LLVMABISizeOfType(s->l->layout, type) * 8;
    bool integer = LLVMGetTypeKind(type) == LLVM_TYPE_INTEGER;

    return cc_ptx_call(s, cc_format("llvm.%s.%c%u", name, integer ? 'i' : 'f', bits), result,
                       argument, count);
}

/* The product of 2N bits. */
static LLVMValueRef product(struct cc_ptx_statement *s, LLVMValueRef a, LLVMValueRef b,
                            struct cc_ptx_type type)
{
    bool sign = type.kind == 's';

    return cc_ptx_op(s, LLVM_OP_MULTIPLY, cc_ptx_resized(s, a, 2 * type.bits, sign),
                     cc_ptx_resized(s, b, 2 * type.bits, sign));
}

static LLVMValueRef upper_product(struct cc_ptx_statement *s, LLVMValueRef a, LLVMValueRef b,
                                  struct cc_ptx_type type)
{
    LLVMValueRef all = product(s, a, b, type);

    return cc_ptx_resized(
        s, cc_ptx_op(s, LLVM_OP_LSHR, all, LLVMConstInt(LLVMTypeOf(all), type.bits, 0)), type.bits,
        false);
}

/* By more than the bits that there are: 0, or the sign. `by`: 32 bits */
static LLVMValueRef shifted(struct cc_ptx_statement *s, int op, LLVMValueRef a, LLVMValueRef by,
                            struct cc_ptx_type type)
{
    LLVMValueRef bits = cc_ptx_number(s, type.bits, 32);
    LLVMValueRef fits = LLVMBuildICmp(s->b, CC_PTX_BELOW, by, bits, "");

    if (op == LLVM_OP_ASHR)
        by = LLVMBuildSelect(s->b, fits, by, cc_ptx_number(s, type.bits - 1, 32), "");
    by = cc_ptx_resized(s, by, type.bits, false);
    if (op != LLVM_OP_ASHR && LLVMIsAConstant(fits) == NULL)
        by = LLVMBuildSelect(s->b, fits, by, cc_ptx_number(s, 0, type.bits), "");
    LLVMValueRef result = cc_ptx_op(s, op, a, by);
    return op == LLVM_OP_ASHR
               ? result
               : LLVMBuildSelect(s->b, fits, result, cc_ptx_number(s, 0, type.bits), "");
}

static LLVMValueRef least(struct cc_ptx_statement *s, int predicate, LLVMValueRef a, LLVMValueRef b)
{
    return LLVMBuildSelect(s->b, LLVMBuildICmp(s->b, predicate, a, b, ""), a, b, "");
}

/* A part of the result for each set row of the table. */
static LLVMValueRef build_table(struct cc_ptx_statement *s, LLVMValueRef *value, unsigned table)
{
    LLVMValueRef result = cc_ptx_number(s, 0, 32), ones = cc_ptx_number(s, 0xffffffff, 32);

    for (unsigned row = 0; row < 8; row++) {
        LLVMValueRef part = ones;
        for (unsigned i = 0; i < 3; i++)
            part = cc_ptx_op(s, LLVM_OP_AND, part,
                             row >> (2 - i) & 1 ? value[i]
                                                : cc_ptx_op(s, LLVM_OP_XOR, value[i], ones));
        if (table >> row & 1)
            result = cc_ptx_op(s, LLVM_OP_OR, result, part);
    }
    return result;
}

/* The 32 bits of b:a from a bit on. */
static LLVMValueRef funnel(struct cc_ptx_statement *s, enum vgpu_ptx_operation is,
                           LLVMValueRef *value)
{
    bool left = is == VGPU_PTX_SHF_L_WRAP || is == VGPU_PTX_SHF_L_CLAMP;
    bool wrap = is == VGPU_PTX_SHF_L_WRAP || is == VGPU_PTX_SHF_R_WRAP;
    LLVMValueRef most = cc_ptx_number(s, 32, 32), by = value[2];
    LLVMValueRef low = cc_ptx_resized(s, value[0], 64, false),
                 high = cc_ptx_resized(s, value[1], 64, false);
    LLVMValueRef both =
        cc_ptx_op(s, LLVM_OP_OR, low, cc_ptx_op(s, LLVM_OP_SHL, high, cc_ptx_number(s, 32, 64)));

    by = wrap ? cc_ptx_op(s, LLVM_OP_AND, by, cc_ptx_number(s, 31, 32))
              : least(s, CC_PTX_BELOW, by, most);
    by = cc_ptx_resized(s, by, 64, false);
    both = cc_ptx_op(s, left ? LLVM_OP_SHL : LLVM_OP_LSHR, both, by);
    if (left)
        both = cc_ptx_op(s, LLVM_OP_LSHR, both, cc_ptx_number(s, 32, 64));
    return cc_ptx_resized(s, both, 32, false);
}

static LLVMValueRef counted(struct cc_ptx_statement *s, const char *name, LLVMValueRef value)
{
    LLVMValueRef argument[] = {value, cc_ptx_number(s, 0, 1)};
    bool zeros = strcmp(name, "ctlz") == 0;

    return cc_ptx_intrinsic(s, name, LLVMTypeOf(value), argument, zeros ? 2 : 1);
}

static LLVMValueRef build_bits(struct cc_ptx_statement *s, enum vgpu_ptx_operation is,
                               struct cc_ptx_type type, LLVMValueRef *value)
{
    LLVMValueRef ones = LLVMConstInt(cc_int_type(s->l, type.bits), ~0ull, 1);

    switch (is) {
    case VGPU_PTX_AND:
        return cc_ptx_op(s, LLVM_OP_AND, value[0], value[1]);
    case VGPU_PTX_OR:
        return cc_ptx_op(s, LLVM_OP_OR, value[0], value[1]);
    case VGPU_PTX_XOR:
        return cc_ptx_op(s, LLVM_OP_XOR, value[0], value[1]);
    case VGPU_PTX_NOT:
        return cc_ptx_op(s, LLVM_OP_XOR, value[0], ones);
    case VGPU_PTX_SHL:
        return shifted(s, LLVM_OP_SHL, value[0], value[1], type);
    case VGPU_PTX_SHR:
        return shifted(s, type.kind == 's' ? LLVM_OP_ASHR : LLVM_OP_LSHR, value[0], value[1], type);
    case VGPU_PTX_SHF_L_WRAP:
    case VGPU_PTX_SHF_L_CLAMP:
    case VGPU_PTX_SHF_R_WRAP:
    case VGPU_PTX_SHF_R_CLAMP:
        return funnel(s, is, value);
    case VGPU_PTX_POPC:
        return counted(s, "ctpop", value[0]);
    case VGPU_PTX_CLZ:
        return counted(s, "ctlz", value[0]);
    case VGPU_PTX_BREV:
        return counted(s, "bitreverse", value[0]);
    case VGPU_PTX_LOP3:
        return LLVMIsAConstantInt(value[3]) != NULL
                   ? build_table(s, value, (unsigned)LLVMConstIntGetZExtValue(value[3]))
                   : NULL;
    default:
        return NULL;
    }
}

LLVMValueRef cc_ptx_native(struct cc_ptx_statement *s, enum vgpu_ptx_operation is,
                           struct cc_ptx_type type, LLVMValueRef *value)
{
    bool sign = type.kind == 's';
    LLVMValueRef zero = cc_ptx_number(s, 0, type.bits);

    switch (is) {
    case VGPU_PTX_ADD:
        return cc_ptx_op(s, LLVM_OP_ADD, value[0], value[1]);
    case VGPU_PTX_SUB:
        return cc_ptx_op(s, LLVM_OP_SUB, value[0], value[1]);
    case VGPU_PTX_MUL:
        return cc_ptx_op(s, LLVM_OP_MULTIPLY, value[0], value[1]);
    case VGPU_PTX_MUL_HI:
        return upper_product(s, value[0], value[1], type);
    case VGPU_PTX_MUL_WIDE:
        return product(s, value[0], value[1], type);
    case VGPU_PTX_MAD:
        return cc_ptx_op(s, LLVM_OP_ADD, cc_ptx_op(s, LLVM_OP_MULTIPLY, value[0], value[1]),
                         value[2]);
    case VGPU_PTX_MAD_HI:
        return cc_ptx_op(s, LLVM_OP_ADD, upper_product(s, value[0], value[1], type), value[2]);
    case VGPU_PTX_MAD_WIDE:
        return cc_ptx_op(s, LLVM_OP_ADD, product(s, value[0], value[1], type), value[2]);
    case VGPU_PTX_DIV:
        return cc_ptx_op(s, sign ? LLVM_OP_SDIV : LLVM_OP_UDIV, value[0], value[1]);
    case VGPU_PTX_REM:
        return cc_ptx_op(s, sign ? LLVM_OP_SREM : LLVM_OP_UREM, value[0], value[1]);
    case VGPU_PTX_MIN:
        return least(s, sign ? CC_PTX_LESS : CC_PTX_BELOW, value[0], value[1]);
    case VGPU_PTX_MAX:
        return least(s, sign ? CC_PTX_GREATER : CC_PTX_ABOVE, value[0], value[1]);
    case VGPU_PTX_NEG:
        return cc_ptx_op(s, LLVM_OP_SUB, zero, value[0]);
    case VGPU_PTX_ABS:
        return least(s, CC_PTX_GREATER, value[0], cc_ptx_op(s, LLVM_OP_SUB, zero, value[0]));
    default:
        return build_bits(s, is, type, value);
    }
}
