/* SPDX-License-Identifier: MIT
 * sweep_copy.c: the copy of a loop whose accesses are counted and checked together, and what is
 * asked in front of it; see lower_sweeps.c.
 */
#include "sweeps.h"

#include "comparison.h"
#include "image.h"

#include <string.h>

enum { ROUNDS_MIN = 8 /* it is not worth asking for fewer */ };

/* ---- values of a round, in front of the loop ---- */

static LLVMValueRef at_round(struct cc_loop *o, LLVMValueRef value, LLVMValueRef round);

static LLVMValueRef copy_for_round(struct cc_loop *o, LLVMValueRef value, LLVMValueRef round)
{
    LLVMValueRef copy = LLVMInstructionClone(value);

    for (int k = 0; k < LLVMGetNumOperands(value); k++)
        LLVMSetOperand(copy, (unsigned)k, at_round(o, LLVMGetOperand(value, (unsigned)k), round));
    LLVMInsertIntoBuilder(o->b, copy);
    return copy;
}

/* start + round * step, in the variable's own width. */
static LLVMValueRef variable_at(struct cc_loop *o, LLVMValueRef phi, LLVMValueRef round)
{
    LLVMValueRef start = cc_value_from(phi, o->before), next = cc_value_from(phi, o->block);
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

static LLVMValueRef at_round(struct cc_loop *o, LLVMValueRef value, LLVMValueRef round)
{
    if (!cc_is_of_loop(o, value))
        return value;
    return LLVMIsAPHINode(value) != NULL ? variable_at(o, value, round)
                                         : copy_for_round(o, value, round);
}

static LLVMValueRef as_word(struct cc_loop *o, LLVMValueRef value, bool is_signed)
{
    LLVMTypeRef word = cc_int_type(o->l, 64);

    if (LLVMGetTypeKind(LLVMTypeOf(value)) == LLVM_TYPE_POINTER)
        return LLVMBuildCast(o->b, LLVM_OP_PTR_TO_INT, value, word, "");
    return LLVMBuildIntCast2(o->b, value, word, is_signed, "");
}

static LLVMValueRef question(struct cc_loop *o, const char *name, unsigned result_bits,
                             LLVMValueRef *argument, unsigned count)
{
    LLVMTypeRef parameter[8], result = result_bits == 0 ? LLVMVoidTypeInContext(o->l->context)
                                                        : cc_int_type(o->l, result_bits);

    for (unsigned i = 0; i < count; i++)
        parameter[i] = LLVMTypeOf(argument[i]);
    LLVMTypeRef type = LLVMFunctionType(result, parameter, count, 0);
    return LLVMBuildCall2(o->b, type, cc_declare(o->l, name, type), argument, count, "");
}

/* The number of rounds, as vgpu-exec computes it. */
static LLVMValueRef ask_rounds(struct cc_loop *o)
{
    LLVMValueRef left = LLVMGetOperand(o->compare, 0), right = LLVMGetOperand(o->compare, 1),
                 end = LLVMGetBasicBlockTerminator(o->block);
    int how = LLVMGetICmpPredicate(o->compare) - CC_COMPARE_BASE;
    bool is_left = !cc_stays(o, left), is_signed = how >= VGPU_SGT;
    LLVMValueRef grows = is_left ? left : right, stays_same = is_left ? right : left;
    LLVMValueRef zero = cc_number(o->l, 0, 64), one = cc_number(o->l, 1, 64);

    how = is_left ? how : cc_mirrored(how);
    how = LLVMGetSuccessor(end, 0) == o->block ? how : cc_opposite(how);
    LLVMValueRef argument[] = {as_word(o, at_round(o, grows, zero), is_signed),
                               as_word(o, at_round(o, grows, one), is_signed),
                               as_word(o, at_round(o, stays_same, zero), is_signed),
                               cc_number(o->l, VGPU_ROUNDS(how, cc_value_bits(grows)), 32)};
    return question(o, "vgpu_rounds", 64, argument, 4);
}

/* ---- the blocks ---- */

/* The phi gets its value from `to` where it came from `from`; `also`: and from that, if not null.
 */
static LLVMValueRef moved_phi(struct cc_loop *o, LLVMValueRef phi, LLVMBasicBlockRef from,
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

static void move_phis(struct cc_loop *o, LLVMBasicBlockRef in, LLVMBasicBlockRef from,
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
static void hide_access(struct cc_loop *o, LLVMValueRef access, LLVMValueRef copy)
{
    unsigned operand = (unsigned)cc_address_operand(access);
    LLVMTypeRef type = LLVMPointerType(LLVMGetInstructionOpcode(access) == LLVM_OP_LOAD
                                           ? LLVMTypeOf(access)
                                           : LLVMTypeOf(LLVMGetOperand(access, 0)),
                                       CC_UNSEEN_SPACE);

    LLVMPositionBuilderBefore(o->b, copy);
    LLVMValueRef number = as_word(o, LLVMGetOperand(copy, operand), false);
    LLVMSetOperand(copy, operand, LLVMBuildCast(o->b, LLVM_OP_INT_TO_PTR, number, type, ""));
}

/* If the store ends an addition to a counter of work (load, add, store): the load; else null. */
static LLVMValueRef work_counted(const struct cc_loop *o, LLVMValueRef store)
{
    if (LLVMGetInstructionOpcode(store) != LLVM_OP_STORE || !cc_is_unseen(store))
        return NULL;
    LLVMValueRef sum = LLVMGetOperand(store, 0);
    if (!cc_is_of_loop(o, sum) || LLVMGetInstructionOpcode(sum) != LLVM_OP_ADD)
        return NULL;
    LLVMValueRef load = LLVMGetOperand(sum, 0);
    return cc_is_of_loop(o, load) && LLVMGetInstructionOpcode(load) == LLVM_OP_LOAD &&
                   cc_counts_work(load)
               ? load
               : NULL;
}

/* The work of all rounds is counted in front of the copy, which then has no such counters. */
static void count_work_once(struct cc_loop *o, LLVMValueRef rounds)
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
        o->copy[i] = o->copy[cc_instruction_index(o, sum)] =
            o->copy[cc_instruction_index(o, load)] = store; /* a mark: not copied */
    }
}

static LLVMValueRef copied_value(const struct cc_loop *o, LLVMValueRef value)
{
    size_t i = cc_instruction_index(o, value);

    return i < o->count ? o->copy[i] : value;
}

static void connect_copy(struct cc_loop *o, size_t i, LLVMBasicBlockRef from,
                         LLVMBasicBlockRef copy)
{
    LLVMValueRef old = o->instruction[i], made = o->copy[i];

    if (LLVMIsAPHINode(old) != NULL) {
        LLVMValueRef start = cc_value_from(old, o->before),
                     next = copied_value(o, cc_value_from(old, o->block));
        LLVMAddIncoming(made, &start, &from, 1);
        LLVMAddIncoming(made, &next, &copy, 1);
        return;
    }
    for (int k = 0; k < LLVMGetNumOperands(old); k++)
        if (cc_is_of_loop(o, LLVMGetOperand(old, (unsigned)k)))
            LLVMSetOperand(made, (unsigned)k, copied_value(o, LLVMGetOperand(old, (unsigned)k)));
}

/* Copies the loop; o->copy has the counters of work already, and what stays. */
static void copy_loop(struct cc_loop *o, LLVMBasicBlockRef from, LLVMBasicBlockRef copy)
{
    bool done[CC_LOOP_INSTRUCTIONS_MAX];

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
        hide_access(o, o->sweep[i].access, copied_value(o, o->sweep[i].access));
    redirect(copy, o->block, copy);
}

/* What the loop computes and others use is in `join` either the loop's or its copy's. */
static void join_value(struct cc_loop *o, size_t i, LLVMBasicBlockRef join, LLVMBasicBlockRef copy)
{
    LLVMValueRef value = o->instruction[i], phi = NULL;
    LLVMUseRef next;

    for (LLVMUseRef use = LLVMGetFirstUse(value); use != NULL; use = next) {
        LLVMValueRef user = LLVMGetUser(use);
        next = LLVMGetNextUse(use);
        if (LLVMIsAInstruction(user) == NULL || cc_is_of_loop(o, user) || user == phi)
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
static LLVMBasicBlockRef join_ends(struct cc_loop *o)
{
    LLVMBasicBlockRef join = cc_add_block(o->l, o->function);

    LLVMPositionBuilderAtEnd(o->b, join);
    LLVMBuildBr(o->b, o->after);
    redirect(o->block, o->after, join);
    move_phis(o, o->after, o->block, join, NULL);
    return join;
}

/* The sweeps: whether all of them hold. */
static LLVMValueRef ask_sweeps(struct cc_loop *o, LLVMValueRef rounds, LLVMValueRef *first)
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
        LLVMValueRef holds = question(o, "vgpu_sweep_holds", 32, argument, 5);
        all = all == NULL ? holds : LLVMBuildBinOp(o->b, LLVM_OP_AND, all, holds, "");
    }
    return LLVMBuildICmp(o->b, LLVM_IS_NOT_EQUAL, all, cc_number(o->l, 0, 32), "");
}

static void count_sweeps(struct cc_loop *o, LLVMValueRef rounds, LLVMValueRef *first)
{
    for (size_t i = 0; i < o->sweep_count; i++) {
        LLVMValueRef argument[] = {first[i], rounds, cc_number(o->l, o->sweep[i].how, 32)};
        question(o, "vgpu_sweep_count", 0, argument, 3);
    }
}

/* In front of the loop; the builder ends in the block from which the copy is entered. */
static void build_questions(struct cc_loop *o, LLVMBasicBlockRef asks_rounds,
                            LLVMBasicBlockRef copy)
{
    LLVMBasicBlockRef asks_sweeps = cc_add_block(o->l, o->function),
                      counts = cc_add_block(o->l, o->function);
    LLVMValueRef first[CC_SWEEPS_MAX];

    LLVMPositionBuilderAtEnd(o->b, asks_rounds);
    LLVMSetCurrentDebugLocation2(o->b,
                                 LLVMInstructionGetDebugLoc(LLVMGetBasicBlockTerminator(o->block)));
    LLVMValueRef rounds = ask_rounds(o);
    LLVMValueRef many = LLVMBuildICmp(o->b, VGPU_UGE + CC_COMPARE_BASE, rounds,
                                      cc_number(o->l, ROUNDS_MIN, 64), "");
    LLVMBuildCondBr(o->b, many, asks_sweeps, o->block);
    LLVMPositionBuilderAtEnd(o->b, asks_sweeps);
    LLVMValueRef all = ask_sweeps(o, rounds, first);
    LLVMBuildCondBr(o->b, all, counts, o->block);
    LLVMPositionBuilderAtEnd(o->b, counts);
    count_sweeps(o, rounds, first);
    count_work_once(o, rounds);
    for (size_t i = 0; i < o->count; i++)
        if (LLVMIsAPHINode(o->instruction[i]) == NULL && o->copy[i] == NULL &&
            cc_stays(o, o->instruction[i]))
            o->copy[i] = at_round(o, o->instruction[i], cc_number(o->l, 0, 64));
    LLVMBuildBr(o->b, copy);
    move_phis(o, o->block, asks_rounds, asks_rounds, asks_sweeps);
    o->before = asks_rounds;
    cc_list_instructions(o); /* with the phis that were made anew */
    copy_loop(o, counts, copy);
}

void cc_divide_loop(struct cc_loop *o)
{
    LLVMBasicBlockRef asks = cc_add_block(o->l, o->function);

    o->b = LLVMCreateBuilderInContext(o->l->context);
    redirect(o->before, o->block, asks);
    move_phis(o, o->block, o->before, asks, NULL);
    cc_find_loop(o); /* once more, since its phis are others now */
    memset(o->copy, 0, sizeof o->copy);
    LLVMBasicBlockRef join = join_ends(o), copy = cc_add_block(o->l, o->function);
    o->after = join;
    build_questions(o, asks, copy);
    for (size_t i = 0; i < o->count; i++)
        join_value(o, i, join, copy);
}
