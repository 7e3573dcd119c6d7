/* SPDX-License-Identifier: MIT
 * ptx_matrix.c: loads and stores of matrices by a warp: wmma.load, wmma.store, ldmatrix, stmatrix,
 * and movmatrix (PTX ISA 9.0, chapters 9.7.14.4 and 9.7.14.5).
 *
 * Which lane has which elements of wmma's fragments is not documented; here they are those of the
 * products of mma.sync into which a GPU divides it.
 */
#include <string.h>

#include "image.h"
#include "ptx_matrix.h"

static LLVMValueRef number(struct cc_ptx_statement *s, uint64_t value)
{
    return cc_ptx_number(s, value, 64);
}

static LLVMValueRef sum_of_two(struct cc_ptx_statement *s, LLVMValueRef a, LLVMValueRef b)
{
    return cc_ptx_op(s, LLVM_OP_ADD, a, b);
}

static LLVMValueRef scaled_by(struct cc_ptx_statement *s, LLVMValueRef a, uint64_t b)
{
    return cc_ptx_op(s, LLVM_OP_MULTIPLY, a, number(s, b));
}

/* The lane's number, its group of four, and its number there. */
struct lane {
    LLVMValueRef number, group, place; /* 64 bits */
};

static struct lane this_lane(struct cc_ptx_statement *s)
{
    struct lane lane;

    lane.number =
        cc_ptx_bits(s, cc_ptx_call(s, "vgpu_lane_id", cc_int_type(s->l, 32), NULL, 0), 64);
    lane.group = cc_ptx_op(s, LLVM_OP_LSHR, lane.number, number(s, 2));
    lane.place = cc_ptx_op(s, LLVM_OP_AND, lane.number, number(s, 3));
    return lane;
}

static LLVMValueRef typed_address(struct cc_ptx_statement *s, LLVMValueRef base,
                                  LLVMValueRef offset, unsigned bits)
{
    LLVMValueRef at = LLVMBuildGEP2(s->b, cc_int_type(s->l, 8), base, &offset, 1, "");

    return LLVMBuildPointerCast(s->b, at, LLVMPointerType(cc_int_type(s->l, bits), 0), "");
}

static bool is_shared_word(const char *word)
{
    return strcmp(word, "shared") == 0 || strcmp(word, "shared::cta") == 0;
}

/* ---- wmma.load and wmma.store ---- */

struct matrix {
    char which; /* 'a', 'b', 'c', 'd' */
    int type;
    bool by_rows, shared;
    unsigned m, n, k;
    unsigned rows, columns;
    unsigned registers, bits, each; /* given ones; elements in a register, and their bits */
    LLVMValueRef base, leading;     /* leading: elements from one row or column to the next */
};

/* A register's elements: neighbours along one dimension, at one place across it. Each lane adds
 * its group across, and its place along. */
struct part {
    unsigned along, across;
};

/* Register r of `each` elements: the rule of vgpu/exec/threads/mma.c. */
static struct part register_part(const struct matrix *x, unsigned r)
{
    unsigned own = cc_ptx_matrix_registers(x->rows, x->columns, x->type), tile, rows;

    r %= own;
    if (x->which == 'b') {
        tile = x->k / 4 / x->each;
        return (struct part){r % tile * 4 * x->each, r / tile * 8};
    }
    rows = x->m < 16 ? 1 : 2;
    if (x->which == 'a') {
        tile = rows * x->k / 4 / x->each;
        return (struct part){r % tile / rows * 4 * x->each, r / tile * 16 + r % tile % rows * 8};
    }
    tile = rows * 2;
    unsigned i = r * x->each, t = i / tile, across = x->n / 8;
    return (struct part){t % across * 8 + i % 2, t / across * 16 + i % tile / 2 * 8};
}

/* Where element j of a register lies, in bytes from the base. */
static LLVMValueRef element_offset(struct cc_ptx_statement *s, const struct matrix *x,
                                   const struct lane *lane, struct part part, unsigned j)
{
    bool neighbours = x->by_rows != (x->which == 'b');
    unsigned step = x->which == 'a' || x->which == 'b' ? x->each : 2;
    LLVMValueRef along =
        sum_of_two(s, scaled_by(s, lane->place, step), number(s, (uint64_t)part.along + j));
    LLVMValueRef across = sum_of_two(s, lane->group, number(s, part.across));
    LLVMValueRef line = neighbours ? across : along, column = neighbours ? along : across;

    return scaled_by(s, sum_of_two(s, cc_ptx_op(s, LLVM_OP_MULTIPLY, line, x->leading), column),
                     x->bits / 8);
}

static LLVMValueRef load_register(struct cc_ptx_statement *s, const struct matrix *x,
                                  const struct lane *lane, struct part part)
{
    LLVMValueRef all = NULL;

    for (unsigned j = 0; j < x->each; j++) {
        LLVMValueRef at = typed_address(s, x->base, element_offset(s, x, lane, part, j), x->bits);
        LLVMValueRef one = LLVMBuildLoad2(s->b, cc_int_type(s->l, x->bits), at, "");
        if (x->each == 1)
            return one;
        one = cc_ptx_bits(s, one, 32);
        one = cc_ptx_op(s, LLVM_OP_SHL, one, cc_ptx_number(s, (uint64_t)j * x->bits, 32));
        all = all == NULL ? one : cc_ptx_op(s, LLVM_OP_OR, all, one);
    }
    return all;
}

static void store_register(struct cc_ptx_statement *s, const struct matrix *x,
                           const struct lane *lane, struct part part, LLVMValueRef value)
{
    for (unsigned j = 0; j < x->each; j++) {
        LLVMValueRef at = typed_address(s, x->base, element_offset(s, x, lane, part, j), x->bits);
        LLVMValueRef one = value;
        if (x->each > 1)
            one = cc_ptx_op(s, LLVM_OP_LSHR, value, cc_ptx_number(s, (uint64_t)j * x->bits, 32));
        LLVMBuildStore(s->b, cc_ptx_bits(s, one, x->bits), at);
    }
}

bool cc_ptx_wmma_offers(const struct cc_ptx_shape *shape, int type)
{
    unsigned m = shape->m, n = shape->n, k = shape->k;

    if (type == VGPU_MMA_F64)
        return m == 8 && n == 8 && k == 4;
    if (type == VGPU_MMA_TF32)
        return m == 16 && n == 16 && k == 8;
    return (type == VGPU_MMA_F16 || type == VGPU_MMA_BF16 || type == VGPU_MMA_S8 ||
            type == VGPU_MMA_U8) &&
           k == 16 && ((m == 16 && n == 16) || (m == 32 && n == 8) || (m == 8 && n == 32));
}

/* Whether a matrix of this type and use is one of wmma's. */
static bool is_fragment(const struct matrix *x, const struct cc_ptx_shape *shape)
{
    if (x->which == 'a' || x->which == 'b')
        return cc_ptx_wmma_offers(shape, x->type);
    if (x->type == VGPU_MMA_F64)
        return cc_ptx_wmma_offers(shape, VGPU_MMA_F64);
    if (x->type == VGPU_MMA_F32 && cc_ptx_wmma_offers(shape, VGPU_MMA_TF32))
        return true;
    return (x->type == VGPU_MMA_F32 || x->type == VGPU_MMA_F16 || x->type == VGPU_MMA_S32) &&
           cc_ptx_wmma_offers(shape, VGPU_MMA_F16);
}

/* .a.sync.aligned.row.m16n16k16.global.f16 */
static bool read_matrix(const struct cc_ptx *in, const char *uses, struct matrix *x)
{
    struct cc_ptx_shape shape;
    int at = 2, layout;

    if (in->qualifiers < 6 || strchr(uses, *in->qualifier[1]) == NULL ||
        strlen(in->qualifier[1]) != 1 || !cc_ptx_next_is(in, &at, "sync") ||
        !cc_ptx_next_is(in, &at, "aligned") || (layout = cc_ptx_next_layout(in, &at)) < 0 ||
        !cc_ptx_next_shape(in, &at, &shape))
        return false;
    x->which = *in->qualifier[1];
    x->by_rows = layout == 1;
    if (at < in->qualifiers && is_shared_word(in->qualifier[at]))
        x->shared = true, at++;
    else
        cc_ptx_next_is(in, &at, "global");
    x->type = cc_ptx_next_element(in, &at);
    x->m = shape.m, x->n = shape.n, x->k = shape.k;
    x->rows = x->which == 'b' ? x->k : x->m;
    x->columns = x->which == 'a' ? x->k : x->n;
    if (x->type < 0 || at != in->qualifiers || !is_fragment(x, &shape))
        return false;
    x->bits = cc_ptx_element_bits(x->type);
    x->each = x->bits < 32 ? 32 / x->bits : 1;
    x->registers =
        cc_ptx_fragment_registers(x->rows, x->columns, x->type, x->which == 'a' || x->which == 'b');
    return true;
}

/* The address, and the leading dimension behind the other operands. */
static bool read_address(struct cc_ptx_statement *s, const struct cc_ptx *in, unsigned address,
                         struct matrix *x)
{
    int rest = in->operands - (int)x->registers - 1;

    if (rest != 0 && rest != 1)
        return false;
    x->base = cc_ptx_address(s, in->operand[address], 0, x->shared);
    x->leading = rest == 1 ? cc_ptx_operand(s, in->operand[in->operands - 1], 32)
                           : cc_ptx_number(s, x->by_rows ? x->columns : x->rows, 32);
    if (x->base == NULL || x->leading == NULL)
        return false;
    x->leading = cc_ptx_bits(s, x->leading, 64);
    return true;
}

/* wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {r, ...}, [p], leading */
static bool load_fragment(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    struct matrix x = {0};

    if (!read_matrix(in, "abc", &x) || !read_address(s, in, x.registers, &x))
        return false;
    struct lane lane = this_lane(s);
    unsigned own = cc_ptx_matrix_registers(x.rows, x.columns, x.type);
    LLVMValueRef *value = cc_alloc(own * sizeof *value);
    for (unsigned r = 0; r < own; r++)
        value[r] = load_register(s, &x, &lane, register_part(&x, r));
    for (unsigned r = 0; r < x.registers; r++)
        if (!cc_ptx_assign_bits(s, in->operand[r], value[r % own]))
            return false;
    return true;
}

/* wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [p], {r, ...}, leading */
static bool store_fragment(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    struct matrix x = {0};

    if (!read_matrix(in, "d", &x) || !read_address(s, in, 0, &x))
        return false;
    struct lane lane = this_lane(s);
    for (unsigned r = 0; r < x.registers; r++) {
        LLVMValueRef value = cc_ptx_operand(s, in->operand[1 + r], x.bits < 32 ? 32 : x.bits);
        if (value == NULL)
            return false;
        store_register(s, &x, &lane, register_part(&x, r), value);
    }
    return true;
}

static enum cc_ptx_known wmma(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    const char *what = in->qualifiers > 0 ? in->qualifier[0] : "";

    if (strcmp(what, "mma") == 0)
        return cc_ptx_wmma_product(s, in);
    return (strcmp(what, "load") == 0 && load_fragment(s, in)) ||
                   (strcmp(what, "store") == 0 && store_fragment(s, in))
               ? CC_PTX_DONE
               : CC_PTX_UNKNOWN;
}

/* ---- ldmatrix, stmatrix, movmatrix ---- */

/* The value of lane `from`. */
static LLVMValueRef of_lane(struct cc_ptx_statement *s, LLVMValueRef value, LLVMValueRef from)
{
    LLVMValueRef argument[] = {cc_ptx_number(s, VGPU_SHFL_IDX, 32),
                               cc_ptx_number(s, 0xffffffff, 32),
                               value,
                               cc_ptx_bits(s, from, 32),
                               cc_ptx_number(s, 31, 32),
                               cc_ptx_site(s)};

    return cc_ptx_bits(s, cc_ptx_call(s, "vgpu_ptx_shfl", cc_int_type(s->l, 64), argument, 6), 32);
}

/* The place of a row, which lane `from` has given: in shared memory's form. */
static LLVMValueRef row_address(struct cc_ptx_statement *s, LLVMValueRef given, LLVMValueRef from)
{
    LLVMValueRef at = cc_ptx_bits(s, of_lane(s, given, from), 64);

    at = sum_of_two(s, at, number(s, VGPU_SHARED_VA));
    return LLVMBuildCast(s->b, LLVM_OP_INT_TO_PTR, at, cc_byte_pointer(s->l, 0), "");
}

/* sync.aligned.m8n8.x4{.trans}{.shared}.b16; 0: another instruction */
static unsigned count_matrices(const struct cc_ptx *in, bool *transposed, bool *shared)
{
    int at = 0;

    if (!cc_ptx_next_is(in, &at, "sync") || !cc_ptx_next_is(in, &at, "aligned") ||
        !cc_ptx_next_is(in, &at, "m8n8"))
        return 0;
    unsigned count = cc_ptx_next_is(in, &at, "x1")   ? 1
                     : cc_ptx_next_is(in, &at, "x2") ? 2
                     : cc_ptx_next_is(in, &at, "x4") ? 4
                                                     : 0;
    *transposed = cc_ptx_next_is(in, &at, "trans");
    *shared = at < in->qualifiers && is_shared_word(in->qualifier[at]);
    at += *shared;
    return cc_ptx_next_is(in, &at, "b16") && at == in->qualifiers ? count : 0;
}

/* Where this lane's half j of matrix i lies, or, not transposed, both halves. */
static LLVMValueRef half_address(struct cc_ptx_statement *s, const struct lane *lane,
                                 LLVMValueRef given, unsigned i, unsigned j, bool transposed)
{
    LLVMValueRef row =
        transposed ? sum_of_two(s, scaled_by(s, lane->place, 2), number(s, j)) : lane->group;
    LLVMValueRef base = row_address(s, given, sum_of_two(s, row, number(s, 8ull * i)));

    return transposed ? typed_address(s, base, scaled_by(s, lane->group, 2), 16)
                      : typed_address(s, base, scaled_by(s, lane->place, 4), 32);
}

static LLVMValueRef load_part(struct cc_ptx_statement *s, const struct lane *lane,
                              LLVMValueRef given, unsigned i, bool transposed)
{
    LLVMTypeRef word = cc_int_type(s->l, 32), half = cc_int_type(s->l, 16);

    if (!transposed)
        return LLVMBuildLoad2(s->b, word, half_address(s, lane, given, i, 0, false), "");
    LLVMValueRef low = half_address(s, lane, given, i, 0, true);
    LLVMValueRef high = half_address(s, lane, given, i, 1, true);
    low = cc_ptx_bits(s, LLVMBuildLoad2(s->b, half, low, ""), 32);
    high = cc_ptx_bits(s, LLVMBuildLoad2(s->b, half, high, ""), 32);
    high = cc_ptx_op(s, LLVM_OP_SHL, high, cc_ptx_number(s, 16, 32));
    return cc_ptx_op(s, LLVM_OP_OR, low, high);
}

static void store_part(struct cc_ptx_statement *s, const struct lane *lane, LLVMValueRef given,
                       unsigned i, bool transposed, LLVMValueRef value)
{
    LLVMValueRef at = half_address(s, lane, given, i, 0, transposed);

    if (!transposed) {
        LLVMBuildStore(s->b, value, at);
        return;
    }
    LLVMBuildStore(s->b, cc_ptx_bits(s, value, 16), at);
    value = cc_ptx_op(s, LLVM_OP_LSHR, value, cc_ptx_number(s, 16, 32));
    LLVMBuildStore(s->b, cc_ptx_bits(s, value, 16), half_address(s, lane, given, i, 1, true));
}

/* ldmatrix.sync.aligned.m8n8.x4.shared.b16 {r, ...}, [p]; stmatrix... [p], {r, ...}: lane l gives
 * the address of row l % 8 of matrix l / 8. */
static bool move_matrices(struct cc_ptx_statement *s, const struct cc_ptx *in, bool loads)
{
    bool transposed, shared;
    unsigned count = count_matrices(in, &transposed, &shared);

    if (count == 0 || in->operands != (int)count + 1)
        return false;
    LLVMValueRef given = cc_ptx_address(s, in->operand[loads ? count : 0], 0, shared);
    if (given == NULL)
        return false;
    given = LLVMBuildCast(s->b, LLVM_OP_PTR_TO_INT, given, cc_int_type(s->l, 64), "");
    given = cc_ptx_bits(s, cc_ptx_op(s, LLVM_OP_SUB, given, number(s, VGPU_SHARED_VA)), 32);
    struct lane lane = this_lane(s);
    LLVMValueRef *value = cc_alloc(count * sizeof *value);
    for (unsigned i = 0; i < count; i++) {
        value[i] = loads ? load_part(s, &lane, given, i, transposed)
                         : cc_ptx_operand(s, in->operand[i + 1], 32);
        if (value[i] == NULL)
            return false;
        if (!loads)
            store_part(s, &lane, given, i, transposed, value[i]);
    }
    for (unsigned i = 0; loads && i < count; i++)
        if (!cc_ptx_assign_bits(s, in->operand[i], value[i]))
            return false;
    return true;
}

/* movmatrix.sync.aligned.m8n8.trans.b16 d, a: half j of a lane comes from the row that has the
 * number of its place, of the lane that has the half of its group there. */
static bool transpose(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    static const char *const words[] = {"sync", "aligned", "m8n8", "trans", "b16"};
    LLVMValueRef a = in->operands == 2 ? cc_ptx_operand(s, in->operand[1], 32) : NULL, all = NULL;
    int at = 0;

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!cc_ptx_next_is(in, &at, words[i]))
            return false;
    if (a == NULL || at != in->qualifiers)
        return false;
    struct lane lane = this_lane(s);
    LLVMValueRef half = cc_ptx_op(s, LLVM_OP_AND, lane.group, number(s, 1));
    LLVMValueRef shift = cc_ptx_bits(s, scaled_by(s, half, 16), 32);
    for (unsigned j = 0; j < 2; j++) {
        LLVMValueRef row = sum_of_two(s, scaled_by(s, lane.place, 2), number(s, j));
        LLVMValueRef column = cc_ptx_op(s, LLVM_OP_LSHR, lane.group, number(s, 1));
        LLVMValueRef one = of_lane(s, a, sum_of_two(s, scaled_by(s, row, 4), column));
        one = cc_ptx_op(s, LLVM_OP_LSHR, one, shift);
        one = cc_ptx_op(s, LLVM_OP_AND, one, cc_ptx_number(s, 0xffff, 32));
        one = cc_ptx_op(s, LLVM_OP_SHL, one, cc_ptx_number(s, 16ull * j, 32));
        all = all == NULL ? one : cc_ptx_op(s, LLVM_OP_OR, all, one);
    }
    return cc_ptx_assign_bits(s, in->operand[0], all);
}

enum cc_ptx_known cc_ptx_matrix(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    if (cc_ptx_is(in, "wmma"))
        return wmma(s, in);
    if (cc_ptx_is(in, "ldmatrix") || cc_ptx_is(in, "stmatrix"))
        return move_matrices(s, in, cc_ptx_is(in, "ldmatrix")) ? CC_PTX_DONE : CC_PTX_UNKNOWN;
    if (cc_ptx_is(in, "movmatrix"))
        return transpose(s, in) ? CC_PTX_DONE : CC_PTX_UNKNOWN;
    return CC_PTX_NOT_MINE;
}
