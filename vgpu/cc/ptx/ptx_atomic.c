/* SPDX-License-Identifier: MIT
 * ptx_atomic.c: atom and red of PTX, as calls of vgpu-exec. Release or acquire semantics of one
 * become a fence of its scope.
 */
#include <string.h>

#include "image.h"
#include "ptx_memory.h"

/* vgpu_atomic's constant for the type; -1: it has none. */
static int word_type(struct cc_ptx_type type)
{
    bool wide = type.bits == 64;

    if (type.bits < 32 || strchr("usf", type.kind) == NULL)
        return -1;
    return type.kind == 'f'   ? (wide ? VGPU_F64 : VGPU_F32)
           : type.kind == 's' ? (wide ? VGPU_I64 : VGPU_I32)
                              : (wide ? VGPU_U64 : VGPU_U32);
}

/* vgpu_atomic_half's; -1: it has none for the operation. */
static int half_type(const struct cc_ptx_access *a)
{
    bool bits = a->operation == VGPU_ATOMIC_CAS || a->operation == VGPU_ATOMIC_EXCH;
    bool of_numbers =
        a->operation == VGPU_ATOMIC_ADD ||
        (a->elements > 1 && (a->operation == VGPU_ATOMIC_MIN || a->operation == VGPU_ATOMIC_MAX));

    if (a->type.bits == 16 && strchr("us", a->type.kind) != NULL)
        return bits ? VGPU_HALF_BITS : -1;
    if (!of_numbers)
        return -1;
    return a->type.kind == 'F'   ? VGPU_HALF_F16
           : a->type.kind == 'G' ? VGPU_HALF_BF16
           : a->type.kind == 'X' ? VGPU_TWO_F16
           : a->type.kind == 'Y' ? VGPU_TWO_BF16
                                 : -1;
}

static bool releases(const struct cc_ptx_access *a)
{
    return a->order == LLVM_ORDER_RELEASE || a->order == LLVM_ORDER_ACQ_REL ||
           a->order == LLVM_ORDER_SEQ_CST;
}

static bool acquires(const struct cc_ptx_access *a)
{
    return a->order == LLVM_ORDER_ACQUIRE || a->order == LLVM_ORDER_ACQ_REL ||
           a->order == LLVM_ORDER_SEQ_CST;
}

static int scope_number(const struct cc_ptx_access *a)
{
    return a->scope >= 0 ? a->scope : 1;
}

static LLVMValueRef acquiring_scope(struct cc_ptx_statement *s, const struct cc_ptx_access *a)
{
    return cc_ptx_number(s, (uint64_t)(scope_number(a) | (acquires(a) ? VGPU_ACQUIRES : 0)), 32);
}

static LLVMValueRef updated_half(struct cc_ptx_statement *s, const struct cc_ptx_access *a,
                                 LLVMValueRef at, LLVMValueRef value, LLVMValueRef compare)
{
    LLVMValueRef argument[] = {cc_ptx_number(s, (uint64_t)a->operation, 32),
                               cc_ptx_number(s, (uint64_t)half_type(a), 32),
                               at,
                               cc_ptx_bits(s, value, 32),
                               cc_ptx_bits(s, compare, 32),
                               acquiring_scope(s, a)};

    return cc_ptx_call(s, "vgpu_atomic_half", cc_int_type(s->l, 32), argument, 6);
}

static LLVMValueRef upper_word(struct cc_ptx_statement *s, LLVMValueRef value)
{
    return cc_ptx_bits(s, cc_ptx_op(s, LLVM_OP_LSHR, value, cc_ptx_number(s, 64, 128)), 64);
}

static LLVMValueRef updated_quad(struct cc_ptx_statement *s, const struct cc_ptx_access *a,
                                 LLVMValueRef at, LLVMValueRef value, LLVMValueRef compare)
{
    LLVMTypeRef quad = cc_int_type(s->l, 128);
    LLVMValueRef old = cc_ptx_slot(s, 64, 2), both = cc_ptx_bits(s, compare, 128);
    LLVMValueRef argument[] = {cc_ptx_number(s, (uint64_t)a->operation, 32),
                               at,
                               cc_ptx_bits(s, value, 64),
                               upper_word(s, value),
                               cc_ptx_bits(s, both, 64),
                               upper_word(s, both),
                               old,
                               acquiring_scope(s, a)};

    cc_ptx_call(s, "vgpu_atomic_wide", LLVMVoidTypeInContext(s->l->context), argument, 8);
    old = LLVMBuildLoad2(s->b, quad, LLVMBuildPointerCast(s->b, old, LLVMPointerType(quad, 0), ""),
                         "");
    LLVMSetAlignment(old, 8);
    return old;
}

static LLVMValueRef updated_word(struct cc_ptx_statement *s, const struct cc_ptx_access *a,
                                 LLVMValueRef at, LLVMValueRef value, LLVMValueRef compare)
{
    LLVMValueRef argument[] = {cc_ptx_number(s, (uint64_t)a->operation, 32),
                               cc_ptx_number(s, (uint64_t)word_type(a->type), 32),
                               at,
                               cc_ptx_bits(s, value, 64),
                               cc_ptx_bits(s, compare, 64),
                               acquiring_scope(s, a)};

    return cc_ptx_call(s, "vgpu_atomic", cc_int_type(s->l, 64), argument, 6);
}

/* One element; of a vector each is updated by itself. What was there; null: it is not understood.
 */
static LLVMValueRef updated(struct cc_ptx_statement *s, const struct cc_ptx *in,
                            const struct cc_ptx_access *a, int element)
{
    int returns = strcmp(in->name, "atom") == 0, cas = a->operation == VGPU_ATOMIC_CAS;
    int first = returns * a->elements; /* the address */
    unsigned bits = a->type.bits;
    LLVMValueRef at = cc_ptx_element(s, in->operand[first], a, element);
    LLVMValueRef value = cc_ptx_operand(s, in->operand[first + 1 + cas + element], bits);
    LLVMValueRef compare =
        cas ? cc_ptx_operand(s, in->operand[first + 1], bits) : cc_ptx_number(s, 0, 64);

    if (at == NULL || value == NULL || compare == NULL)
        return NULL;
    at = LLVMBuildPointerCast(s->b, at, cc_byte_pointer(s->l, 0), "");
    if (half_type(a) >= 0)
        return updated_half(s, a, at, value, compare);
    return bits == 128 ? updated_quad(s, a, at, value, compare)
                       : updated_word(s, a, at, value, compare);
}

static bool is_offered(const struct cc_ptx_access *a)
{
    bool exchanges = a->operation == VGPU_ATOMIC_CAS || a->operation == VGPU_ATOMIC_EXCH;
    bool sums = a->type.kind == 'f' && a->type.bits == 32 && a->operation == VGPU_ATOMIC_ADD;

    if (half_type(a) >= 0)
        return a->elements == 1 || a->type.kind != 'u';
    if (a->type.bits == 128)
        return exchanges && a->elements == 1;
    return word_type(a->type) >= 0 && (a->elements == 1 || (sums && a->elements <= 4));
}

bool cc_ptx_bulk_of(const struct cc_ptx *in, struct cc_ptx_bulk *bulk)
{
    struct cc_ptx plain = {.name = "red"};
    struct cc_ptx_access a;

    for (int i = 0; i < in->qualifiers; i++)
        if (strstr(" reduce async bulk bulk_group shared::cta mbarrier::complete_tx::bytes ",
                   cc_format(" %s ", in->qualifier[i])) == NULL)
            plain.qualifier[plain.qualifiers++] = in->qualifier[i];
    if (!cc_ptx_read_access(&plain, &a) || a.operation < 0 || a.operation == VGPU_ATOMIC_CAS ||
        a.operation == VGPU_ATOMIC_EXCH || a.elements != 1 || a.type.bits > 64)
        return false;
    a.elements = 2; /* then min and max of halves are known, too */
    bulk->operation = a.operation;
    bulk->halves = half_type(&a) >= 0;
    bulk->type = bulk->halves ? half_type(&a) : word_type(a.type);
    return bulk->type >= 0;
}

/* atom d, [a], b; atom.cas d, [a], b, c; red [a], b; atom.v2.f32.add {d, e}, [a], {b, c} */
bool cc_ptx_update(struct cc_ptx_statement *s, const struct cc_ptx *in,
                   const struct cc_ptx_access *a)
{
    int returns = strcmp(in->name, "atom") == 0, cas = a->operation == VGPU_ATOMIC_CAS;
    LLVMValueRef old[8];

    if (a->operation < 0 || !is_offered(a) ||
        in->operands != returns * a->elements + 1 + cas + a->elements)
        return false;
    if (releases(a))
        cc_ptx_fence(s, scope_number(a) | cc_ptx_sequential(a));
    for (int i = 0; i < a->elements; i++)
        if ((old[i] = updated(s, in, a, i)) == NULL)
            return false;
    for (int i = 0; i < a->elements && returns; i++)
        if (!cc_ptx_assign_bits(s, in->operand[i], old[i]))
            return false;
    return true;
}
