/* SPDX-License-Identifier: MIT
 * ptx_cluster.c: clusters of blocks: their special registers, their barrier, and where a block's
 * shared memory is for the others (PTX ISA 9.0, chapters 9.7.9.23, 9.7.9.24, 9.7.13.4 and 10).
 */
#include <string.h>

#include "image.h"
#include "ptx.h"

static LLVMValueRef dimension(struct cc_ptx_statement *s, unsigned axis)
{
    LLVMValueRef which = cc_ptx_number(s, axis, 32);

    return cc_ptx_call(s, "vgpu_cluster_dim", cc_int_type(s->l, 32), &which, 1);
}

/* Component `axis` of %ctaid or %nctaid. */
static LLVMValueRef of_grid(struct cc_ptx_statement *s, enum vgpu_ptx_register first, unsigned axis)
{
    LLVMValueRef which = cc_ptx_number(s, first + axis, 32);

    return cc_ptx_call(s, "vgpu_ptx_register", cc_int_type(s->l, 32), &which, 1);
}

static LLVMValueRef block_index(struct cc_ptx_statement *s, unsigned axis)
{
    return cc_ptx_op(s, LLVM_OP_UREM, of_grid(s, VGPU_PTX_CTAID, axis), dimension(s, axis));
}

static LLVMValueRef multiplied(struct cc_ptx_statement *s, LLVMValueRef a, LLVMValueRef b)
{
    return cc_ptx_op(s, LLVM_OP_MULTIPLY, a, b);
}

static LLVMValueRef rank(struct cc_ptx_statement *s)
{
    LLVMValueRef row = cc_ptx_op(s, LLVM_OP_ADD, multiplied(s, block_index(s, 2), dimension(s, 1)),
                                 block_index(s, 1));

    return cc_ptx_op(s, LLVM_OP_ADD, multiplied(s, row, dimension(s, 0)), block_index(s, 0));
}

/* The axis of "NAME.x", NAME.y or NAME.z; -1: another name. */
static int axis_of(const char *word, const char *name)
{
    size_t length = strlen(name);
    const char *at = cc_starts(word, name) && word[length] == '.' ? word + length + 1 : "";

    return *at >= 'x' && *at <= 'z' && at[1] == 0 ? *at - 'x' : -1;
}

/* Null: it is no register of clusters, or one that is not known. */
static LLVMValueRef cluster_register(struct cc_ptx_statement *s, const char *name)
{
    int axis;

    if (strcmp(name, "%cluster_ctarank") == 0)
        return rank(s);
    if (strcmp(name, "%cluster_nctarank") == 0)
        return multiplied(s, multiplied(s, dimension(s, 0), dimension(s, 1)), dimension(s, 2));
    if ((axis = axis_of(name, "%cluster_ctaid")) >= 0)
        return block_index(s, (unsigned)axis);
    if ((axis = axis_of(name, "%cluster_nctaid")) >= 0)
        return dimension(s, (unsigned)axis);
    if ((axis = axis_of(name, "%clusterid")) >= 0)
        return cc_ptx_op(s, LLVM_OP_UDIV, of_grid(s, VGPU_PTX_CTAID, (unsigned)axis),
                         dimension(s, (unsigned)axis));
    if ((axis = axis_of(name, "%nclusterid")) >= 0)
        return cc_ptx_op(s, LLVM_OP_UDIV, of_grid(s, VGPU_PTX_NCTAID, (unsigned)axis),
                         dimension(s, (unsigned)axis));
    return NULL;
}

/* mov.u32 d, %cluster_ctarank */
static enum cc_ptx_known read_cluster_register(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    struct cc_ptx_type type;
    const char *name = in->operands == 2 ? in->operand[1] : "";

    if (!cc_starts(name, "%cluster") && !cc_starts(name, "%ncluster"))
        return CC_PTX_NOT_MINE;
    LLVMValueRef value = cluster_register(s, name);
    if (value == NULL || in->qualifiers != 1 || !cc_ptx_type(in->qualifier[0], &type) ||
        type.bits != 32)
        return CC_PTX_NOT_MINE;
    return cc_ptx_assign_bits(s, in->operand[0], value) ? CC_PTX_DONE : CC_PTX_UNKNOWN;
}

/* ---- the barrier ---- */

/* barrier.cluster.arrive{.release, .relaxed}{.aligned}, barrier.cluster.wait{.acquire}{.aligned} */
static enum cc_ptx_known meet_cluster(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    LLVMTypeRef nothing = LLVMVoidTypeInContext(s->l->context);
    LLVMValueRef site;
    int at = 2;

    if (in->operands != 0 || in->qualifiers < 2)
        return CC_PTX_UNKNOWN;
    bool arrives = strcmp(in->qualifier[1], "arrive") == 0;
    if (!arrives && strcmp(in->qualifier[1], "wait") != 0)
        return CC_PTX_UNKNOWN;
    at += at < in->qualifiers && (strcmp(in->qualifier[at], arrives ? "release" : "acquire") == 0 ||
                                  (arrives && strcmp(in->qualifier[at], "relaxed") == 0));
    at += at < in->qualifiers && strcmp(in->qualifier[at], "aligned") == 0;
    if (at != in->qualifiers)
        return CC_PTX_UNKNOWN;
    if (arrives) {
        cc_ptx_call(s, "vgpu_cluster_arrive", nothing, NULL, 0);
        return CC_PTX_DONE;
    }
    site = cc_ptx_site(s);
    cc_ptx_call(s, "vgpu_cluster_wait", nothing, &site, 1);
    return CC_PTX_DONE;
}

/* ---- shared memory of the cluster's blocks ---- */

/* {shared::cluster.}u32 or u64: the bits; 0: others */
static unsigned address_bits(const struct cc_ptx *in, bool *shared)
{
    *shared = in->qualifiers == 2 && strcmp(in->qualifier[0], "shared::cluster") == 0;
    if (in->qualifiers != 1 + *shared)
        return 0;
    const char *type = in->qualifier[in->qualifiers - 1];
    return strcmp(type, "u64") == 0 ? 64 : strcmp(type, "u32") == 0 ? 32 : 0;
}

/* mapa.u64 d, a, rank; mapa.shared::cluster.u32 d, a, rank */
static enum cc_ptx_known map(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    bool shared;
    unsigned bits = address_bits(in, &shared);

    if (bits == 0 || in->operands != 3 || (bits == 32 && !shared))
        return CC_PTX_UNKNOWN;
    LLVMValueRef address = cc_ptx_address(s, in->operand[1], 0, shared);
    LLVMValueRef which = cc_ptx_operand(s, in->operand[2], 32);
    if (address == NULL || which == NULL)
        return CC_PTX_UNKNOWN;
    LLVMValueRef argument[] = {address, which};
    LLVMValueRef there = cc_ptx_call(s, "vgpu_cluster_map", cc_byte_pointer(s->l, 0), argument, 2);
    there = cc_ptx_bits(s, there, 64);
    if (shared)
        there = cc_ptx_op(s, LLVM_OP_SUB, there, cc_ptx_number(s, VGPU_SHARED_VA, 64));
    return cc_ptx_assign_bits(s, in->operand[0], there) ? CC_PTX_DONE : CC_PTX_UNKNOWN;
}

/* getctarank.u64 d, a; getctarank.shared::cluster.u32 d, a */
static enum cc_ptx_known find_rank(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    bool shared;
    unsigned bits = address_bits(in, &shared);
    LLVMValueRef address = bits != 0 && in->operands == 2 && (bits == 64 || shared)
                               ? cc_ptx_address(s, in->operand[1], 0, shared)
                               : NULL;

    if (address == NULL)
        return CC_PTX_UNKNOWN;
    LLVMValueRef found = cc_ptx_call(s, "vgpu_cluster_rank_of", cc_int_type(s->l, 32), &address, 1);
    return cc_ptx_assign_bits(s, in->operand[0], found) ? CC_PTX_DONE : CC_PTX_UNKNOWN;
}

enum cc_ptx_known cc_ptx_cluster(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    if (cc_ptx_is(in, "mov"))
        return read_cluster_register(s, in);
    if (cc_ptx_is(in, "barrier") && in->qualifiers > 0 && strcmp(in->qualifier[0], "cluster") == 0)
        return meet_cluster(s, in);
    if (cc_ptx_is(in, "mapa"))
        return map(s, in);
    return cc_ptx_is(in, "getctarank") ? find_rank(s, in) : CC_PTX_NOT_MINE;
}
