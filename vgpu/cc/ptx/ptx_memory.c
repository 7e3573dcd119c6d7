/* SPDX-License-Identifier: MIT
 * ptx_memory.c: loads, stores and fences of PTX, as LLVM instructions or calls of vgpu-exec;
 * ptx_atomic.c has atomics.
 */
#include <string.h>

#include "image.h"
#include "ptx_memory.h"

struct meaning {
    const char *word;
    int is;
};

enum { VOLATILE = -1 };

static const struct meaning orders[] = {
    {"weak", LLVM_ORDER_NONE},
    {"volatile", VOLATILE},
    {"cv", VOLATILE},
    {"relaxed", LLVM_ORDER_MONOTONIC},
    {"acquire", LLVM_ORDER_ACQUIRE},
    {"release", LLVM_ORDER_RELEASE},
    {"acq_rel", LLVM_ORDER_ACQ_REL},
    {"sc", LLVM_ORDER_SEQ_CST},
};
/* The blocks of a cluster are together on a GPU. */
static const struct meaning scopes[] = {
    {"cta", 0}, {"cluster", 1}, {"gpu", 1}, {"gl", 1}, {"sys", 2}};
static const struct meaning operations[] = {{"add", VGPU_ATOMIC_ADD}, {"exch", VGPU_ATOMIC_EXCH},
                                            {"min", VGPU_ATOMIC_MIN}, {"max", VGPU_ATOMIC_MAX},
                                            {"inc", VGPU_ATOMIC_INC}, {"dec", VGPU_ATOMIC_DEC},
                                            {"and", VGPU_ATOMIC_AND}, {"or", VGPU_ATOMIC_OR},
                                            {"xor", VGPU_ATOMIC_XOR}, {"cas", VGPU_ATOMIC_CAS}};

/* Qualifiers that name a cache or a state space, without effect on the value: there are no such
 * caches here. */
static const char *const hints[] = {"global",
                                    "local",
                                    "const",
                                    "param",
                                    "param::entry",
                                    "param::func",
                                    "nc",
                                    "mmio",
                                    "ca",
                                    "cg",
                                    "cs",
                                    "lu",
                                    "wb",
                                    "wt",
                                    "L1::no_allocate",
                                    "L1::evict_last",
                                    "L1::evict_first",
                                    "L1::evict_normal",
                                    "L1::evict_unchanged",
                                    "L2::evict_last",
                                    "L2::evict_normal",
                                    "L2::evict_first",
                                    "L2::64B",
                                    "L2::128B",
                                    "L2::256B"};

static bool look_up(const struct meaning *table, size_t count, const char *word, int *is)
{
    for (size_t i = 0; i < count && *is == -2; i++)
        if (strcmp(table[i].word, word) == 0) {
            *is = table[i].is;
            return true;
        }
    return false;
}
#define LOOK_UP(table, word, is) look_up(table, sizeof(table) / sizeof *(table), word, is)

static bool is_hint(const char *word)
{
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (strcmp(hints[i], word) == 0)
            return true;
    return false;
}

static bool take_type(const char *word, struct cc_ptx_type *type)
{
    return type->bits == 0 && cc_ptx_type(word, type) && type->kind != 'p';
}

static bool take_shared(const char *word, bool *shared)
{
    bool is = strcmp(word, "shared") == 0 || strcmp(word, "shared::cta") == 0 ||
              strcmp(word, "shared::cluster") == 0;

    *shared |= is;
    return is;
}

/* Reads all qualifiers; an unknown one makes the instruction unknown. */
bool cc_ptx_read_access(const struct cc_ptx *in, struct cc_ptx_access *a)
{
    bool update = strcmp(in->name, "red") == 0 || strcmp(in->name, "atom") == 0;

    *a = (struct cc_ptx_access){-2, -2, -2, {0, 0}, 1, false, false};
    for (int i = 0; i < in->qualifiers; i++) {
        const char *word = in->qualifier[i];
        if (strcmp(word, "L2::cache_hint") == 0) {
            a->has_policy = true;
            continue;
        }
        if (update && strcmp(word, "noftz") == 0)
            continue;
        if (strcmp(word, "v2") == 0 || strcmp(word, "v4") == 0 || strcmp(word, "v8") == 0) {
            a->elements = word[1] - '0';
            continue;
        }
        if (update && LOOK_UP(operations, word, &a->operation))
            continue;
        if (!LOOK_UP(orders, word, &a->order) && !LOOK_UP(scopes, word, &a->scope) &&
            !take_type(word, &a->type) && !take_shared(word, &a->shared) && !is_hint(word))
            return false;
    }
    return true;
}

LLVMValueRef cc_ptx_element(struct cc_ptx_statement *s, const char *operand,
                            const struct cc_ptx_access *a, int element)
{
    uint64_t offset = (uint64_t)element * (a->type.bits / 8);
    LLVMValueRef at = cc_ptx_address(s, operand, offset, a->shared);

    return at == NULL ? NULL
                      : LLVMBuildPointerCast(
                            s->b, at, LLVMPointerType(cc_int_type(s->l, a->type.bits), 0), "");
}

static bool call_with_scope(struct cc_ptx_statement *s, const char *name, int scope)
{
    LLVMValueRef argument = cc_ptx_number(s, (uint64_t)scope, 32);

    cc_ptx_call(s, name, LLVMVoidTypeInContext(s->l->context), &argument, 1);
    return true;
}

bool cc_ptx_fence(struct cc_ptx_statement *s, int scope)
{
    return call_with_scope(s, "vgpu_fence", scope);
}

int cc_ptx_sequential(const struct cc_ptx_access *a)
{
    return a->order == LLVM_ORDER_SEQ_CST ? 0 : VGPU_ACQ_REL;
}

/* LLVM's accesses have the scope of the system. */
static void tell_scope(struct cc_ptx_statement *s, const struct cc_ptx_access *a)
{
    if (a->order >= LLVM_ORDER_MONOTONIC && a->scope >= 0 && a->scope < 2)
        call_with_scope(s, "vgpu_scope", a->scope);
}

/* ---- instructions ---- */

static void set_order(LLVMValueRef access, const struct cc_ptx_access *a, unsigned bits)
{
    if (a->order == VOLATILE)
        LLVMSetVolatile(access, 1);
    else if (a->order > LLVM_ORDER_NONE)
        LLVMSetOrdering(access, a->order);
    if (a->order != -2)
        LLVMSetAlignment(access, bits / 8);
}

LLVMValueRef cc_ptx_slot(struct cc_ptx_statement *s, unsigned bits, int elements)
{
    LLVMTypeRef type = LLVMArrayType(cc_int_type(s->l, bits), (unsigned)elements);
    LLVMBuilderRef b = s->entry;

    if (b == NULL) {
        LLVMBasicBlockRef first = LLVMGetEntryBasicBlock(s->function);
        b = LLVMCreateBuilderInContext(s->l->context);
        LLVMPositionBuilderBefore(b, LLVMGetFirstInstruction(first));
    }
    return LLVMBuildPointerCast(b, LLVMBuildAlloca(b, type, ""),
                                LLVMPointerType(cc_int_type(s->l, bits), 0), "");
}

/* Loads a volatile or atomic vector. */
static bool load_whole(struct cc_ptx_statement *s, const struct cc_ptx *in,
                       const struct cc_ptx_access *a)
{
    LLVMValueRef from = cc_ptx_address(s, in->operand[a->elements], 0, a->shared);
    LLVMTypeRef part = cc_int_type(s->l, a->type.bits);

    if (from == NULL)
        return false;
    LLVMValueRef to = cc_ptx_slot(s, a->type.bits, a->elements);
    LLVMValueRef argument[] = {LLVMBuildPointerCast(s->b, to, cc_byte_pointer(s->l, 0), ""), from,
                               cc_ptx_number(s, a->type.bits / 8, 32),
                               cc_ptx_number(s, (uint64_t)a->elements, 32)};
    cc_ptx_call(s, "vgpu_load_vector", LLVMVoidTypeInContext(s->l->context), argument, 4);
    for (int i = 0; i < a->elements; i++) {
        LLVMValueRef index = cc_ptx_number(s, (uint64_t)i, 64);
        LLVMValueRef at = LLVMBuildGEP2(s->b, part, to, &index, 1, "");
        if (!cc_ptx_assign_bits(s, in->operand[i], LLVMBuildLoad2(s->b, part, at, "")))
            return false;
    }
    return true;
}

/* Assigns to a register that may be wider than what was read. */
static bool assign_wide(struct cc_ptx_statement *s, const char *operand, LLVMValueRef value,
                        struct cc_ptx_type type)
{
    if (type.kind == 's' && type.bits < 64)
        value = LLVMBuildCast(s->b, LLVM_OP_SEXT, value, cc_int_type(s->l, 64), "");
    return cc_ptx_assign_bits(s, operand, value);
}

/* In a module a vector is one access, as Clang makes of one of CUDA's vector types. */
static bool is_one_access(const struct cc_ptx_statement *s, const struct cc_ptx_access *a)
{
    return s->call == NULL && a->elements > 1 && (a->order == LLVM_ORDER_NONE || a->order == -2) &&
           (unsigned)a->elements * a->type.bits <= 128;
}

static LLVMValueRef vector_address(struct cc_ptx_statement *s, const char *operand,
                                   const struct cc_ptx_access *a, LLVMTypeRef type)
{
    LLVMValueRef at = cc_ptx_address(s, operand, 0, a->shared);

    return at != NULL ? LLVMBuildPointerCast(s->b, at, LLVMPointerType(type, 0), "") : NULL;
}

static LLVMTypeRef vector_type(const struct cc_ptx_statement *s, const struct cc_ptx_access *a)
{
    return LLVMVectorType(cc_int_type(s->l, a->type.bits), (unsigned)a->elements);
}

static bool load_vector(struct cc_ptx_statement *s, const struct cc_ptx *in,
                        const struct cc_ptx_access *a)
{
    LLVMTypeRef type = vector_type(s, a);
    LLVMValueRef from = vector_address(s, in->operand[a->elements], a, type);

    if (from == NULL)
        return false;
    LLVMValueRef all = LLVMBuildLoad2(s->b, type, from, "");
    LLVMSetAlignment(all, (unsigned)a->elements * a->type.bits / 8);
    for (int i = 0; i < a->elements; i++) {
        LLVMValueRef index = cc_ptx_number(s, (uint64_t)i, 32);
        LLVMValueRef one = LLVMBuildExtractElement(s->b, all, index, "");
        if (!assign_wide(s, in->operand[i], one, a->type))
            return false;
    }
    return true;
}

static bool store_vector(struct cc_ptx_statement *s, const struct cc_ptx *in,
                         const struct cc_ptx_access *a)
{
    LLVMTypeRef type = vector_type(s, a);
    LLVMValueRef to = vector_address(s, in->operand[0], a, type), all = LLVMGetUndef(type);

    for (int i = 0; i < a->elements && to != NULL; i++) {
        LLVMValueRef one = cc_ptx_operand(s, in->operand[i + 1], a->type.bits);
        if (one == NULL)
            return false;
        all = LLVMBuildInsertElement(s->b, all, one, cc_ptx_number(s, (uint64_t)i, 32), "");
    }
    if (to != NULL)
        LLVMSetAlignment(LLVMBuildStore(s->b, all, to), (unsigned)a->elements * a->type.bits / 8);
    return to != NULL;
}

/* 128 bits: with an order, as a vector of two words. */
static bool load_quad(struct cc_ptx_statement *s, const struct cc_ptx *in,
                      const struct cc_ptx_access *a)
{
    LLVMTypeRef quad = cc_int_type(s->l, 128);
    LLVMValueRef from = cc_ptx_address(s, in->operand[1], 0, a->shared);

    if (from == NULL || a->elements != 1)
        return false;
    if (a->order != LLVM_ORDER_NONE && a->order != -2) {
        LLVMValueRef to = cc_ptx_slot(s, 64, 2);
        LLVMValueRef argument[] = {LLVMBuildPointerCast(s->b, to, cc_byte_pointer(s->l, 0), ""),
                                   from, cc_ptx_number(s, 8, 32), cc_ptx_number(s, 2, 32)};
        cc_ptx_call(s, "vgpu_load_vector", LLVMVoidTypeInContext(s->l->context), argument, 4);
        from = to;
    }
    from = LLVMBuildPointerCast(s->b, from, LLVMPointerType(quad, 0), "");
    LLVMValueRef value = LLVMBuildLoad2(s->b, quad, from, "");
    LLVMSetAlignment(value, a->order != LLVM_ORDER_NONE && a->order != -2 ? 8 : 16);
    return cc_ptx_assign_bits(s, in->operand[0], value);
}

static bool load(struct cc_ptx_statement *s, const struct cc_ptx *in, const struct cc_ptx_access *a)
{
    unsigned bits = a->type.bits;

    if (bits == 0 || in->operands != a->elements + 1)
        return false;
    if (bits == 128)
        return load_quad(s, in, a);
    if (a->elements > 1 && a->order != LLVM_ORDER_NONE && a->order != -2)
        return load_whole(s, in, a);
    if (is_one_access(s, a))
        return load_vector(s, in, a);
    for (int i = 0; i < a->elements; i++) {
        LLVMValueRef from = cc_ptx_element(s, in->operand[a->elements], a, i);
        if (from == NULL)
            return false;
        tell_scope(s, a);
        LLVMValueRef value = LLVMBuildLoad2(s->b, cc_int_type(s->l, bits), from, "");
        set_order(value, a, bits);
        if (!assign_wide(s, in->operand[i], value, a->type))
            return false;
    }
    return true;
}

static bool store_quad(struct cc_ptx_statement *s, const struct cc_ptx *in,
                       const struct cc_ptx_access *a)
{
    struct cc_ptx_access word = *a;
    LLVMValueRef value = cc_ptx_operand(s, in->operand[1], 128);

    if (value == NULL || a->elements != 1)
        return false;
    word.type.bits = 64;
    for (int i = 0; i < 2; i++) {
        LLVMValueRef to = cc_ptx_element(s, in->operand[0], &word, i);
        if (to == NULL)
            return false;
        tell_scope(s, a);
        LLVMValueRef half =
            cc_ptx_op(s, LLVM_OP_LSHR, value, cc_ptx_number(s, 64 * (uint64_t)i, 128));
        set_order(LLVMBuildStore(s->b, cc_ptx_bits(s, half, 64), to), a, 64);
    }
    return true;
}

static bool store(struct cc_ptx_statement *s, const struct cc_ptx *in,
                  const struct cc_ptx_access *a)
{
    unsigned bits = a->type.bits;

    if (bits == 0 || in->operands != a->elements + 1)
        return false;
    if (bits == 128)
        return store_quad(s, in, a);
    if (is_one_access(s, a))
        return store_vector(s, in, a);
    for (int i = 0; i < a->elements; i++) {
        LLVMValueRef to = cc_ptx_element(s, in->operand[0], a, i);
        LLVMValueRef value = cc_ptx_operand(s, in->operand[i + 1], bits);
        if (to == NULL || value == NULL)
            return false;
        tell_scope(s, a);
        set_order(LLVMBuildStore(s->b, value, to), a, bits);
    }
    return true;
}

/* Instructions without effect here: cache hints, overlap with the previous kernel, and how many
 * registers a warp has. The data of
 * a discarded line are undefined, so they may also stay. */
static bool is_hint_only(const struct cc_ptx *in)
{
    if (cc_ptx_is(in, "griddepcontrol"))
        return in->operands == 0;
    if (cc_ptx_is(in, "setmaxnreg"))
        return in->operands == 1;
    return (cc_ptx_is(in, "prefetch") || cc_ptx_is(in, "prefetchu") || cc_ptx_is(in, "discard") ||
            cc_ptx_is(in, "applypriority")) &&
           in->operands >= 1;
}

/* fence.proxy.async, fence.mbarrier_init.release.cluster, membar.proxy.alias: order hardware units
 * that do not exist here; a fence of block scope is enough. */
static bool is_proxy_fence(const struct cc_ptx *in)
{
    return (cc_ptx_is(in, "fence") || cc_ptx_is(in, "membar")) && in->operands == 0 &&
           in->qualifiers > 0 &&
           (strcmp(in->qualifier[0], "proxy") == 0 ||
            strcmp(in->qualifier[0], "mbarrier_init") == 0 ||
            (in->qualifiers == 3 && cc_starts(in->qualifier[1], "sync_restrict::")));
}

/* A hint to wait briefly: reading the clock lets other threads run. */
static bool sleep(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    if (in->operands != 1 || cc_ptx_operand(s, in->operand[0], 32) == NULL)
        return false;
    cc_ptx_call(s, "vgpu_clock64", cc_int_type(s->l, 64), NULL, 0);
    return true;
}

/* createpolicy...b64 d: no cache reads the policy. */
static bool make_policy(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    return in->operands >= 1 && cc_ptx_assign_bits(s, in->operand[0], cc_ptx_number(s, 0, 64));
}

static bool carry_out_access(struct cc_ptx_statement *s, const struct cc_ptx *whole)
{
    struct cc_ptx_access a;
    struct cc_ptx without = *whole;
    const struct cc_ptx *in = &without;

    /* Multicast memory does not exist here; with any other address the instruction faults. */
    if ((cc_ptx_is(in, "trap") && in->operands == 0) || cc_ptx_is(in, "multimem")) {
        cc_ptx_call(s, "vgpu_trap", LLVMVoidTypeInContext(s->l->context), NULL, 0);
        return true;
    }
    if (is_hint_only(in))
        return true;
    if (cc_ptx_is(in, "nanosleep"))
        return sleep(s, in);
    if (is_proxy_fence(in))
        return cc_ptx_fence(s, VGPU_ACQ_REL);
    if (cc_ptx_is(in, "createpolicy"))
        return make_policy(s, in);
    if (!cc_ptx_read_access(in, &a))
        return false;
    without.operands -= a.has_policy;
    if (cc_ptx_is(in, "membar"))
        return in->operands == 0 && a.scope >= 0 && cc_ptx_fence(s, a.scope);
    if (cc_ptx_is(in, "fence"))
        return in->operands == 0 && a.scope >= 0 &&
               cc_ptx_fence(s, a.scope | cc_ptx_sequential(&a));
    if (cc_ptx_is(in, "ld") || cc_ptx_is(in, "ldu"))
        return load(s, in, &a);
    if (cc_ptx_is(in, "st"))
        return store(s, in, &a);
    return (cc_ptx_is(in, "red") || cc_ptx_is(in, "atom")) && cc_ptx_update(s, in, &a);
}

enum cc_ptx_known cc_ptx_memory(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    return carry_out_access(s, in) ? CC_PTX_DONE : CC_PTX_UNKNOWN;
}
