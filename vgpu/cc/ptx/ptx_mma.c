/* SPDX-License-Identifier: MIT
 * ptx_mma.c: products of matrices by a warp: mma.sync and wmma.mma (PTX ISA 9.0, chapter 9.7.14).
 */
#include <string.h>

#include "image.h"
#include "ptx_matrix.h"

/* ---- qualifiers ---- */

bool cc_ptx_next_is(const struct cc_ptx *in, int *at, const char *word)
{
    bool is = *at < in->qualifiers && strcmp(in->qualifier[*at], word) == 0;

    *at += is;
    return is;
}

static unsigned take_count(const char **at, char letter)
{
    unsigned count = 0;

    if (**at != letter)
        return 0;
    for (++*at; **at >= '0' && **at <= '9' && count < 1000; ++*at)
        count = count * 10 + (unsigned)(**at - '0');
    return count;
}

bool cc_ptx_next_shape(const struct cc_ptx *in, int *at, struct cc_ptx_shape *shape)
{
    const char *word = *at < in->qualifiers ? in->qualifier[*at] : "";

    shape->m = take_count(&word, 'm');
    shape->n = take_count(&word, 'n');
    shape->k = take_count(&word, 'k');
    ++*at;
    return shape->m != 0 && shape->n != 0 && shape->k != 0 && *word == 0;
}

int cc_ptx_next_layout(const struct cc_ptx *in, int *at)
{
    return cc_ptx_next_is(in, at, "row") ? 1 : cc_ptx_next_is(in, at, "col") ? 0 : -1;
}

int cc_ptx_next_element(const struct cc_ptx *in, int *at)
{
    static const char *const names[] = {
        [VGPU_MMA_F16] = "f16",   [VGPU_MMA_BF16] = "bf16", [VGPU_MMA_TF32] = "tf32",
        [VGPU_MMA_F32] = "f32",   [VGPU_MMA_F64] = "f64",   [VGPU_MMA_S8] = "s8",
        [VGPU_MMA_U8] = "u8",     [VGPU_MMA_S4] = "s4",     [VGPU_MMA_U4] = "u4",
        [VGPU_MMA_E4M3] = "e4m3", [VGPU_MMA_E5M2] = "e5m2", [VGPU_MMA_S32] = "s32"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (cc_ptx_next_is(in, at, names[i]))
            return (int)i;
    return -1;
}

/* ---- matrices ---- */

unsigned cc_ptx_element_bits(int type)
{
    switch (type) {
    case VGPU_MMA_F64:
        return 64;
    case VGPU_MMA_TF32:
    case VGPU_MMA_F32:
    case VGPU_MMA_S32:
        return 32;
    case VGPU_MMA_F16:
    case VGPU_MMA_BF16:
        return 16;
    case VGPU_MMA_S4:
    case VGPU_MMA_U4:
        return 4;
    default:
        return 8;
    }
}

unsigned cc_ptx_matrix_registers(unsigned rows, unsigned columns, int type)
{
    unsigned bits = cc_ptx_element_bits(type);

    return rows * columns / 32 * bits / (bits == 64 ? 64 : 32);
}

unsigned cc_ptx_fragment_registers(unsigned rows, unsigned columns, int type, bool factor)
{
    return factor && type == VGPU_MMA_F16 ? 8 : cc_ptx_matrix_registers(rows, columns, type);
}

/* ---- the product ---- */

struct product {
    struct vgpu_mma is;
    unsigned a, b, c, d;       /* registers */
    unsigned given_a, given_b; /* registers that the instruction has for them */
};

static void count_registers(struct product *p)
{
    p->a = cc_ptx_matrix_registers(p->is.m, p->is.k, p->is.a);
    p->b = cc_ptx_matrix_registers(p->is.k, p->is.n, p->is.b);
    p->c = cc_ptx_matrix_registers(p->is.m, p->is.n, p->is.c);
    p->d = cc_ptx_matrix_registers(p->is.m, p->is.n, p->is.d);
    p->given_a = p->a, p->given_b = p->b;
}

static LLVMValueRef words_for(struct cc_ptx_statement *s, unsigned words)
{
    LLVMTypeRef type = LLVMArrayType(cc_int_type(s->l, 64), (words + 1) / 2);
    LLVMBuilderRef b = s->entry;

    if (b == NULL) {
        b = LLVMCreateBuilderInContext(s->l->context);
        LLVMPositionBuilderBefore(b, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(s->function)));
    }
    LLVMValueRef place = LLVMBuildAlloca(b, type, "");
    return LLVMBuildPointerCast(b, place, cc_byte_pointer(s->l, 0), "");
}

static LLVMValueRef word_at(struct cc_ptx_statement *s, LLVMValueRef words, unsigned word,
                            unsigned bits)
{
    LLVMValueRef offset = cc_ptx_number(s, 4ull * word, 64);
    LLVMValueRef at = LLVMBuildGEP2(s->b, cc_int_type(s->l, 8), words, &offset, 1, "");

    return LLVMBuildPointerCast(s->b, at, LLVMPointerType(cc_int_type(s->l, bits), 0), "");
}

/* Stores `count` of the operands from `from` on behind the *word that there are. */
static bool put_operands(struct cc_ptx_statement *s, const struct cc_ptx *in, unsigned from,
                         unsigned count, int type, LLVMValueRef words, unsigned *word)
{
    unsigned bits = type == VGPU_MMA_F64 ? 64 : 32;

    for (unsigned i = 0; i < count; i++) {
        LLVMValueRef value = cc_ptx_operand(s, in->operand[from + i], bits);
        if (value == NULL)
            return false;
        LLVMBuildStore(s->b, value, word_at(s, words, *word, bits));
        *word += bits / 32;
    }
    return true;
}

static bool take_results(struct cc_ptx_statement *s, const struct cc_ptx *in,
                         const struct product *p, LLVMValueRef words)
{
    unsigned bits = p->is.d == VGPU_MMA_F64 ? 64 : 32;

    for (unsigned i = 0; i < p->d; i++) {
        LLVMValueRef at = word_at(s, words, i * bits / 32, bits);
        LLVMValueRef value = LLVMBuildLoad2(s->b, cc_int_type(s->l, bits), at, "");
        if (!cc_ptx_assign_bits(s, in->operand[i], value))
            return false;
    }
    return true;
}

static void clear_results(struct cc_ptx_statement *s, const struct product *p, LLVMValueRef words)
{
    unsigned bits = p->is.d == VGPU_MMA_F64 ? 64 : 32;

    for (unsigned i = 0; i < p->d; i++)
        LLVMBuildStore(s->b, cc_ptx_number(s, 0, bits), word_at(s, words, i * bits / 32, bits));
}

/* d, a, b, c */
static enum cc_ptx_known multiply(struct cc_ptx_statement *s, const struct cc_ptx *in,
                                  const struct product *p)
{
    unsigned wide = p->is.a == VGPU_MMA_F64 ? 2 : 1, word = 0;
    unsigned a = p->d, b = a + p->given_a, c = b + p->given_b;
    uint64_t shape;

    if (in->operands != (int)(c + p->c))
        return CC_PTX_UNKNOWN;
    LLVMValueRef abc = words_for(s, (p->a + p->b + p->c) * wide), d = words_for(s, p->d * wide);
    if (!put_operands(s, in, a, p->a, p->is.a, abc, &word) ||
        !put_operands(s, in, b, p->b, p->is.b, abc, &word) ||
        !put_operands(s, in, c, p->c, p->is.c, abc, &word))
        return CC_PTX_UNKNOWN;
    clear_results(s, p, d);
    memcpy(&shape, &p->is, sizeof shape);
    LLVMTypeRef words = LLVMPointerType(cc_int_type(s->l, 32), 0);
    LLVMValueRef argument[] = {cc_ptx_number(s, shape, 64),
                               LLVMBuildPointerCast(s->b, abc, words, ""),
                               LLVMBuildPointerCast(s->b, d, words, ""), cc_ptx_site(s)};
    cc_ptx_call(s, "vgpu_ptx_mma", LLVMVoidTypeInContext(s->l->context), argument, 4);
    return take_results(s, in, p, d) ? CC_PTX_DONE : CC_PTX_UNKNOWN;
}

/* ---- what there is ---- */

static bool set_types(struct product *p, const struct cc_ptx_shape *shape, int d, int a, int b,
                      int c)
{
    if (a < 0 || b < 0 || c < 0 || d < 0 || shape->m > 32 || shape->n > 32 || shape->k > 64)
        return false;
    p->is = (struct vgpu_mma){(uint8_t)shape->m, (uint8_t)shape->n, (uint8_t)shape->k, (uint8_t)a,
                              (uint8_t)b,        (uint8_t)c,        (uint8_t)d,        0};
    return true;
}

static bool is_whole_type(int type)
{
    return type >= VGPU_MMA_S8 && type <= VGPU_MMA_U4;
}

/* Whether factors of these types are multiplied to such results. */
static bool types_match(const struct vgpu_mma *is)
{
    bool both_small = (is->a == VGPU_MMA_E4M3 || is->a == VGPU_MMA_E5M2) &&
                      (is->b == VGPU_MMA_E4M3 || is->b == VGPU_MMA_E5M2);
    bool half = (is->c == VGPU_MMA_F16 || is->c == VGPU_MMA_F32) &&
                (is->d == VGPU_MMA_F16 || is->d == VGPU_MMA_F32);

    if (is_whole_type(is->a))
        return is_whole_type(is->b) && is->c == VGPU_MMA_S32 && is->d == VGPU_MMA_S32 &&
               cc_ptx_element_bits(is->a) == cc_ptx_element_bits(is->b);
    if (is->a == VGPU_MMA_F16 || both_small)
        return (both_small || is->b == is->a) && half;
    if (is->a == VGPU_MMA_F64)
        return is->b == is->a && is->c == is->a && is->d == is->a;
    return (is->a == VGPU_MMA_BF16 || is->a == VGPU_MMA_TF32) && is->b == is->a &&
           is->c == VGPU_MMA_F32 && is->d == VGPU_MMA_F32;
}

/* mma.sync: m16n8 with 16 or 32 bytes of factors in a row (of f64 to 128), m8n8 with 16 (of f64
 * 32). m8n8k4 of f16 is four products, each of 8 lanes. */
static bool mma_offers(const struct vgpu_mma *is)
{
    unsigned row = is->k * cc_ptx_element_bits(is->a) / 8;

    if (is->n != 8 || !types_match(is))
        return false;
    if (is->m == 8)
        return is->a == VGPU_MMA_F64 ? row == 32 : is_whole_type(is->a) && row == 16;
    return is->m == 16 && (row == 16 || row == 32 || (is->a == VGPU_MMA_F64 && row >= 32));
}

/* mma.sync.aligned.m16n8k16.row.col{.satfinite}.f32.f16.f16.f32{.rn} d, a, b, c */
static enum cc_ptx_known mma(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    struct cc_ptx_shape shape;
    struct product p = {0};
    int at = 0;

    if (!cc_ptx_next_is(in, &at, "sync") || !cc_ptx_next_is(in, &at, "aligned") ||
        !cc_ptx_next_shape(in, &at, &shape) || cc_ptx_next_layout(in, &at) != 1 ||
        cc_ptx_next_layout(in, &at) != 0)
        return CC_PTX_UNKNOWN;
    bool saturate = cc_ptx_next_is(in, &at, "satfinite");
    int d = cc_ptx_next_element(in, &at), a = cc_ptx_next_element(in, &at);
    int b = cc_ptx_next_element(in, &at), c = cc_ptx_next_element(in, &at);
    if (a == VGPU_MMA_F64)
        cc_ptx_next_is(in, &at, "rn");
    if (at != in->qualifiers || !set_types(&p, &shape, d, a, b, c) || !mma_offers(&p.is) ||
        (saturate && !is_whole_type(a)))
        return CC_PTX_UNKNOWN;
    p.is.saturate = saturate;
    count_registers(&p);
    return multiply(s, in, &p);
}

/* wmma.mma.sync.aligned.row.col.m16n16k16.f32.f16 d, a, b, c, of f16;
 * wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32{.satfinite} */
enum cc_ptx_known cc_ptx_wmma_product(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    struct cc_ptx_shape shape;
    struct product p = {0};
    int at = 1;

    if (!cc_ptx_next_is(in, &at, "sync") || !cc_ptx_next_is(in, &at, "aligned") ||
        cc_ptx_next_layout(in, &at) < 0 || cc_ptx_next_layout(in, &at) < 0 ||
        !cc_ptx_next_shape(in, &at, &shape))
        return CC_PTX_UNKNOWN;
    int d = cc_ptx_next_element(in, &at), a = cc_ptx_next_element(in, &at);
    int b = cc_ptx_next_element(in, &at), c = cc_ptx_next_element(in, &at);
    if (b < 0)
        c = a, a = b = VGPU_MMA_F16;
    if (a == VGPU_MMA_F64)
        cc_ptx_next_is(in, &at, "rn");
    bool saturate = cc_ptx_next_is(in, &at, "satfinite");
    if (at != in->qualifiers || !set_types(&p, &shape, d, a, b, c) || !types_match(&p.is) ||
        a != b || !cc_ptx_wmma_offers(&shape, a) || (saturate && !is_whole_type(a)))
        return CC_PTX_UNKNOWN;
    p.is.saturate = saturate;
    count_registers(&p);
    p.given_a = cc_ptx_fragment_registers(shape.m, shape.k, a, true);
    p.given_b = cc_ptx_fragment_registers(shape.k, shape.n, b, true);
    return multiply(s, in, &p);
}

/* .relu: 0 in place of a number below it; .satfinite: the largest number in place of infinity. */
static LLVMValueRef limited_tf32(struct cc_ptx_statement *s, const char *limit, LLVMValueRef value)
{
    LLVMValueRef infinite = cc_ptx_number(s, 0x7f800000, 32), zero = cc_ptx_number(s, 0, 32);
    LLVMValueRef rest = cc_ptx_op(s, LLVM_OP_AND, value, cc_ptx_number(s, 0x7fffffff, 32)), is;

    if (strcmp(limit, "relu") == 0) {
        is = LLVMBuildICmp(s->b, CC_PTX_ABOVE, rest, infinite, "");
        rest = LLVMBuildICmp(s->b, CC_PTX_LESS, value, zero, "");
        rest = LLVMBuildSelect(s->b, rest, zero, value, "");
        return LLVMBuildSelect(s->b, is, value, rest, "");
    }
    is = LLVMBuildICmp(s->b, CC_PTX_EQUAL, rest, infinite, "");
    return LLVMBuildSelect(s->b, is, cc_ptx_op(s, LLVM_OP_SUB, value, cc_ptx_number(s, 0x2000, 32)),
                           value, "");
}

/* cvt.rna.tf32.f32 d, a, also .rn and .rz: to the 10 bits of fraction that a product reads. */
static enum cc_ptx_known convert(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    LLVMValueRef a = in->operands == 2 ? cc_ptx_operand(s, in->operand[1], 32) : NULL, up, is;
    const char *round = in->qualifier[0], *limit = in->qualifiers == 4 ? in->qualifier[1] : "";

    if (a == NULL || in->qualifiers > 4 || strcmp(in->qualifier[in->qualifiers - 1], "f32") != 0 ||
        (*limit != 0 && strcmp(limit, "relu") != 0 && strcmp(limit, "satfinite") != 0))
        return CC_PTX_UNKNOWN;
    if (strcmp(round, "rna") == 0)
        up = cc_ptx_number(s, 0x1000, 32);
    else if (strcmp(round, "rz") == 0)
        up = cc_ptx_number(s, 0, 32);
    else if (strcmp(round, "rn") == 0) /* of two as near, the even one */
        up = cc_ptx_op(s, LLVM_OP_ADD, cc_ptx_number(s, 0xfff, 32),
                       cc_ptx_op(s, LLVM_OP_AND,
                                 cc_ptx_op(s, LLVM_OP_LSHR, a, cc_ptx_number(s, 13, 32)),
                                 cc_ptx_number(s, 1, 32)));
    else
        return CC_PTX_UNKNOWN;
    up = cc_ptx_op(s, LLVM_OP_AND, cc_ptx_op(s, LLVM_OP_ADD, a, up),
                   cc_ptx_number(s, 0xffffe000, 32));
    is = cc_ptx_op(s, LLVM_OP_AND, a, cc_ptx_number(s, 0x7f800000, 32));
    is = LLVMBuildICmp(s->b, CC_PTX_EQUAL, is, cc_ptx_number(s, 0x7f800000, 32), "");
    up = LLVMBuildSelect(s->b, is, a, up, ""); /* neither infinite nor a NaN */
    if (*limit != 0)
        up = limited_tf32(s, limit, up);
    return cc_ptx_assign_bits(s, in->operand[0], up) ? CC_PTX_DONE : CC_PTX_UNKNOWN;
}

enum cc_ptx_known cc_ptx_mma(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    if (cc_ptx_is(in, "cvt") && in->qualifiers > 2 &&
        strcmp(in->qualifier[in->qualifiers - 2], "tf32") == 0)
        return convert(s, in);
    return cc_ptx_is(in, "mma") ? mma(s, in) : CC_PTX_NOT_MINE;
}
