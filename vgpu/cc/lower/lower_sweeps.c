/* SPDX-License-Identifier: MIT
 * lower_sweeps.c: loops of the careful form whose accesses are counted and checked together.
 *
 * In the careful form a call reports each access. A loop of one basic block that calls nothing gets
 * a copy without these calls, for accesses whose address grows by the same amount in each round. In
 * front of it vgpu-exec is asked how many rounds there will be, and whether the bytes from the
 * first round's address to the last one's may be accessed without looking at each access
 * (vgpu/exec/access/sweep.c). If so, it counts them, and the copy runs; if not, the loop as it is.
 *
 *     before ── rounds ── sweeps ── counts ── copy ──┐
 *                 └─────────┴────── loop ───────────┴── after
 *
 * The addresses of rounds 0, 1 and the last one are computed by copies of the loop's instructions.
 * That they grow evenly between these follows from the three: at most one of the instructions that
 * lead to an address widens a number, so that a number that overflows shows in the last address.
 */
#include "lower.h"

#include "image.h"
#include "lanes.h"

#include <string.h>

enum { SWEEPS_MAX = 8, INSTRUCTIONS_MAX = 128, COMPARE_BASE = 32, UNSEEN_SPACE = 1 };

/* Not worth asking for fewer rounds. */
enum { ROUNDS_MIN = 8 };

struct sweep {
    LLVMValueRef access;
    unsigned how; /* VGPU_SWEEP */
};

struct loop {
    struct cc_lowering *l;
    LLVMBuilderRef b;
    LLVMValueRef function, compare;
    LLVMBasicBlockRef before, block, after;
    LLVMValueRef instruction[INSTRUCTIONS_MAX]; /* of the block, in order */
    LLVMValueRef copy[INSTRUCTIONS_MAX];        /* what stands for it in the copied loop */
    size_t count;
    struct sweep sweep[SWEEPS_MAX];
    size_t sweep_count;
};

static size_t index_in(const struct loop *o, LLVMValueRef value)
{
    size_t i = 0;

    while (i < o->count && o->instruction[i] != value)
        i++;
    return i;
}

static bool is_inside(const struct loop *o, LLVMValueRef value)
{
    return index_in(o, value) < o->count;
}

/* ---- values that stay, and values that grow evenly ---- */

static bool is_unseen(LLVMValueRef access)
{
    int operand = cc_address_operand(access);

    return operand >= 0 &&
           LLVMGetPointerAddressSpace(LLVMTypeOf(LLVMGetOperand(access, (unsigned)operand))) ==
               UNSEEN_SPACE;
}

static bool counts_work(LLVMValueRef load)
{
    LLVMValueRef address = LLVMGetOperand(load, 0);

    while (LLVMIsAConstantExpr(address) != NULL)
        address = LLVMGetOperand(address, 0);
    return strcmp(cc_value_name(address), "vgpu_work") == 0;
}

static bool is_sum(int op)
{
    return op == LLVM_OP_ADD || op == LLVM_OP_SUB;
}

static bool is_product(int op)
{
    return op == LLVM_OP_MULTIPLY || op == LLVM_OP_SHL;
}

static bool widens(int op)
{
    return op == LLVM_OP_ZEXT || op == LLVM_OP_SEXT;
}

/* Whether the value is the same in all rounds; threadIdx and the like are loaded. */
static bool stays(const struct loop *o, LLVMValueRef value)
{
    if (!is_inside(o, value))
        return true;
    int op = LLVMGetInstructionOpcode(value);
    if (op == LLVM_OP_LOAD)
        return is_unseen(value) && LLVMIsAConstant(LLVMGetOperand(value, 0)) != NULL &&
               !counts_work(value);
    if (!is_sum(op) && !is_product(op) && !widens(op) && op != LLVM_OP_TRUNC && op != LLVM_OP_GEP &&
        op != LLVM_OP_BIT_CAST)
        return false;
    for (int k = 0; k < LLVMGetNumOperands(value); k++)
        if (!stays(o, LLVMGetOperand(value, (unsigned)k)))
            return false;
    return true;
}

static LLVMValueRef incoming(LLVMValueRef phi, LLVMBasicBlockRef from)
{
    unsigned i = 0;

    while (LLVMGetIncomingBlock(phi, i) != from)
        i++;
    return LLVMGetIncomingValue(phi, i);
}

/* A variable of the loop that grows by a value that stays: phi = [start], [phi + step], or shrinks.
 */
static bool is_variable(const struct loop *o, LLVMValueRef phi)
{
    LLVMValueRef next = incoming(phi, o->block);

    if (!is_inside(o, next))
        return false;
    int op = LLVMGetInstructionOpcode(next);
    if (op == LLVM_OP_GEP)
        return LLVMGetOperand(next, 0) == phi && LLVMGetNumOperands(next) == 2 &&
               stays(o, LLVMGetOperand(next, 1));
    if (op == LLVM_OP_SUB)
        return LLVMGetOperand(next, 0) == phi && stays(o, LLVMGetOperand(next, 1));
    return op == LLVM_OP_ADD &&
           (LLVMGetOperand(next, 0) == phi || LLVMGetOperand(next, 1) == phi) &&
           stays(o, LLVMGetOperand(next, LLVMGetOperand(next, 0) == phi ? 1 : 0));
}

static bool is_narrow(LLVMValueRef value)
{
    return LLVMGetTypeKind(LLVMTypeOf(value)) == LLVM_TYPE_INTEGER &&
           LLVMGetIntTypeWidth(LLVMTypeOf(value)) < 64;
}

/* The operand that does not stay; -1: there are several. */
static int growing_operand(const struct loop *o, LLVMValueRef value)
{
    int found = -1;

    for (int k = 0; k < LLVMGetNumOperands(value); k++) {
        if (stays(o, LLVMGetOperand(value, (unsigned)k)))
            continue;
        if (found >= 0)
            return -1;
        found = k;
    }
    return found;
}

/* Whether the value grows evenly, apart from overflows; *widened: how many numbers are widened on
 * the way from a loop's variable to it. */
static bool grows_evenly(const struct loop *o, LLVMValueRef value, unsigned *widened)
{
    if (stays(o, value))
        return true;
    int op = LLVMGetInstructionOpcode(value), k = growing_operand(o, value);
    if (op == LLVM_OP_PHI)
        return is_variable(o, value);
    if (k < 0)
        return false;
    LLVMValueRef from = LLVMGetOperand(value, (unsigned)k);
    if (!is_sum(op) && op != LLVM_OP_MULTIPLY && !(op == LLVM_OP_SHL && k == 0) && !widens(op) &&
        op != LLVM_OP_GEP && op != LLVM_OP_BIT_CAST)
        return false;
    *widened += widens(op) || (op == LLVM_OP_GEP && is_narrow(from));
    return grows_evenly(o, from, widened);
}

static bool can_be_computed(const struct loop *o, LLVMValueRef value)
{
    unsigned widened = 0;

    return grows_evenly(o, value, &widened) && widened <= 1;
}

/* ---- which loops, which accesses ---- */

static bool is_intrinsic(LLVMValueRef call)
{
    LLVMValueRef called = LLVMGetCalledValue(call);

    return LLVMIsAFunction(called) != NULL && LLVMGetIntrinsicID(called) != 0;
}

/* ThreadSanitizer's pass does not report all accesses to local variables and constants. It looks
 * for them as this does. */
static bool may_be_unreported(const struct loop *o, LLVMValueRef address)
{
    for (;;) {
        int op = LLVMIsAInstruction(address) != NULL ? LLVMGetInstructionOpcode(address) : 0;
        if (op == LLVM_OP_GEP || op == LLVM_OP_BIT_CAST || op == LLVM_OP_ADDR_SPACE_CAST)
            address = LLVMGetOperand(address, 0);
        else if (op == LLVM_OP_PHI && is_inside(o, address))
            address = incoming(address, o->before);
        else if (op == LLVM_OP_PHI && LLVMCountIncoming(address) == 1)
            address = LLVMGetIncomingValue(address, 0);
        else
            return op == LLVM_OP_ALLOCA || LLVMIsAConstant(address) != NULL ||
                   (op == LLVM_OP_CALL && is_intrinsic(address));
    }
}

static int kind_of_bytes(uint64_t bytes)
{
    for (int kind = 0; kind <= 4; kind++)
        if (bytes == 1u << kind)
            return kind;
    return -1;
}

static void note_sweep(struct loop *o, LLVMValueRef access)
{
    LLVMValueRef address = LLVMGetOperand(access, (unsigned)cc_address_operand(access));
    uint64_t bytes = cc_accessed_bytes(o->l, access);
    int kind = kind_of_bytes(bytes);

    if (is_unseen(access) || kind < 0 || LLVMGetAlignment(access) < bytes ||
        o->sweep_count == SWEEPS_MAX || may_be_unreported(o, address) ||
        !can_be_computed(o, address))
        return;
    o->sweep[o->sweep_count++] =
        (struct sweep){access, VGPU_SWEEP(kind, LLVMGetInstructionOpcode(access) == LLVM_OP_STORE)};
}

/* Runs no code of others, and is no access that others wait for. */
static bool is_quiet(LLVMValueRef i)
{
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVM_OP_LOAD:
    case LLVM_OP_STORE:
        return !LLVMGetVolatile(i) && LLVMGetOrdering(i) == LLVM_ORDER_NONE;
    case LLVM_OP_CALL:
        return is_intrinsic(i) && !cc_starts(cc_value_name(LLVMGetCalledValue(i)), "llvm.mem");
    case LLVM_OP_COMPARE_EXCHANGE:
    case LLVM_OP_READ_MODIFY_WRITE:
    case LLVM_OP_FENCE:
    case LLVM_OP_ALLOCA:
        return false;
    default:
        return true;
    }
}

static bool list_instructions(struct loop *o)
{
    o->count = 0;
    for (LLVMValueRef i = LLVMGetFirstInstruction(o->block); i != NULL;
         i = LLVMGetNextInstruction(i)) {
        if (o->count == INSTRUCTIONS_MAX || !is_quiet(i))
            return false;
        o->instruction[o->count++] = i;
    }
    return true;
}

/* The loop around the block, if it is one. */
static bool find_ends(struct loop *o)
{
    LLVMValueRef end = LLVMGetBasicBlockTerminator(o->block),
                 phi = LLVMGetFirstInstruction(o->block);

    if (LLVMGetInstructionOpcode(end) != LLVM_OP_BR || LLVMGetNumSuccessors(end) != 2 ||
        LLVMIsAPHINode(phi) == NULL || LLVMCountIncoming(phi) != 2)
        return false;
    LLVMBasicBlockRef first = LLVMGetSuccessor(end, 0), second = LLVMGetSuccessor(end, 1);
    if ((first == o->block) == (second == o->block))
        return false;
    o->after = first == o->block ? second : first;
    o->before = LLVMGetIncomingBlock(phi, LLVMGetIncomingBlock(phi, 0) == o->block ? 1 : 0);
    o->compare = LLVMGetOperand(end, 0);
    return true;
}

static unsigned bits_of(struct loop *o, LLVMValueRef value)
{
    return (unsigned)LLVMABISizeOfType(o->l->layout, LLVMTypeOf(value)) * 8;
}

/* Whether a comparison of one value that grows evenly with one that stays ends the loop. */
static bool has_plain_end(struct loop *o)
{
    if (!is_inside(o, o->compare) || LLVMGetInstructionOpcode(o->compare) != LLVM_OP_COMPARE)
        return false;
    LLVMValueRef left = LLVMGetOperand(o->compare, 0), right = LLVMGetOperand(o->compare, 1);
    LLVMValueRef grows = stays(o, right) ? left : right;
    unsigned widened = 0, bits = bits_of(o, grows);
    return stays(o, grows == left ? right : left) && !stays(o, grows) &&
           (bits == 32 || bits == 64) && grows_evenly(o, grows, &widened) && widened == 0;
}

static bool find_loop(struct loop *o)
{
    if (!find_ends(o) || !list_instructions(o) || !has_plain_end(o))
        return false;
    o->sweep_count = 0;
    for (size_t i = 0; i < o->count; i++)
        if (cc_address_operand(o->instruction[i]) >= 0)
            note_sweep(o, o->instruction[i]);
    return o->sweep_count > 0;
}

/* ---- values of a round, in front of the loop ---- */

static LLVMValueRef at_round(struct loop *o, LLVMValueRef value, LLVMValueRef round);

static LLVMValueRef copy_for_round(struct loop *o, LLVMValueRef value, LLVMValueRef round)
{
    LLVMValueRef copy = LLVMInstructionClone(value);

    for (int k = 0; k < LLVMGetNumOperands(value); k++)
        LLVMSetOperand(copy, (unsigned)k, at_round(o, LLVMGetOperand(value, (unsigned)k), round));
    LLVMInsertIntoBuilder(o->b, copy);
    return copy;
}

/* start + round * step, in the variable's own width. */
static LLVMValueRef variable_at(struct loop *o, LLVMValueRef phi, LLVMValueRef round)
{
    LLVMValueRef start = incoming(phi, o->before), next = incoming(phi, o->block);
    bool is_pointer = LLVMGetInstructionOpcode(next) == LLVM_OP_GEP;
    LLVMValueRef step = LLVMGetOperand(next, LLVMGetOperand(next, 0) == phi ? 1 : 0);
    LLVMTypeRef type = is_pointer ? cc_int_type(o->l, 64) : LLVMTypeOf(phi);
    LLVMValueRef grown = LLVMBuildBinOp(
        o->b, LLVM_OP_MULTIPLY, LLVMBuildIntCast2(o->b, at_round(o, step, round), type, 1, ""),
        LLVMBuildIntCast2(o->b, round, type, 0, ""), "");

    if (is_pointer)
        return LLVMBuildGEP2(o->b, LLVMGetGEPSourceElementType(next), start, &grown, 1, "");
    return LLVMBuildBinOp(o->b, LLVMGetInstructionOpcode(next), start, grown, "");
}

static LLVMValueRef at_round(struct loop *o, LLVMValueRef value, LLVMValueRef round)
{
    if (!is_inside(o, value))
        return value;
    return LLVMIsAPHINode(value) != NULL ? variable_at(o, value, round)
                                         : copy_for_round(o, value, round);
}

static LLVMValueRef as_word(struct loop *o, LLVMValueRef value, bool is_signed)
{
    LLVMTypeRef word = cc_int_type(o->l, 64);

    if (LLVMGetTypeKind(LLVMTypeOf(value)) == LLVM_TYPE_POINTER)
        return LLVMBuildCast(o->b, LLVM_OP_PTR_TO_INT, value, word, "");
    return LLVMBuildIntCast2(o->b, value, word, is_signed, "");
}

static LLVMValueRef call(struct loop *o, const char *name, unsigned result_bits,
                         LLVMValueRef *argument, unsigned count)
{
    LLVMTypeRef parameter[8], result = result_bits == 0 ? LLVMVoidTypeInContext(o->l->context)
                                                        : cc_int_type(o->l, result_bits);

    for (unsigned i = 0; i < count; i++)
        parameter[i] = LLVMTypeOf(argument[i]);
    LLVMTypeRef type = LLVMFunctionType(result, parameter, count, 0);
    return LLVMBuildCall2(o->b, type, cc_declare(o->l, name, type), argument, count, "");
}

static enum vgpu_compare turned(enum vgpu_compare how)
{
    static const enum vgpu_compare turn[] = {
        [VGPU_EQ] = VGPU_EQ,   [VGPU_NE] = VGPU_NE,   [VGPU_UGT] = VGPU_ULT, [VGPU_UGE] = VGPU_ULE,
        [VGPU_ULT] = VGPU_UGT, [VGPU_ULE] = VGPU_UGE, [VGPU_SGT] = VGPU_SLT, [VGPU_SGE] = VGPU_SLE,
        [VGPU_SLT] = VGPU_SGT, [VGPU_SLE] = VGPU_SGE};
    return turn[how];
}

static enum vgpu_compare opposite(enum vgpu_compare how)
{
    static const enum vgpu_compare other[] = {
        [VGPU_EQ] = VGPU_NE,   [VGPU_NE] = VGPU_EQ,   [VGPU_UGT] = VGPU_ULE, [VGPU_UGE] = VGPU_ULT,
        [VGPU_ULT] = VGPU_UGE, [VGPU_ULE] = VGPU_UGT, [VGPU_SGT] = VGPU_SLE, [VGPU_SGE] = VGPU_SLT,
        [VGPU_SLT] = VGPU_SGE, [VGPU_SLE] = VGPU_SGT};
    return other[how];
}

/* The number of rounds, as vgpu-exec computes it. */
static LLVMValueRef ask_rounds(struct loop *o)
{
    LLVMValueRef left = LLVMGetOperand(o->compare, 0), right = LLVMGetOperand(o->compare, 1),
                 end = LLVMGetBasicBlockTerminator(o->block);
    enum vgpu_compare how = (enum vgpu_compare)(LLVMGetICmpPredicate(o->compare) - COMPARE_BASE);
    bool is_left = !stays(o, left), is_signed = how >= VGPU_SGT;
    LLVMValueRef grows = is_left ? left : right, stays_same = is_left ? right : left;
    LLVMValueRef zero = cc_number(o->l, 0, 64), one = cc_number(o->l, 1, 64);

    how = is_left ? how : turned(how);
    how = LLVMGetSuccessor(end, 0) == o->block ? how : opposite(how);
    LLVMValueRef argument[] = {as_word(o, at_round(o, grows, zero), is_signed),
                               as_word(o, at_round(o, grows, one), is_signed),
                               as_word(o, at_round(o, stays_same, zero), is_signed),
                               cc_number(o->l, VGPU_ROUNDS(how, bits_of(o, grows)), 32)};
    return call(o, "vgpu_rounds", 64, argument, 4);
}

/* ---- the blocks ---- */

/* The phi gets its value from `to` where it came from `from`; `also`: and from that, if not null.
 */
static LLVMValueRef moved_phi(struct loop *o, LLVMValueRef phi, LLVMBasicBlockRef from,
                              LLVMBasicBlockRef to, LLVMBasicBlockRef also)
{
    LLVMPositionBuilderBefore(o->b, phi);
    LLVMValueRef made = LLVMBuildPhi(o->b, LLVMTypeOf(phi), "");
    for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
        LLVMBasicBlockRef block = LLVMGetIncomingBlock(phi, i);
        LLVMValueRef value = LLVMGetIncomingValue(phi, i);
        LLVMBasicBlockRef now = block == from ? to : block;
        LLVMAddIncoming(made, &value, &now, 1);
        if (block == from && also != NULL)
            LLVMAddIncoming(made, &value, &also, 1);
    }
    LLVMReplaceAllUsesWith(phi, made);
    LLVMInstructionEraseFromParent(phi);
    return made;
}

static void move_phis(struct loop *o, LLVMBasicBlockRef in, LLVMBasicBlockRef from,
                      LLVMBasicBlockRef to, LLVMBasicBlockRef also)
{
    LLVMValueRef next;

    for (LLVMValueRef i = LLVMGetFirstInstruction(in); LLVMIsAPHINode(i) != NULL; i = next) {
        next = LLVMGetNextInstruction(i);
        moved_phi(o, i, from, to, also);
    }
}

static void redirect(LLVMBasicBlockRef from, LLVMBasicBlockRef old, LLVMBasicBlockRef to)
{
    LLVMValueRef end = LLVMGetBasicBlockTerminator(from);

    for (unsigned s = 0; s < LLVMGetNumSuccessors(end); s++)
        if (LLVMGetSuccessor(end, s) == old)
            LLVMSetSuccessor(end, s, to);
}

/* In the loop's copy: the address becomes one that ThreadSanitizer's pass does not report. (The
 * pass looks through casts of pointers, but not through a number.) */
static void hide_access(struct loop *o, LLVMValueRef access, LLVMValueRef copy)
{
    unsigned operand = (unsigned)cc_address_operand(access);
    LLVMTypeRef type = LLVMPointerType(LLVMGetInstructionOpcode(access) == LLVM_OP_LOAD
                                           ? LLVMTypeOf(access)
                                           : LLVMTypeOf(LLVMGetOperand(access, 0)),
                                       UNSEEN_SPACE);

    LLVMPositionBuilderBefore(o->b, copy);
    LLVMValueRef number = as_word(o, LLVMGetOperand(copy, operand), false);
    LLVMSetOperand(copy, operand, LLVMBuildCast(o->b, LLVM_OP_INT_TO_PTR, number, type, ""));
}

/* An addition to a counter of work: load, add, store. Returns the load; null: it is none. */
static LLVMValueRef work_counted(const struct loop *o, LLVMValueRef store)
{
    if (LLVMGetInstructionOpcode(store) != LLVM_OP_STORE || !is_unseen(store))
        return NULL;
    LLVMValueRef sum = LLVMGetOperand(store, 0);
    if (!is_inside(o, sum) || LLVMGetInstructionOpcode(sum) != LLVM_OP_ADD)
        return NULL;
    LLVMValueRef load = LLVMGetOperand(sum, 0);
    return is_inside(o, load) && LLVMGetInstructionOpcode(load) == LLVM_OP_LOAD ? load : NULL;
}

/* The work of all rounds is counted in front of the copy, which then has no such counters. */
static void count_work_once(struct loop *o, LLVMValueRef rounds)
{
    for (size_t i = 0; i < o->count; i++) {
        LLVMValueRef store = o->instruction[i], load = work_counted(o, store);
        if (load == NULL)
            continue;
        LLVMValueRef sum = LLVMGetOperand(store, 0), address = LLVMGetOperand(store, 1);
        LLVMValueRef more =
            LLVMBuildBinOp(o->b, LLVM_OP_MULTIPLY, rounds, LLVMGetOperand(sum, 1), "");
        LLVMValueRef old = LLVMBuildLoad2(o->b, LLVMTypeOf(load), address, "");
        LLVMBuildStore(o->b, LLVMBuildBinOp(o->b, LLVM_OP_ADD, old, more, ""), address);
        o->copy[i] = o->copy[index_in(o, sum)] = o->copy[index_in(o, load)] = store; /* none */
    }
}

static LLVMValueRef copy_of(const struct loop *o, LLVMValueRef value)
{
    size_t i = index_in(o, value);

    return i < o->count ? o->copy[i] : value;
}

static void connect_copy(struct loop *o, size_t i, LLVMBasicBlockRef from, LLVMBasicBlockRef copy)
{
    LLVMValueRef old = o->instruction[i], made = o->copy[i];

    if (LLVMIsAPHINode(old) != NULL) {
        LLVMValueRef start = incoming(old, o->before), next = copy_of(o, incoming(old, o->block));
        LLVMAddIncoming(made, &start, &from, 1);
        LLVMAddIncoming(made, &next, &copy, 1);
        return;
    }
    for (int k = 0; k < LLVMGetNumOperands(old); k++)
        if (is_inside(o, LLVMGetOperand(old, (unsigned)k)))
            LLVMSetOperand(made, (unsigned)k, copy_of(o, LLVMGetOperand(old, (unsigned)k)));
}

/* Copies the loop; o->copy has the counters of work already, and what stays. */
static void copy_loop(struct loop *o, LLVMBasicBlockRef from, LLVMBasicBlockRef copy)
{
    bool done[INSTRUCTIONS_MAX];

    for (size_t i = 0; i < o->count; i++) {
        LLVMValueRef old = o->instruction[i];
        done[i] = o->copy[i] != NULL;
        LLVMPositionBuilderAtEnd(o->b, copy);
        if (done[i])
            continue;
        o->copy[i] = LLVMIsAPHINode(old) != NULL ? LLVMBuildPhi(o->b, LLVMTypeOf(old), "")
                                                 : LLVMInstructionClone(old);
        if (LLVMIsAPHINode(old) == NULL)
            LLVMInsertIntoBuilder(o->b, o->copy[i]);
    }
    for (size_t i = 0; i < o->count; i++)
        if (!done[i])
            connect_copy(o, i, from, copy);
    for (size_t i = 0; i < o->sweep_count; i++)
        hide_access(o, o->sweep[i].access, copy_of(o, o->sweep[i].access));
    redirect(copy, o->block, copy);
}

/* What the loop computes and others use is in `join` either the loop's or its copy's. */
static void join_value(struct loop *o, size_t i, LLVMBasicBlockRef join, LLVMBasicBlockRef copy)
{
    LLVMValueRef value = o->instruction[i], phi = NULL;
    LLVMUseRef next;

    for (LLVMUseRef use = LLVMGetFirstUse(value); use != NULL; use = next) {
        LLVMValueRef user = LLVMGetUser(use);
        next = LLVMGetNextUse(use);
        if (LLVMIsAInstruction(user) == NULL || is_inside(o, user) || user == phi)
            continue;
        if (phi == NULL) {
            LLVMValueRef both[] = {value, o->copy[i]};
            LLVMBasicBlockRef blocks[] = {o->block, copy};
            LLVMPositionBuilderBefore(o->b, LLVMGetFirstInstruction(join));
            phi = LLVMBuildPhi(o->b, LLVMTypeOf(value), "");
            LLVMAddIncoming(phi, both, blocks, 2);
            next = LLVMGetFirstUse(value);
            continue;
        }
        for (int k = 0; k < LLVMGetNumOperands(user); k++)
            if (LLVMGetOperand(user, (unsigned)k) == value)
                LLVMSetOperand(user, (unsigned)k, phi);
        next = LLVMGetFirstUse(value);
    }
}

/* Both loops end in a block of their own. */
static LLVMBasicBlockRef join_ends(struct loop *o)
{
    LLVMBasicBlockRef join = cc_add_block(o->l, o->function);

    LLVMPositionBuilderAtEnd(o->b, join);
    LLVMBuildBr(o->b, o->after);
    redirect(o->block, o->after, join);
    move_phis(o, o->after, o->block, join, NULL);
    return join;
}

/* The sweeps: whether all of them hold. */
static LLVMValueRef ask_sweeps(struct loop *o, LLVMValueRef rounds, LLVMValueRef *first)
{
    LLVMValueRef zero = cc_number(o->l, 0, 64), one = cc_number(o->l, 1, 64), all = NULL;
    LLVMValueRef last = LLVMBuildBinOp(o->b, LLVM_OP_SUB, rounds, one, "");

    for (size_t i = 0; i < o->sweep_count; i++) {
        LLVMValueRef access = o->sweep[i].access,
                     address = LLVMGetOperand(access, (unsigned)cc_address_operand(access));
        first[i] = as_word(o, at_round(o, address, zero), false);
        LLVMValueRef argument[] = {first[i], as_word(o, at_round(o, address, one), false),
                                   as_word(o, at_round(o, address, last), false), rounds,
                                   cc_number(o->l, o->sweep[i].how, 32)};
        LLVMValueRef holds = call(o, "vgpu_sweep_holds", 32, argument, 5);
        all = all == NULL ? holds : LLVMBuildBinOp(o->b, LLVM_OP_AND, all, holds, "");
    }
    return LLVMBuildICmp(o->b, LLVM_IS_NOT_EQUAL, all, cc_number(o->l, 0, 32), "");
}

static void count_sweeps(struct loop *o, LLVMValueRef rounds, LLVMValueRef *first)
{
    for (size_t i = 0; i < o->sweep_count; i++) {
        LLVMValueRef argument[] = {first[i], rounds, cc_number(o->l, o->sweep[i].how, 32)};
        call(o, "vgpu_sweep_count", 0, argument, 3);
    }
}

/* In front of the loop; the builder ends in the block from which the copy is entered. */
static void build_questions(struct loop *o, LLVMBasicBlockRef asks_rounds, LLVMBasicBlockRef copy)
{
    LLVMBasicBlockRef asks_sweeps = cc_add_block(o->l, o->function),
                      counts = cc_add_block(o->l, o->function);
    LLVMValueRef first[SWEEPS_MAX];

    LLVMPositionBuilderAtEnd(o->b, asks_rounds);
    LLVMSetCurrentDebugLocation2(o->b,
                                 LLVMInstructionGetDebugLoc(LLVMGetBasicBlockTerminator(o->block)));
    LLVMValueRef rounds = ask_rounds(o);
    LLVMValueRef many =
        LLVMBuildICmp(o->b, VGPU_UGE + COMPARE_BASE, rounds, cc_number(o->l, ROUNDS_MIN, 64), "");
    LLVMBuildCondBr(o->b, many, asks_sweeps, o->block);
    LLVMPositionBuilderAtEnd(o->b, asks_sweeps);
    LLVMValueRef all = ask_sweeps(o, rounds, first);
    LLVMBuildCondBr(o->b, all, counts, o->block);
    LLVMPositionBuilderAtEnd(o->b, counts);
    count_sweeps(o, rounds, first);
    count_work_once(o, rounds);
    for (size_t i = 0; i < o->count; i++)
        if (LLVMIsAPHINode(o->instruction[i]) == NULL && o->copy[i] == NULL &&
            stays(o, o->instruction[i]))
            o->copy[i] = at_round(o, o->instruction[i], cc_number(o->l, 0, 64));
    LLVMBuildBr(o->b, copy);
    move_phis(o, o->block, asks_rounds, asks_rounds, asks_sweeps);
    o->before = asks_rounds;
    list_instructions(o); /* with the phis that were made anew */
    copy_loop(o, counts, copy);
}

static void divide_loop(struct loop *o)
{
    LLVMBasicBlockRef asks = cc_add_block(o->l, o->function);

    o->b = LLVMCreateBuilderInContext(o->l->context);
    redirect(o->before, o->block, asks);
    move_phis(o, o->block, o->before, asks, NULL);
    if (!find_loop(o))
        return; /* does not happen: the same loop as before */
    memset(o->copy, 0, sizeof o->copy);
    LLVMBasicBlockRef join = join_ends(o), copy = cc_add_block(o->l, o->function);
    o->after = join;
    build_questions(o, asks, copy);
    for (size_t i = 0; i < o->count; i++)
        join_value(o, i, join, copy);
}

static size_t block_count(LLVMValueRef function)
{
    size_t count = 0;

    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        count++;
    return count;
}

void cc_join_sweeps(struct cc_lowering *l)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(l->module); f != NULL; f = LLVMGetNextFunction(f)) {
        size_t left = cc_is_careful(f) ? block_count(f) : 0; /* not the blocks that are added */
        LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f);
        for (; left > 0; left--, b = LLVMGetNextBasicBlock(b)) {
            struct loop o = {.l = l, .function = f, .block = b};
            if (find_loop(&o))
                divide_loop(&o);
        }
    }
}
