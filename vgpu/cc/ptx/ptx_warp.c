/* SPDX-License-Identifier: MIT
 * ptx_warp.c: PTX instructions that lanes of a warp, or threads of a block, execute together;
 * special registers.
 */
#include <string.h>

#include "image.h"
#include "ptx_module.h"

/* All qualifiers, each after a dot. */
static const char *mode_of(const struct cc_ptx *in)
{
    const char *mode = "";

    for (int i = 0; i < in->qualifiers; i++)
        mode = cc_format("%s.%s", mode, in->qualifier[i]);
    return mode;
}

static enum cc_ptx_known known_if(bool done)
{
    return done ? CC_PTX_DONE : CC_PTX_UNKNOWN;
}

struct word {
    const char *word;
    int is;
};

/* The value of the word in the table; -1: none. */
static int meaning_of(const struct word *table, size_t count, const char *word)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(table[i].word, word) == 0)
            return table[i].is;
    return -1;
}
#define MEANING_OF(table, word) meaning_of(table, sizeof(table) / sizeof *(table), word)

static LLVMValueRef upper_half(struct cc_ptx_statement *s, LLVMValueRef both)
{
    return LLVMBuildBinOp(s->b, LLVM_OP_LSHR, both, cc_ptx_number(s, 32, 64), "");
}

/* shfl.sync.up.b32 d|p, a, b, c, mask */
static enum cc_ptx_known shuffle(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    static const struct word modes[] = {{".sync.idx.b32", VGPU_SHFL_IDX},
                                        {".sync.up.b32", VGPU_SHFL_UP},
                                        {".sync.down.b32", VGPU_SHFL_DOWN},
                                        {".sync.bfly.b32", VGPU_SHFL_XOR}};
    int kind = MEANING_OF(modes, mode_of(in));

    if (kind < 0 || in->operands != 5)
        return CC_PTX_UNKNOWN;
    LLVMValueRef value[4]; /* a, b, c, mask */
    for (int i = 0; i < 4; i++)
        if ((value[i] = cc_ptx_operand(s, in->operand[i + 1], 32)) == NULL)
            return CC_PTX_UNKNOWN;
    LLVMValueRef argument[] = {cc_ptx_number(s, (uint64_t)kind, 32),
                               value[3],
                               value[0],
                               value[1],
                               value[2],
                               cc_ptx_site(s)};
    LLVMValueRef both = cc_ptx_call(s, "vgpu_ptx_shfl", cc_int_type(s->l, 64), argument, 6);
    return known_if(
        cc_ptx_assign_bits(s, in->operand[0], cc_ptx_bits(s, both, 32)) &&
        (*in->predicate == 0 || cc_ptx_assign_predicate(s, in->predicate, upper_half(s, both))));
}

static LLVMValueRef vote_of(struct cc_ptx_statement *s, int kind, LLVMValueRef mask,
                            LLVMValueRef predicate)
{
    LLVMValueRef argument[] = {cc_ptx_number(s, (uint64_t)kind, 32), mask,
                               cc_ptx_bits(s, predicate, 32), cc_ptx_site(s)};

    return cc_ptx_call(s, "vgpu_vote", cc_int_type(s->l, 32), argument, 4);
}

/* vote.sync.ballot.b32 d, p, mask; vote.sync.all.pred p, q, mask */
static enum cc_ptx_known vote(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    enum { UNIFORM = 100 };
    static const struct word modes[] = {{".sync.all.pred", VGPU_VOTE_ALL},
                                        {".sync.any.pred", VGPU_VOTE_ANY},
                                        {".sync.uni.pred", UNIFORM},
                                        {".sync.ballot.b32", VGPU_VOTE_BALLOT},
                                        {".ballot.sync.b32", VGPU_VOTE_BALLOT}}; /* CUB's */
    int kind = MEANING_OF(modes, mode_of(in));

    if (kind < 0 || in->operands != 3)
        return CC_PTX_UNKNOWN;
    LLVMValueRef predicate = cc_ptx_predicate(s, in->operand[1]);
    LLVMValueRef mask = cc_ptx_operand(s, in->operand[2], 32);
    if (predicate == NULL || mask == NULL)
        return CC_PTX_UNKNOWN;
    LLVMValueRef result = vote_of(s, kind == UNIFORM ? VGPU_VOTE_ALL : kind, mask, predicate);
    if (kind == VGPU_VOTE_BALLOT)
        return known_if(cc_ptx_assign_bits(s, in->operand[0], result));
    if (kind == UNIFORM) {
        LLVMValueRef any = vote_of(s, VGPU_VOTE_ANY, mask, predicate);
        any = LLVMBuildBinOp(s->b, LLVM_OP_XOR, any, cc_ptx_number(s, 1, 32), "");
        result = LLVMBuildBinOp(s->b, LLVM_OP_OR, result, any, "");
    }
    return known_if(cc_ptx_assign_predicate(s, in->operand[0], result));
}

/* match.any.sync.b32 d, a, mask; match.all.sync.b32 d|p, a, mask */
static enum cc_ptx_known match(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    static const struct word modes[] = {
        {".any.sync.b32", 32}, {".any.sync.b64", 64}, {".all.sync.b32", 33}, {".all.sync.b64", 65}};
    int bits = MEANING_OF(modes, mode_of(in));

    if (bits < 0 || in->operands != 3)
        return CC_PTX_UNKNOWN;
    LLVMValueRef value = cc_ptx_operand(s, in->operand[1], (unsigned)bits & ~1u);
    LLVMValueRef mask = cc_ptx_operand(s, in->operand[2], 32);
    if (value == NULL || mask == NULL)
        return CC_PTX_UNKNOWN;
    LLVMValueRef argument[] = {cc_ptx_number(s, (uint64_t)bits & 1, 32), mask,
                               cc_ptx_bits(s, value, 64), cc_ptx_site(s)};
    LLVMValueRef same = cc_ptx_call(s, "vgpu_ptx_match", cc_int_type(s->l, 32), argument, 4);
    return known_if(
        cc_ptx_assign_bits(s, in->operand[0], same) &&
        (*in->predicate == 0 || (bits & 1 && cc_ptx_assign_predicate(s, in->predicate, same))));
}

/* redux.sync.add.s32 d, a, mask */
static enum cc_ptx_known reduce(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    static const struct word operations[] = {{"add", VGPU_PTX_ADD}, {"min", VGPU_PTX_MIN},
                                             {"max", VGPU_PTX_MAX}, {"and", VGPU_PTX_AND},
                                             {"or", VGPU_PTX_OR},   {"xor", VGPU_PTX_XOR}};
    struct cc_ptx_type type;

    if (in->qualifiers != 3 || in->operands != 3 || strcmp(in->qualifier[0], "sync") != 0 ||
        !cc_ptx_type(in->qualifier[2], &type) || type.bits != 32 || strchr("us", type.kind) == NULL)
        return CC_PTX_UNKNOWN;
    int operation = MEANING_OF(operations, in->qualifier[1]);
    LLVMValueRef value = cc_ptx_operand(s, in->operand[1], 32),
                 mask = cc_ptx_operand(s, in->operand[2], 32);
    if (operation < 0 || value == NULL || mask == NULL)
        return CC_PTX_UNKNOWN;
    LLVMValueRef argument[] = {
        cc_ptx_number(s, (uint64_t)operation, 32),
        cc_ptx_number(s, type.kind == 's' ? VGPU_PTX_SIGNED : VGPU_PTX_UNSIGNED, 32), mask, value,
        cc_ptx_site(s)};
    return known_if(cc_ptx_assign_bits(
        s, in->operand[0], cc_ptx_call(s, "vgpu_ptx_redux", cc_int_type(s->l, 32), argument, 5)));
}

/* elect.sync d|p, mask */
static enum cc_ptx_known elect(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    LLVMValueRef mask = in->operands == 2 ? cc_ptx_operand(s, in->operand[1], 32) : NULL;

    if (mask == NULL || strcmp(mode_of(in), ".sync") != 0 || *in->predicate == 0)
        return CC_PTX_UNKNOWN;
    LLVMValueRef argument[] = {mask, cc_ptx_site(s)};
    LLVMValueRef both = cc_ptx_call(s, "vgpu_ptx_elect", cc_int_type(s->l, 64), argument, 2);
    return known_if(cc_ptx_assign_bits(s, in->operand[0], cc_ptx_bits(s, both, 32)) &&
                    cc_ptx_assign_predicate(s, in->predicate, upper_half(s, both)));
}

/* Barrier 0 of all threads, whose number is a constant: __syncthreads. */
static bool is_of_block(LLVMValueRef number, bool counts)
{
    return !counts && LLVMIsAConstantInt(number) != NULL && LLVMConstIntGetZExtValue(number) == 0;
}

/* Another one; op: as vgpu_syncthreads_reduce's */
static LLVMValueRef meet_at(struct cc_ptx_statement *s, int op, LLVMValueRef number,
                            LLVMValueRef count, LLVMValueRef predicate)
{
    LLVMValueRef argument[] = {cc_ptx_number(s, (uint64_t)op, 32), number, count,
                               cc_ptx_bits(s, predicate, 32), cc_ptx_site(s)};

    return cc_ptx_call(s, "vgpu_barrier", cc_int_type(s->l, 32), argument, 5);
}

/* bar.red.popc.u32 d, 0, p; bar.red.and.pred p, 0, q; bar.red.or.pred p, 1, 64, q */
static enum cc_ptx_known meet_and_reduce(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    static const struct word modes[] = {{"popc", 0}, {"and", 1}, {"or", 2}};
    int mode = -1;

    for (int i = 0; i < in->qualifiers && mode < 0; i++)
        mode = MEANING_OF(modes, in->qualifier[i]);
    bool counts = in->operands == 4;
    LLVMValueRef number =
        counts || in->operands == 3 ? cc_ptx_operand(s, in->operand[1], 32) : NULL;
    LLVMValueRef predicate = number != NULL ? cc_ptx_predicate(s, in->operand[2 + counts]) : NULL;
    LLVMValueRef count = counts ? cc_ptx_operand(s, in->operand[2], 32) : cc_ptx_number(s, 0, 32);
    if (mode < 0 || predicate == NULL || count == NULL)
        return CC_PTX_UNKNOWN;
    LLVMValueRef argument[] = {cc_ptx_number(s, (uint64_t)mode, 32), cc_ptx_bits(s, predicate, 32),
                               cc_ptx_site(s)};
    LLVMValueRef made =
        is_of_block(number, counts)
            ? cc_ptx_call(s, "vgpu_syncthreads_reduce", cc_int_type(s->l, 32), argument, 3)
            : meet_at(s, mode, number, count, predicate);
    return known_if(mode == 0 ? cc_ptx_assign_bits(s, in->operand[0], made)
                              : cc_ptx_assign_predicate(s, in->operand[0], made));
}

/* bar.arrive 1, 64 */
static enum cc_ptx_known arrive_only(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    LLVMValueRef number = in->operands == 2 ? cc_ptx_operand(s, in->operand[0], 32) : NULL,
                 count = number != NULL ? cc_ptx_operand(s, in->operand[1], 32) : NULL;

    if (count == NULL)
        return CC_PTX_UNKNOWN;
    LLVMValueRef argument[] = {number, count, cc_ptx_site(s)};
    cc_ptx_call(s, "vgpu_barrier_arrive", LLVMVoidTypeInContext(s->l->context), argument, 3);
    return CC_PTX_DONE;
}

/* bar.sync 0, of all threads of a block; barrier.sync 1, 64; bar.warp.sync mask */
static enum cc_ptx_known meet(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    static const struct word modes[] = {{".sync", 1},
                                        {".sync.aligned", 1},
                                        {".cta.sync", 1},
                                        {".cta.sync.aligned", 1},
                                        {".warp.sync", 2},
                                        {".arrive", 3},
                                        {".arrive.aligned", 3},
                                        {".cta.arrive", 3},
                                        {".cta.arrive.aligned", 3}};
    int mode = MEANING_OF(modes, mode_of(in));
    LLVMTypeRef nothing = LLVMVoidTypeInContext(s->l->context);
    bool counts = in->operands == 2;

    if (mode == 3)
        return arrive_only(s, in);
    LLVMValueRef number =
        counts || in->operands == 1 ? cc_ptx_operand(s, in->operand[0], 32) : NULL;
    LLVMValueRef count = counts ? cc_ptx_operand(s, in->operand[1], 32) : cc_ptx_number(s, 0, 32);
    if (mode < 0 || number == NULL || count == NULL || (mode == 2 && counts))
        return CC_PTX_UNKNOWN;
    if (mode == 2) {
        LLVMValueRef argument[] = {number, cc_ptx_site(s)};
        cc_ptx_call(s, "vgpu_syncwarp", nothing, argument, 2);
        return CC_PTX_DONE;
    }
    if (!is_of_block(number, counts)) {
        meet_at(s, 0, number, count, cc_ptx_number(s, 0, 1));
        return CC_PTX_DONE;
    }
    LLVMValueRef site = cc_ptx_site(s);
    cc_ptx_call(s, "vgpu_syncthreads", nothing, &site, 1);
    return CC_PTX_DONE;
}

/* ---- special registers ---- */

/* The variable of that name in vgpu-exec. */
static LLVMValueRef own_variable(struct cc_ptx_statement *s, const char *name, LLVMTypeRef type)
{
    LLVMValueRef found = LLVMGetNamedGlobal(s->l->module, name);

    if (found == NULL) {
        found = LLVMAddGlobal(s->l->module, type, name);
        LLVMSetGlobalConstant(found, 1);
    }
    return LLVMConstPointerCast(found, LLVMPointerType(type, 0));
}

/* In a module %tid.x and its like are variables, as in CUDA's code: the fast form knows them. */
static LLVMValueRef read_index(struct cc_ptx_statement *s, int number)
{
    static const char *const names[] = {"threadIdx", "blockDim", "blockIdx", "gridDim"};
    LLVMTypeRef word = cc_int_type(s->l, 32), three = LLVMArrayType(word, 3);
    LLVMValueRef index[] = {cc_ptx_number(s, 0, 32), cc_ptx_number(s, (uint64_t)number % 3, 32)};

    return LLVMBuildLoad2(
        s->b, word,
        LLVMConstInBoundsGEP2(three, own_variable(s, names[number / 3], three), index, 2), "");
}

LLVMValueRef cc_ptx_lane(struct cc_ptx_statement *s)
{
    LLVMValueRef number = read_index(s, VGPU_PTX_TID + 2);

    for (int i = 1; i >= 0; i--) {
        number = cc_ptx_op(s, LLVM_OP_MULTIPLY, number, read_index(s, VGPU_PTX_NTID + i));
        number = cc_ptx_op(s, LLVM_OP_ADD, number, read_index(s, VGPU_PTX_TID + i));
    }
    return cc_ptx_op(s, LLVM_OP_AND, number, cc_ptx_number(s, 31, 32));
}

/* %envreg2 and %envreg1 are the halves of the address where the blocks of a cooperative grid meet,
 * 0 in other grids. */
static LLVMValueRef read_workspace(struct cc_ptx_statement *s, bool upper)
{
    static const char name[] = "vgpu_grid_workspace";
    LLVMTypeRef word = cc_int_type(s->l, 32), bytes = LLVMArrayType(cc_int_type(s->l, 64), 2);
    LLVMValueRef place = LLVMGetNamedGlobal(s->l->module, name);

    if (place == NULL) {
        place = LLVMAddGlobalInAddressSpace(s->l->module, bytes, name, 1);
        LLVMSetInitializer(place, LLVMConstNull(bytes));
        LLVMSetExternallyInitialized(place, 1);
        LLVMSetAlignment(place, 16);
    }
    LLVMValueRef address = cc_ptx_operand(s, name, 64);
    LLVMValueRef is = LLVMBuildLoad2(s->b, word, own_variable(s, "vgpu_cooperative", word), "");
    is = LLVMBuildICmp(s->b, CC_PTX_EQUAL, is, cc_ptx_number(s, 0, 32), "");
    address = LLVMBuildSelect(s->b, is, cc_ptx_number(s, 0, 64), address, "");
    return cc_ptx_bits(s, upper ? upper_half(s, address) : address, 32);
}

/* The shared memory that every block has beside its own, for CUDA's headers (tiles of several
 * warps; %reserved_smem_offset_1). */
static LLVMValueRef reserved_shared(struct cc_ptx_statement *s)
{
    static const char name[] = "vgpu_reserved_shared";
    LLVMTypeRef type = LLVMArrayType(cc_int_type(s->l, 8), 1024);

    if (LLVMGetNamedGlobal(s->l->module, name) == NULL) {
        LLVMValueRef made = LLVMAddGlobalInAddressSpace(s->l->module, type, name, CC_PTX_SHARED);
        LLVMSetInitializer(made, LLVMGetUndef(type));
        LLVMSetLinkage(made, LLVM_LINKAGE_INTERNAL);
        LLVMSetAlignment(made, 16);
    }
    return cc_ptx_value(s, name);
}

static LLVMValueRef read_register(struct cc_ptx_statement *s, const char *name)
{
    static const struct word numbers[] = {{"%tid.x", VGPU_PTX_TID},
                                          {"%tid.y", VGPU_PTX_TID + 1},
                                          {"%tid.z", VGPU_PTX_TID + 2},
                                          {"%ntid.x", VGPU_PTX_NTID},
                                          {"%ntid.y", VGPU_PTX_NTID + 1},
                                          {"%ntid.z", VGPU_PTX_NTID + 2},
                                          {"%ctaid.x", VGPU_PTX_CTAID},
                                          {"%ctaid.y", VGPU_PTX_CTAID + 1},
                                          {"%ctaid.z", VGPU_PTX_CTAID + 2},
                                          {"%nctaid.x", VGPU_PTX_NCTAID},
                                          {"%nctaid.y", VGPU_PTX_NCTAID + 1},
                                          {"%nctaid.z", VGPU_PTX_NCTAID + 2},
                                          {"%warpid", VGPU_PTX_WARPID},
                                          {"%nwarpid", VGPU_PTX_NWARPID},
                                          {"%lanemask_eq", VGPU_PTX_LANEMASK_EQ},
                                          {"%lanemask_lt", VGPU_PTX_LANEMASK_LT},
                                          {"%lanemask_le", VGPU_PTX_LANEMASK_LE},
                                          {"%lanemask_gt", VGPU_PTX_LANEMASK_GT},
                                          {"%lanemask_ge", VGPU_PTX_LANEMASK_GE},
                                          {"%smid", VGPU_PTX_SMID},
                                          {"%nsmid", VGPU_PTX_NSMID},
                                          {"%dynamic_smem_size", VGPU_PTX_DYNAMIC_SHARED}};
    static const struct {
        const char *name, *call;
        unsigned bits;
    } calls[] = {{"%clock64", "vgpu_clock64", 64},
                 {"%clock", "vgpu_clock64", 64},
                 {"%clock_hi", "vgpu_clock64", 64},
                 {"%globaltimer", "vgpu_globaltimer", 64},
                 {"%globaltimer_lo", "vgpu_globaltimer", 64},
                 {"%globaltimer_hi", "vgpu_globaltimer", 64},
                 {"%laneid", "vgpu_lane_id", 32}};
    int number = MEANING_OF(numbers, name);

    if (s->call == NULL && strcmp(name, "%laneid") == 0)
        return cc_ptx_lane(s);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strcmp(name, calls[i].name) == 0) {
            LLVMValueRef is =
                cc_ptx_call(s, calls[i].call, cc_int_type(s->l, calls[i].bits), NULL, 0);
            return strstr(name, "_hi") != NULL ? upper_half(s, is) : is;
        }
    if (strcmp(name, "WARP_SZ") == 0)
        return cc_ptx_number(s, 32, 32);
    if (s->call == NULL && (strcmp(name, "%envreg1") == 0 || strcmp(name, "%envreg2") == 0))
        return read_workspace(s, name[7] == '1');
    if (s->call == NULL && strcmp(name, "%reserved_smem_offset_1") == 0)
        return reserved_shared(s);
    if (number < 0)
        return NULL;
    if (s->call == NULL && number < VGPU_PTX_WARPID)
        return read_index(s, number);
    LLVMValueRef which = cc_ptx_number(s, (uint64_t)number, 32);
    return cc_ptx_call(s, "vgpu_ptx_register", cc_int_type(s->l, 32), &which, 1);
}

static enum cc_ptx_known read_special(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    struct cc_ptx_type type;

    if (in->operands != 2 || in->qualifiers != 1 || !cc_ptx_type(in->qualifier[0], &type))
        return CC_PTX_UNKNOWN;
    LLVMValueRef value = read_register(s, in->operand[1]);
    return known_if(value != NULL && cc_ptx_assign_bits(s, in->operand[0], value));
}

enum cc_ptx_known cc_ptx_warp(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    if (cc_ptx_is(in, "shfl"))
        return shuffle(s, in);
    if (cc_ptx_is(in, "vote"))
        return vote(s, in);
    if (cc_ptx_is(in, "match"))
        return match(s, in);
    if (cc_ptx_is(in, "redux"))
        return reduce(s, in);
    if (cc_ptx_is(in, "elect"))
        return elect(s, in);
    if ((cc_ptx_is(in, "bar") || cc_ptx_is(in, "barrier")) && cc_ptx_has(in, "red"))
        return meet_and_reduce(s, in);
    if (cc_ptx_is(in, "bar") || cc_ptx_is(in, "barrier"))
        return meet(s, in);
    if (cc_ptx_is(in, "mov"))
        return read_special(s, in);
    if (cc_ptx_is(in, "exit") && in->operands + in->qualifiers == 0) {
        cc_ptx_call(s, "vgpu_exit", LLVMVoidTypeInContext(s->l->context), NULL, 0);
        return CC_PTX_DONE;
    }
    if (cc_ptx_is(in, "activemask") && in->operands == 1 && strcmp(mode_of(in), ".b32") == 0)
        return known_if(cc_ptx_assign_bits(
            s, in->operand[0], cc_ptx_call(s, "vgpu_activemask", cc_int_type(s->l, 32), NULL, 0)));
    return CC_PTX_NOT_MINE;
}
