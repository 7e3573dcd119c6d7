/* SPDX-License-Identifier: MIT
 * ptx_async.c: mbarrier objects, asynchronous copies, stores and updates. Each is performed at
 * once, so that waiting for it needs no code.
 */
#include <string.h>

#include "image.h"
#include "ptx_memory.h"

/* Whether each qualifier is one of the words. */
static bool has_only(const struct cc_ptx *in, const char *words)
{
    for (int i = 0; i < in->qualifiers; i++)
        if (strstr(words, cc_format(" %s ", in->qualifier[i])) == NULL)
            return false;
    return true;
}

static bool is_shared_space(const struct cc_ptx *in)
{
    return cc_ptx_has(in, "shared") || cc_ptx_has(in, "shared::cta") ||
           cc_ptx_has(in, "shared::cluster");
}

/* ---- mbarrier ---- */

static LLVMValueRef call_mbarrier(struct cc_ptx_statement *s, int operation, LLVMValueRef address,
                                  LLVMValueRef value)
{
    LLVMValueRef argument[] = {cc_ptx_number(s, (uint64_t)operation, 32), address, value};

    return cc_ptx_call(s, "vgpu_mbarrier", cc_int_type(s->l, 64), argument, 3);
}

static const struct mbarrier {
    const char *name; /* after "mbarrier" */
    int operation;
    bool results; /* cc_ptx_has a result in the first operand, which is optional if it is unused */
    int values;   /* operands after the address; 1: may be omitted, and is 1 then */
} mbarriers[] = {
    {"init", VGPU_MBARRIER_INIT, false, 1},
    {"inval", VGPU_MBARRIER_INVAL, false, 0},
    {"arrive", VGPU_MBARRIER_ARRIVE, true, 1},
    {"arrive_drop", VGPU_MBARRIER_ARRIVE_DROP, true, 1},
    {"expect_tx", VGPU_MBARRIER_EXPECT_TX, false, 1},
    {"complete_tx", VGPU_MBARRIER_COMPLETE_TX, false, 1},
    {"test_wait", VGPU_MBARRIER_TEST, true, 1},
    {"try_wait", VGPU_MBARRIER_TEST, true, 1}, /* the time limit is only a hint */
};

static const struct mbarrier *find_mbarrier(const struct cc_ptx *in)
{
    for (size_t i = 0; in->qualifiers > 0 && i < sizeof mbarriers / sizeof *mbarriers; i++)
        if (strcmp(mbarriers[i].name, in->qualifier[0]) == 0)
            return &mbarriers[i];
    return NULL;
}

static int operation_of(const struct mbarrier *m, const struct cc_ptx *in)
{
    if (m->operation == VGPU_MBARRIER_TEST && cc_ptx_has(in, "parity"))
        return VGPU_MBARRIER_TEST_PARITY;
    if (m->operation == VGPU_MBARRIER_ARRIVE && cc_ptx_has(in, "expect_tx"))
        return VGPU_MBARRIER_ARRIVE_EXPECT_TX;
    if (m->operation == VGPU_MBARRIER_ARRIVE_DROP && cc_ptx_has(in, "expect_tx"))
        return VGPU_MBARRIER_ARRIVE_DROP_EXPECT_TX;
    return m->operation;
}

static bool give_result(struct cc_ptx_statement *s, const struct cc_ptx *in, int operation,
                        LLVMValueRef result)
{
    if (operation == VGPU_MBARRIER_TEST || operation == VGPU_MBARRIER_TEST_PARITY)
        return cc_ptx_assign_predicate(s, in->operand[0], result);
    return cc_ptx_assign_bits(s, in->operand[0], result);
}

static enum cc_ptx_known use_mbarrier(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    const struct mbarrier *m = find_mbarrier(in);
    bool waits = m != NULL && m->operation == VGPU_MBARRIER_TEST;

    if (m == NULL ||
        !has_only(in, cc_format(" %s b64 shared shared::cta shared::cluster cta cluster relaxed "
                                "acquire release noComplete %s%s",
                                m->name, waits ? "parity " : "", m->results ? "expect_tx " : "")))
        return CC_PTX_UNKNOWN;
    int first = m->results, rest = in->operands - first - 1, operation = operation_of(m, in);
    bool bytes = operation >= VGPU_MBARRIER_EXPECT_TX && operation <= VGPU_MBARRIER_COMPLETE_TX;
    bool many = rest == 2 && strcmp(in->qualifier[0], "try_wait") == 0;
    if (rest < (waits || bytes || m->operation == VGPU_MBARRIER_INIT) ||
        (rest > m->values && !many))
        return CC_PTX_UNKNOWN;
    LLVMValueRef address = cc_ptx_address(s, in->operand[first], 0, is_shared_space(in));
    LLVMValueRef value = cc_ptx_number(s, m->values != 0, 64);
    if (rest > 0)
        value = cc_ptx_operand(s, in->operand[first + 1], 64);
    if (address == NULL || value == NULL)
        return CC_PTX_UNKNOWN;
    LLVMValueRef result = call_mbarrier(s, operation, address, value);
    return !m->results || give_result(s, in, operation, result) ? CC_PTX_DONE : CC_PTX_UNKNOWN;
}

/* mbarrier.pending_count.b64 d, state */
static enum cc_ptx_known count_pending(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    LLVMValueRef state =
        in->operands == 2 && in->qualifiers == 2 ? cc_ptx_operand(s, in->operand[1], 64) : NULL;

    if (state == NULL)
        return CC_PTX_UNKNOWN;
    LLVMValueRef none = LLVMConstNull(cc_byte_pointer(s->l, 0));
    LLVMValueRef count = call_mbarrier(s, VGPU_MBARRIER_PENDING, none, state);
    return cc_ptx_assign_bits(s, in->operand[0], count) ? CC_PTX_DONE : CC_PTX_UNKNOWN;
}

/* ---- copies ---- */

static void copy(struct cc_ptx_statement *s, LLVMValueRef to, LLVMValueRef from, LLVMValueRef bytes)
{
    LLVMValueRef argument[] = {to, from, bytes};

    cc_ptx_call(s, "memcpy", cc_byte_pointer(s->l, 0), argument, 3);
}

/* Clears [at + done, at + bytes). */
static void clear_rest(struct cc_ptx_statement *s, LLVMValueRef at, LLVMValueRef bytes,
                       LLVMValueRef done)
{
    LLVMTypeRef wide = cc_int_type(s->l, 64), pointer = cc_byte_pointer(s->l, 0);
    LLVMValueRef from = LLVMBuildCast(s->b, LLVM_OP_PTR_TO_INT, at, wide, "");

    from = LLVMBuildBinOp(s->b, LLVM_OP_ADD, from, done, "");
    LLVMValueRef argument[] = {LLVMBuildCast(s->b, LLVM_OP_INT_TO_PTR, from, pointer, ""),
                               cc_ptx_number(s, 0, 32),
                               LLVMBuildBinOp(s->b, LLVM_OP_SUB, bytes, done, "")};
    cc_ptx_call(s, "memset", pointer, argument, 3);
}

/* The bytes that are copied: all, as many as an operand says, or none if it is a true predicate. */
static LLVMValueRef given_bytes(struct cc_ptx_statement *s, const char *operand, LLVMValueRef all)
{
    LLVMValueRef given = cc_ptx_operand(s, operand, 32);
    LLVMValueRef ignored = given == NULL ? cc_ptx_predicate(s, operand) : NULL;

    if (ignored != NULL && all != NULL)
        return LLVMBuildSelect(s->b, ignored, cc_ptx_number(s, 0, 64), all, "");
    return given != NULL ? cc_ptx_bits(s, given, 64) : NULL;
}

/* cp.async.ca.shared.global [to], [from], bytes{, given}{, policy} */
static enum cc_ptx_known copy_some(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    int operands = in->operands - cc_ptx_has(in, "L2::cache_hint");

    if (!has_only(in, " async ca cg shared shared::cta global L2::64B L2::128B L2::256B "
                      "L2::cache_hint ") ||
        !is_shared_space(in) || !cc_ptx_has(in, "global") || operands < 3 || operands > 4)
        return CC_PTX_UNKNOWN;
    LLVMValueRef to = cc_ptx_address(s, in->operand[0], 0, true);
    LLVMValueRef from = cc_ptx_address(s, in->operand[1], 0, false);
    LLVMValueRef bytes = cc_ptx_operand(s, in->operand[2], 64), given = bytes;
    if (operands == 4)
        given = given_bytes(s, in->operand[3], bytes);
    if (to == NULL || from == NULL || bytes == NULL || given == NULL)
        return CC_PTX_UNKNOWN;
    copy(s, to, from, given);
    if (operands == 4 && strcmp(in->operand[2], in->operand[3]) != 0)
        clear_rest(s, to, bytes, given);
    return CC_PTX_DONE;
}

/* cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [to], [from], bytes, [barrier];
 * the same from .shared::cta, to another block of the cluster;
 * cp.async.bulk.global.shared::cta.bulk_group [to], [from], bytes */
static enum cc_ptx_known copy_bulk(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    bool passes = in->qualifiers > 3 && strcmp(in->qualifier[2], "shared::cluster") == 0 &&
                  strcmp(in->qualifier[3], "shared::cta") == 0;
    bool loads = passes || (in->qualifiers > 3 && cc_starts(in->qualifier[2], "shared::") &&
                            strcmp(in->qualifier[3], "global") == 0);
    bool stores = in->qualifiers > 3 && strcmp(in->qualifier[2], "global") == 0 &&
                  strcmp(in->qualifier[3], "shared::cta") == 0 && cc_ptx_has(in, "bulk_group");
    bool tells = cc_ptx_has(in, "mbarrier::complete_tx::bytes");

    if (!has_only(in, " async bulk shared::cluster shared::cta global bulk_group "
                      "mbarrier::complete_tx::bytes ") ||
        in->qualifiers != 5 || loads + stores != 1 || loads != tells || in->operands != 3 + tells)
        return CC_PTX_UNKNOWN;
    LLVMValueRef to = cc_ptx_address(s, in->operand[0], 0, loads);
    LLVMValueRef from = cc_ptx_address(s, in->operand[1], 0, stores || passes);
    LLVMValueRef bytes = cc_ptx_operand(s, in->operand[2], 32);
    LLVMValueRef barrier = tells ? cc_ptx_address(s, in->operand[3], 0, true) : NULL;
    if (to == NULL || from == NULL || bytes == NULL || (tells && barrier == NULL))
        return CC_PTX_UNKNOWN;
    bytes = cc_ptx_bits(s, bytes, 64);
    copy(s, to, from, bytes);
    if (tells)
        call_mbarrier(s, VGPU_MBARRIER_COMPLETE_TX, barrier, bytes);
    return CC_PTX_DONE;
}

/* cp.async.mbarrier.arrive{.noinc}.shared.b64 [barrier]: without .noinc it also increments the
 * expected count, so that both cancel out. */
static enum cc_ptx_known arrive_after_copies(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    LLVMValueRef barrier =
        in->operands == 1 ? cc_ptx_address(s, in->operand[0], 0, is_shared_space(in)) : NULL;

    if (barrier == NULL || !cc_ptx_has(in, "arrive") ||
        !has_only(in, " async mbarrier arrive noinc shared shared::cta b64 "))
        return CC_PTX_UNKNOWN;
    if (cc_ptx_has(in, "noinc"))
        call_mbarrier(s, VGPU_MBARRIER_ARRIVE, barrier, cc_ptx_number(s, 1, 64));
    return CC_PTX_DONE;
}

static enum cc_ptx_known copy_async(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    static const char *const waits[] = {"commit_group", "wait_group", "wait_all"};
    bool bulk = cc_ptx_has(in, "bulk");

    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
        if (cc_ptx_has(in, waits[i]))
            return has_only(in, " async bulk commit_group wait_group wait_all read ") &&
                           in->operands == (i == 1)
                       ? CC_PTX_DONE
                       : CC_PTX_UNKNOWN;
    if (cc_ptx_has(in, "mbarrier"))
        return arrive_after_copies(s, in);
    if (cc_ptx_has(in, "prefetch"))
        return in->operands >= 2 ? CC_PTX_DONE : CC_PTX_UNKNOWN;
    return bulk ? copy_bulk(s, in) : copy_some(s, in);
}

/* ---- stores and updates ---- */

static uint64_t stored_bytes(const struct cc_ptx *in)
{
    struct cc_ptx_type type = {0, 0};
    uint64_t elements = cc_ptx_has(in, "v2") ? 2 : cc_ptx_has(in, "v4") ? 4 : 1;

    for (int i = 0; i < in->qualifiers; i++)
        if (cc_ptx_type(in->qualifier[i], &type))
            return elements * type.bits / 8;
    return 0;
}

/* st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [to], value, [barrier], and red.async:
 * the instruction without .async, then the bytes are complete. */
static enum cc_ptx_known store_async(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    struct cc_ptx plain = *in;
    int last = in->operands - 1;
    LLVMValueRef barrier = last > 1 ? cc_ptx_address(s, in->operand[last], 0, true) : NULL;

    if (barrier == NULL || !cc_ptx_has(in, "mbarrier::complete_tx::bytes") ||
        !cc_ptx_has(in, "shared::cluster"))
        return CC_PTX_UNKNOWN;
    plain.operands = last;
    plain.qualifiers = 0;
    for (int i = 0; i < in->qualifiers; i++)
        if (strcmp(in->qualifier[i], "async") != 0 && !cc_starts(in->qualifier[i], "mbarrier::"))
            plain.qualifier[plain.qualifiers++] = in->qualifier[i];
    if (stored_bytes(in) == 0 || cc_ptx_memory(s, &plain) != CC_PTX_DONE)
        return CC_PTX_UNKNOWN;
    call_mbarrier(s, VGPU_MBARRIER_COMPLETE_TX, barrier, cc_ptx_number(s, stored_bytes(in), 64));
    return CC_PTX_DONE;
}

/* cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [to], [from], bytes; the same to
 * another block of the cluster, with a barrier */
static enum cc_ptx_known reduce_bulk(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    bool passes = cc_ptx_has(in, "shared::cluster"),
         tells = cc_ptx_has(in, "mbarrier::complete_tx::bytes");
    struct cc_ptx_bulk bulk;

    if (passes != tells || !cc_ptx_has(in, "shared::cta") || in->operands != 3 + tells ||
        cc_ptx_has(in, "global") == passes || cc_ptx_has(in, "bulk_group") == passes ||
        !cc_ptx_bulk_of(in, &bulk))
        return CC_PTX_UNKNOWN;
    LLVMValueRef to = cc_ptx_address(s, in->operand[0], 0, passes);
    LLVMValueRef from = cc_ptx_address(s, in->operand[1], 0, true);
    LLVMValueRef bytes = cc_ptx_operand(s, in->operand[2], 32);
    LLVMValueRef barrier = tells ? cc_ptx_address(s, in->operand[3], 0, true) : NULL;
    if (to == NULL || from == NULL || bytes == NULL || (tells && barrier == NULL))
        return CC_PTX_UNKNOWN;
    bytes = cc_ptx_bits(s, bytes, 64);
    LLVMValueRef argument[] = {cc_ptx_number(s, (uint64_t)bulk.operation, 32),
                               cc_ptx_number(s, bulk.halves, 32),
                               cc_ptx_number(s, (uint64_t)bulk.type, 32),
                               to,
                               from,
                               bytes};
    cc_ptx_call(s, "vgpu_atomic_bulk", LLVMVoidTypeInContext(s->l->context), argument, 6);
    if (tells)
        call_mbarrier(s, VGPU_MBARRIER_COMPLETE_TX, barrier, bytes);
    return CC_PTX_DONE;
}

enum cc_ptx_known cc_ptx_async(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    if (cc_ptx_is(in, "mbarrier") && cc_ptx_has(in, "pending_count"))
        return count_pending(s, in);
    if (cc_ptx_is(in, "mbarrier"))
        return use_mbarrier(s, in);
    if ((cc_ptx_is(in, "st") || cc_ptx_is(in, "red")) && cc_ptx_has(in, "async"))
        return store_async(s, in);
    if (cc_ptx_is(in, "cp") && cc_ptx_has(in, "reduce") && cc_ptx_has(in, "bulk"))
        return cc_ptx_has(in, "tensor") ? CC_PTX_UNKNOWN : reduce_bulk(s, in);
    if (cc_ptx_is(in, "cp") && cc_ptx_has(in, "async"))
        return copy_async(s, in);
    return CC_PTX_NOT_MINE;
}
