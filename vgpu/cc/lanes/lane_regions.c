/* SPDX-License-Identifier: MIT
 * lane_regions.c: see lane_regions.h. A region is a copy of the code that is reachable from its
 * barrier without passing another one; the same code may be in several regions. Its loops end
 * when all threads have reached the next barrier, whose number is stored in a variable.
 */
#include <string.h>

#include "lane_regions.h"

struct region {
    struct cc_regions *r;
    LLVMBuilderRef b;
    int first;               /* block */
    bool *has;               /* which blocks are in it */
    LLVMBasicBlockRef *copy; /* of these */
    LLVMValueRef *made;      /* copies of values */
    LLVMBasicBlockRef next;  /* block at which a thread's part of the region ends */
    LLVMValueRef coming; /* variable: number of the barrier that was reached; barrier_count: the end
                            of the kernel */
    LLVMBasicBlockRef *start; /* of all regions */
};

/* ---- barriers end blocks ---- */

/* Replaces the incoming block `old` by `new` in the block's phis. */
static void change_phis(struct cc_regions *r, LLVMBasicBlockRef block, LLVMBasicBlockRef old,
                        LLVMBasicBlockRef new)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(r->l->context);
    LLVMValueRef next, phi = LLVMGetFirstInstruction(block);

    for (; phi != NULL && LLVMIsAPHINode(phi) != NULL; phi = next) {
        next = LLVMGetNextInstruction(phi);
        LLVMPositionBuilderBefore(b, phi);
        LLVMValueRef made = LLVMBuildPhi(b, LLVMTypeOf(phi), "");
        for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
            LLVMValueRef value = LLVMGetIncomingValue(phi, i);
            LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, i);
            if (from == old)
                from = new;
            LLVMAddIncoming(made, &value, &from, 1);
        }
        LLVMReplaceAllUsesWith(phi, made);
        LLVMInstructionEraseFromParent(phi);
    }
}

static void split_at(struct cc_regions *r, LLVMValueRef barrier)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(r->l->context);
    LLVMBasicBlockRef before = LLVMGetInstructionParent(barrier),
                      after = cc_add_block(r->l, r->function);
    LLVMValueRef next, i = LLVMGetNextInstruction(barrier);
    bool counts = cc_is_barrier(barrier);

    LLVMPositionBuilderAtEnd(b, after);
    for (; i != NULL; i = next) {
        next = LLVMGetNextInstruction(i);
        LLVMInstructionRemoveFromParent(i);
        LLVMInsertIntoBuilder(b, i);
    }
    LLVMInstructionEraseFromParent(barrier);
    LLVMPositionBuilderAtEnd(b, before);
    LLVMBuildBr(b, after);
    LLVMValueRef end = LLVMGetBasicBlockTerminator(after);
    for (unsigned s = 0; s < LLVMGetNumSuccessors(end); s++)
        change_phis(r, LLVMGetSuccessor(end, s), before, after);
    r->barrier = cc_grow(r->barrier, r->barrier_count, &r->barrier_capacity, sizeof *r->barrier);
    r->barrier[r->barrier_count++] = (struct cc_barrier){before, after, counts};
}

static LLVMValueRef next_barrier(struct cc_regions *r)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(r->function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i != NULL; i = LLVMGetNextInstruction(i))
            if (cc_is_barrier(i) || cc_is_split(i))
                return i;
    return NULL;
}

/* The only value that the phi can have; null: it can have several. */
static LLVMValueRef only_value(LLVMValueRef phi)
{
    LLVMValueRef only = NULL;

    for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
        LLVMValueRef value = LLVMGetIncomingValue(phi, i);
        if (value != phi && only != NULL && value != only)
            return NULL;
        only = value != phi ? value : only;
    }
    return only;
}

/* Phis of an index that was read several times. */
static void drop_phis(struct cc_regions *r)
{
    LLVMValueRef next;

    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(r->function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i != NULL && LLVMIsAPHINode(i) != NULL;
             i = next) {
            next = LLVMGetNextInstruction(i);
            if (only_value(i) == NULL)
                continue;
            LLVMReplaceAllUsesWith(i, only_value(i));
            LLVMInstructionEraseFromParent(i);
        }
}

/* ---- copies ---- */

static void find_blocks(struct region *g, int block)
{
    const struct cc_regions *r = g->r;
    LLVMValueRef end = r->graph.block[block].terminator;

    if (g->has[block] || r->graph.block[block].block == r->done)
        return;
    g->has[block] = true;
    for (unsigned s = 0; s < LLVMGetNumSuccessors(end) && cc_barrier_after(r, block) < 0; s++)
        find_blocks(g, cc_block_number(&r->graph, LLVMGetSuccessor(end, s)));
}

static LLVMValueRef copy_of(const struct region *g, LLVMValueRef value)
{
    long number = cc_number_of(g->r->numbers, value);

    return number >= 0 && g->made[number] != NULL ? g->made[number] : value;
}

/* Ends a thread's part of the region. */
static void end_part(struct region *g, LLVMBasicBlockRef block, size_t coming)
{
    LLVMPositionBuilderAtEnd(g->b, block);
    LLVMBuildStore(g->b, cc_number(g->r->l, coming, 32), g->coming);
    LLVMBuildBr(g->b, g->next);
}

static LLVMBasicBlockRef copy_of_block(struct region *g, LLVMBasicBlockRef block)
{
    int number = cc_block_number(&g->r->graph, block);

    if (g->copy[number] == NULL) {
        g->copy[number] = cc_add_block(g->r->l, g->r->function);
        if (block == g->r->done)
            end_part(g, g->copy[number], g->r->barrier_count);
    }
    return g->copy[number];
}

static void copy_instruction(struct region *g, LLVMValueRef i)
{
    LLVMValueRef copy =
        LLVMIsAPHINode(i) != NULL ? LLVMBuildPhi(g->b, LLVMTypeOf(i), "") : LLVMInstructionClone(i);

    if (LLVMIsAPHINode(i) == NULL)
        LLVMInsertIntoBuilder(g->b, copy);
    g->made[cc_number_of(g->r->numbers, i)] = copy;
}

static void copy_block(struct region *g, int block)
{
    LLVMBasicBlockRef from = g->r->graph.block[block].block, to = copy_of_block(g, from);
    int barrier = cc_barrier_after(g->r, block);

    LLVMPositionBuilderAtEnd(g->b, to);
    for (LLVMValueRef i = LLVMGetFirstInstruction(from); i != NULL; i = LLVMGetNextInstruction(i))
        if (barrier < 0 || i != g->r->graph.block[block].terminator)
            copy_instruction(g, i);
    if (barrier >= 0)
        end_part(g, to, (size_t)barrier);
}

static void connect_phi(struct region *g, LLVMValueRef phi, LLVMValueRef copy)
{
    for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
        int from = cc_block_number(&g->r->graph, LLVMGetIncomingBlock(phi, i));
        LLVMValueRef value = copy_of(g, LLVMGetIncomingValue(phi, i));
        if (g->has[from] && cc_barrier_after(g->r, from) < 0)
            LLVMAddIncoming(copy, &value, &g->copy[from], 1);
    }
}

static void connect(struct region *g, LLVMValueRef i, LLVMValueRef copy)
{
    if (LLVMIsAPHINode(i) != NULL) {
        connect_phi(g, i, copy);
        return;
    }
    bool branch = LLVMGetInstructionOpcode(i) == LLVM_OP_BR;
    for (unsigned s = 0; branch && s < LLVMGetNumSuccessors(i); s++)
        LLVMSetSuccessor(copy, s, copy_of_block(g, LLVMGetSuccessor(i, s)));
    for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(i); k++) {
        long number = cc_number_of(g->r->numbers, LLVMGetOperand(i, k));
        if (number >= 0 && g->made[number] != NULL)
            LLVMSetOperand(copy, k, g->made[number]);
    }
}

static void copy_code(struct region *g)
{
    const struct cc_numbers *n = g->r->numbers;

    for (int b = 0; b < g->r->graph.count; b++)
        if (g->has[b])
            copy_block(g, b);
    for (size_t i = 0; i < n->count; i++)
        if (g->made[i] != NULL)
            connect(g, n->value[i], g->made[i]);
}

/* ---- from region to region ---- */

/* Builds what follows when all threads have reached the barrier. */
static LLVMBasicBlockRef pass_barrier(struct region *g, size_t barrier)
{
    const struct cc_regions *r = g->r;
    LLVMTypeRef number = cc_int_type(r->l, 64);
    LLVMBasicBlockRef block = cc_add_block(r->l, r->function);

    LLVMPositionBuilderAtEnd(g->b, block);
    LLVMValueRef more =
        LLVMBuildBinOp(g->b, LLVM_OP_ADD, LLVMBuildLoad2(g->b, number, r->counted, ""),
                       cc_number(r->l, r->barrier[barrier].counts, 64), "");
    LLVMBuildStore(g->b, more, r->counted);
    for (size_t i = 0; i < r->same_count; i++)
        LLVMBuildStore(g->b, LLVMBuildLoad2(g->b, r->same[i].type, r->same[i].out, ""),
                       r->same[i].in);
    LLVMBuildBr(g->b, g->start[barrier + 1]);
    return block;
}

static bool comes_to(const struct region *g, size_t barrier)
{
    const struct cc_graph *graph = &g->r->graph;

    if (barrier == g->r->barrier_count)
        return g->copy[cc_block_number(graph, g->r->done)] != NULL;
    return g->has[cc_block_number(graph, g->r->barrier[barrier].before)];
}

/* After the loops. */
static void continue_after(struct region *g, LLVMBasicBlockRef after)
{
    struct cc_regions *r = g->r;
    LLVMBasicBlockRef at = after, to = NULL;

    for (size_t k = 0; k <= r->barrier_count; k++) {
        if (!comes_to(g, k))
            continue;
        LLVMBasicBlockRef last = to, other;
        to = k == r->barrier_count ? r->done : pass_barrier(g, k);
        if (last == NULL)
            continue;
        other = cc_add_block(r->l, r->function);
        LLVMPositionBuilderAtEnd(g->b, at);
        LLVMValueRef coming = LLVMBuildLoad2(g->b, cc_int_type(r->l, 32), g->coming, "");
        LLVMValueRef later = LLVMBuildICmp(g->b, VGPU_UGE + 32, coming, cc_number(r->l, k, 32), "");
        LLVMBuildCondBr(g->b, later, other, last);
        at = other;
    }
    LLVMPositionBuilderAtEnd(g->b, at);
    LLVMBuildBr(g->b, to != NULL ? to : r->done);
}

static void make_region(struct cc_regions *r, int first, size_t number, LLVMBasicBlockRef *start,
                        LLVMValueRef coming)
{
    size_t blocks = (size_t)r->graph.count;
    struct region g = {.r = r,
                       .b = LLVMCreateBuilderInContext(r->l->context),
                       .first = first,
                       .start = start,
                       .coming = coming};

    g.has = cc_alloc(blocks);
    g.copy = cc_alloc(blocks * sizeof *g.copy);
    g.made = cc_alloc((r->numbers->count + 1) * sizeof *g.made);
    find_blocks(&g, first);
    LLVMPositionBuilderAtEnd(g.b, start[number]);
    struct cc_loops loops = cc_make_loops(r->of, g.b);
    g.next = loops.next;
    copy_code(&g);
    LLVMPositionBuilderAtEnd(g.b, loops.body);
    LLVMBuildBr(g.b, g.copy[first]);
    continue_after(&g, loops.after);
}

static void make_all_regions(struct cc_regions *r)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(r->l->context);
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(r->function);
    LLVMBasicBlockRef *start = cc_alloc((r->barrier_count + 1) * sizeof *start);

    LLVMPositionBuilderBefore(b, LLVMGetFirstInstruction(entry));
    LLVMValueRef coming = LLVMBuildAlloca(b, cc_int_type(r->l, 32), "");
    for (size_t i = 0; i <= r->barrier_count; i++)
        start[i] = cc_add_block(r->l, r->function);
    for (size_t i = 0; i <= r->barrier_count; i++) {
        LLVMBasicBlockRef first = i == 0 ? r->first : r->barrier[i - 1].after;
        make_region(r, cc_block_number(&r->graph, first), i, start, coming);
    }
    LLVMSetSuccessor(LLVMGetBasicBlockTerminator(entry), 0, start[0]);
}

const char *cc_make_regions(struct cc_regions *r)
{
    LLVMValueRef barrier;

    drop_phis(r);
    while ((barrier = next_barrier(r)) != NULL)
        split_at(r, barrier);
    const char *why = cc_make_graph(r->function, &r->graph);
    if (why != NULL)
        return why;
    cc_number_values(r);
    why = cc_check_uniform(r);
    if (why == NULL)
        why = cc_keep_across(r);
    if (why != NULL)
        return why;
    cc_number_values(r);
    make_all_regions(r);
    return NULL;
}
