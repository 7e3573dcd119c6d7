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
 * vgpu-exec sees from these three whether the last address is where it would be if the addresses
 * grew by the same amount in each round. This suffices: all instructions that lead to an address
 * are sums and products with what stays, modulo 2 to the number of bits, except that one of them
 * may widen a number. If the narrow number overflows, the last address is off by 2 to its bits,
 * times products that are small (WIDENED_FACTOR_MAX).
 */
#include "sweeps.h"

#include "image.h"

#include <string.h>

enum { WIDENED_SHIFT_MAX = 20, WIDENED_FACTOR_MAX = 1 << WIDENED_SHIFT_MAX };

size_t cc_instruction_index(const struct cc_loop *o, LLVMValueRef value)
{
    size_t i = 0;

    while (i < o->count && o->instruction[i] != value)
        i++;
    return i;
}

bool cc_is_of_loop(const struct cc_loop *o, LLVMValueRef value)
{
    return cc_instruction_index(o, value) < o->count;
}

/* ---- values that stay, and values that grow evenly ---- */

bool cc_is_unseen(LLVMValueRef access)
{
    int operand = cc_address_operand(access);

    return operand >= 0 &&
           LLVMGetPointerAddressSpace(LLVMTypeOf(LLVMGetOperand(access, (unsigned)operand))) ==
               CC_UNSEEN_SPACE;
}

bool cc_counts_work(LLVMValueRef load)
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

/* `depth`: how many instructions of the loop may follow each other on the way to the value. */
static bool stays_by(const struct cc_loop *o, LLVMValueRef value, int depth)
{
    if (!cc_is_of_loop(o, value))
        return true;
    int op = LLVMGetInstructionOpcode(value);
    if (op == LLVM_OP_LOAD)
        return cc_is_unseen(value) && LLVMIsAConstant(LLVMGetOperand(value, 0)) != NULL &&
               !cc_counts_work(value);
    if (depth == 0 || (!is_sum(op) && !is_product(op) && !widens(op) && op != LLVM_OP_TRUNC &&
                       op != LLVM_OP_GEP && op != LLVM_OP_BIT_CAST))
        return false;
    for (int k = 0; k < LLVMGetNumOperands(value); k++)
        if (!stays_by(o, LLVMGetOperand(value, (unsigned)k), depth - 1))
            return false;
    return true;
}

bool cc_stays(const struct cc_loop *o, LLVMValueRef value)
{
    enum { DEPTH_MAX = 8 };

    return stays_by(o, value, DEPTH_MAX);
}

LLVMValueRef cc_value_from(LLVMValueRef phi, LLVMBasicBlockRef from)
{
    unsigned i = 0;

    while (LLVMGetIncomingBlock(phi, i) != from)
        i++;
    return LLVMGetIncomingValue(phi, i);
}

/* A variable of the loop that grows by a value that stays: phi = [start], [phi + step], or shrinks.
 */
static bool grows_by_round(const struct cc_loop *o, LLVMValueRef phi)
{
    LLVMValueRef next = cc_value_from(phi, o->block);

    if (!cc_is_of_loop(o, next))
        return false;
    int op = LLVMGetInstructionOpcode(next);
    if (op == LLVM_OP_GEP)
        return LLVMGetOperand(next, 0) == phi && LLVMGetNumOperands(next) == 2 &&
               cc_stays(o, LLVMGetOperand(next, 1));
    if (op == LLVM_OP_SUB)
        return LLVMGetOperand(next, 0) == phi && cc_stays(o, LLVMGetOperand(next, 1));
    return op == LLVM_OP_ADD &&
           (LLVMGetOperand(next, 0) == phi || LLVMGetOperand(next, 1) == phi) &&
           cc_stays(o, LLVMGetOperand(next, LLVMGetOperand(next, 0) == phi ? 1 : 0));
}

static bool is_narrow(LLVMValueRef value)
{
    return LLVMGetTypeKind(LLVMTypeOf(value)) == LLVM_TYPE_INTEGER &&
           LLVMGetIntTypeWidth(LLVMTypeOf(value)) < 64;
}

/* The operand that does not stay; -1: there are several. */
static int growing_operand(const struct cc_loop *o, LLVMValueRef value)
{
    int found = -1;

    for (int k = 0; k < LLVMGetNumOperands(value); k++) {
        if (cc_stays(o, LLVMGetOperand(value, (unsigned)k)))
            continue;
        if (found >= 0)
            return -1;
        found = k;
    }
    return found;
}

/* A product with a number that stays. Behind a widened number it must be a small constant. */
static bool is_fit_product(LLVMValueRef value, int growing, bool widened)
{
    LLVMValueRef by = LLVMIsAConstantInt(LLVMGetOperand(value, growing == 0 ? 1 : 0));
    bool is_shift = LLVMGetInstructionOpcode(value) == LLVM_OP_SHL;

    if (is_shift && growing != 0)
        return false;
    return !widened || (by != NULL && LLVMConstIntGetZExtValue(by) <
                                          (is_shift ? WIDENED_SHIFT_MAX : WIDENED_FACTOR_MAX));
}

/* Whether the value grows evenly, apart from overflows; *widened: how many numbers are widened on
 * the way from a loop's variable to it. */
static bool grows_evenly(const struct cc_loop *o, LLVMValueRef value, unsigned *widened)
{
    if (cc_stays(o, value))
        return true;
    int op = LLVMGetInstructionOpcode(value), k = growing_operand(o, value);
    if (op == LLVM_OP_PHI)
        return grows_by_round(o, value);
    if (k < 0 || !grows_evenly(o, LLVMGetOperand(value, (unsigned)k), widened))
        return false;
    *widened += widens(op) || (op == LLVM_OP_GEP && is_narrow(LLVMGetOperand(value, (unsigned)k)));
    if (is_product(op))
        return is_fit_product(value, k, *widened > 0);
    if (op == LLVM_OP_GEP)
        return *widened == 0 ||
               LLVMABISizeOfType(o->l->layout, LLVMGetGEPSourceElementType(value)) <
                   WIDENED_FACTOR_MAX;
    return is_sum(op) || widens(op) || op == LLVM_OP_BIT_CAST;
}

static bool can_be_computed(const struct cc_loop *o, LLVMValueRef value)
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
static bool may_be_unreported(const struct cc_loop *o, LLVMValueRef address)
{
    for (;;) {
        int op = LLVMIsAInstruction(address) != NULL ? LLVMGetInstructionOpcode(address) : 0;
        if (op == LLVM_OP_GEP || op == LLVM_OP_BIT_CAST || op == LLVM_OP_ADDR_SPACE_CAST)
            address = LLVMGetOperand(address, 0);
        else if (op == LLVM_OP_PHI && cc_is_of_loop(o, address))
            address = cc_value_from(address, o->before);
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

static void note_sweep(struct cc_loop *o, LLVMValueRef access)
{
    LLVMValueRef address = LLVMGetOperand(access, (unsigned)cc_address_operand(access));
    uint64_t bytes = cc_accessed_bytes(o->l, access);
    int kind = kind_of_bytes(bytes);

    if (cc_is_unseen(access) || kind < 0 || LLVMGetAlignment(access) < bytes ||
        o->sweep_count == CC_SWEEPS_MAX || may_be_unreported(o, address) ||
        !can_be_computed(o, address))
        return;
    o->sweep[o->sweep_count++] = (struct cc_sweep){
        access, VGPU_SWEEP(kind, LLVMGetInstructionOpcode(access) == LLVM_OP_STORE)};
}

/* Runs no code of others, and is no access that others wait for. */
static bool runs_alone(LLVMValueRef i)
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

bool cc_list_instructions(struct cc_loop *o)
{
    o->count = 0;
    for (LLVMValueRef i = LLVMGetFirstInstruction(o->block); i != NULL;
         i = LLVMGetNextInstruction(i)) {
        if (o->count == CC_LOOP_INSTRUCTIONS_MAX || !runs_alone(i))
            return false;
        o->instruction[o->count++] = i;
    }
    return true;
}

/* The loop around the block, if it is one. */
static bool find_ends(struct cc_loop *o)
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

unsigned cc_value_bits(LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value);

    return LLVMGetTypeKind(type) == LLVM_TYPE_INTEGER ? LLVMGetIntTypeWidth(type) : 64;
}

/* Whether a comparison of one value that grows evenly with one that stays ends the loop. */
static bool has_plain_end(struct cc_loop *o)
{
    if (!cc_is_of_loop(o, o->compare) || LLVMGetInstructionOpcode(o->compare) != LLVM_OP_COMPARE)
        return false;
    LLVMValueRef left = LLVMGetOperand(o->compare, 0), right = LLVMGetOperand(o->compare, 1);
    LLVMValueRef grows = cc_stays(o, right) ? left : right;
    unsigned widened = 0, bits = cc_value_bits(grows);
    return cc_stays(o, grows == left ? right : left) && !cc_stays(o, grows) &&
           (bits == 32 || bits == 64) && grows_evenly(o, grows, &widened) && widened == 0;
}

bool cc_find_loop(struct cc_loop *o)
{
    if (!find_ends(o) || !cc_list_instructions(o) || !has_plain_end(o))
        return false;
    o->sweep_count = 0;
    for (size_t i = 0; i < o->count; i++)
        if (cc_address_operand(o->instruction[i]) >= 0)
            note_sweep(o, o->instruction[i]);
    return o->sweep_count > 0;
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
            struct cc_loop o = {.l = l, .function = f, .block = b};
            if (cc_find_loop(&o))
                cc_divide_loop(&o);
        }
    }
}
