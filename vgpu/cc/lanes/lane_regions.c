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
    struct cc_barrier made = {0};

    cc_tell(r, barrier, &made);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(r->l->context);
    LLVMBasicBlockRef before = LLVMGetInstructionParent(barrier),
                      after = cc_add_block(r->l, r->function);
    LLVMValueRef next, i = LLVMGetNextInstruction(barrier);

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
    made.before = before;
    made.after = after;
    r->barrier[r->barrier_count++] = made;
    r->warps |= made.kind >= CC_MEET_WARP;
}

static LLVMValueRef next_barrier(struct cc_regions *r)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(r->function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i != NULL; i = LLVMGetNextInstruction(i))
            if (cc_meeting_at(i) != CC_MEET_NOT)
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
    LLVMBuildStore(g->b, cc_number(g->r->l, coming, 32), g->r->coming);
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
        if (g->made[i] != NULL && n->block[i] != 0)
            connect(g, n->value[i], g->made[i]);
}

/* ---- from region to region ---- */

static void copy_same(LLVMBuilderRef b, LLVMTypeRef type, LLVMValueRef from, LLVMValueRef to)
{
    LLVMBuildStore(b, LLVMBuildLoad2(b, type, from, ""), to);
}

/* Builds what follows when all threads, or all of a warp, have reached the barrier. */
static LLVMBasicBlockRef pass_barrier(struct cc_regions *r, LLVMBuilderRef b, size_t barrier)
{
    LLVMTypeRef number = cc_int_type(r->l, 64);
    LLVMBasicBlockRef block = cc_add_block(r->l, r->function);
    enum cc_meeting kind = r->barrier[barrier].kind;

    LLVMPositionBuilderAtEnd(b, block);
    LLVMValueRef more =
        LLVMBuildBinOp(b, LLVM_OP_ADD, LLVMBuildLoad2(b, number, r->counted, ""),
                       cc_number(r->l, kind == CC_MEET_BARRIER || kind == CC_MEET_COUNT, 64), "");
    LLVMBuildStore(b, more, r->counted);
    cc_answer_all(r, b, &r->barrier[barrier]);
    for (size_t i = 0; i < r->same_count; i++)
        copy_same(b, r->same[i].type, r->same[i].out,
                  r->warps && !cc_is_of_warp(r, barrier) ? r->same[i].start : r->same[i].in);
    return block;
}

static bool comes_to(const struct region *g, size_t barrier)
{
    const struct cc_graph *graph = &g->r->graph;

    if (barrier == g->r->barrier_count)
        return g->copy[cc_block_number(graph, g->r->done)] != NULL;
    return g->has[cc_block_number(graph, g->r->barrier[barrier].before)];
}

/* Goes on, at the end of block `at`, to the block `to` if `coming` is at least `k`, and otherwise
 * to `other`; returns the block for more such. */
static LLVMBasicBlockRef branch_to(struct cc_regions *r, LLVMBuilderRef b, LLVMBasicBlockRef at,
                                   size_t k, LLVMBasicBlockRef other)
{
    LLVMBasicBlockRef more = cc_add_block(r->l, r->function);

    LLVMPositionBuilderAtEnd(b, at);
    LLVMValueRef coming = LLVMBuildLoad2(b, cc_int_type(r->l, 32), r->coming, "");
    LLVMValueRef later = LLVMBuildICmp(b, VGPU_UGE + 32, coming, cc_number(r->l, k, 32), "");
    LLVMBuildCondBr(b, later, more, other);
    return more;
}

/* Where threads go that have come to barrier k, or to the end. */
static LLVMBasicBlockRef after_barrier(struct cc_regions *r, LLVMBuilderRef b, size_t k)
{
    if (r->warps && !cc_is_of_warp(r, k))
        return r->warp_done;
    if (k == r->barrier_count)
        return r->done;
    LLVMBasicBlockRef passed = pass_barrier(r, b, k);
    LLVMBuildBr(b, r->start[k + 1]);
    return passed;
}

/* After the loops. */
static void continue_after(struct region *g, LLVMBasicBlockRef after)
{
    struct cc_regions *r = g->r;
    LLVMBasicBlockRef at = after, to = NULL;

    for (size_t k = 0; k <= r->barrier_count; k++) {
        if (!comes_to(g, k))
            continue;
        LLVMBasicBlockRef last = to;
        to = after_barrier(r, g->b, k);
        if (last != NULL)
            at = branch_to(r, g->b, at, k, last);
    }
    LLVMPositionBuilderAtEnd(g->b, at);
    LLVMBuildBr(g->b, to != NULL ? to : r->done);
}

/* ---- counters ---- */

static bool counts_here(const struct region *g, size_t counter)
{
    int block = g->r->counter_block[counter];

    return block != CC_NO_BLOCK && g->has[block];
}

/* A region counts in variables of its own and adds them to the totals at its end: hundreds that
 * live through the whole kernel would be in memory during the loops. */
static void start_counters(struct region *g)
{
    LLVMTypeRef number = cc_int_type(g->r->l, 64);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(g->r->l->context);

    LLVMPositionBuilderBefore(b, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(g->r->function)));
    for (size_t i = 0; i < g->r->counters; i++) {
        if (!counts_here(g, i))
            continue;
        LLVMValueRef own = LLVMBuildAlloca(b, number, "");
        LLVMBuildStore(g->b, cc_number(g->r->l, 0, 64), own);
        g->made[cc_number_of(g->r->numbers, g->r->counter[i])] = own;
    }
}

static void end_counters(struct region *g)
{
    LLVMTypeRef number = cc_int_type(g->r->l, 64);

    for (size_t i = 0; i < g->r->counters; i++) {
        LLVMValueRef at = cc_number(g->r->l, i, 64);
        if (!counts_here(g, i))
            continue;
        LLVMValueRef to = LLVMBuildGEP2(g->b, number, g->r->totals, &at, 1, "");
        LLVMValueRef own = copy_of(g, g->r->counter[i]);
        own = g->r->counts_once[i] ? cc_narrow_counter(g->r, g->b, own)
                                   : LLVMBuildLoad2(g->b, number, own, "");
        LLVMValueRef sum =
            LLVMBuildBinOp(g->b, LLVM_OP_ADD, LLVMBuildLoad2(g->b, number, to, ""), own, "");
        LLVMBuildStore(g->b, sum, to);
    }
}

static void make_region(struct cc_regions *r, int first, size_t number)
{
    size_t blocks = (size_t)r->graph.count;
    struct region g = {.r = r, .b = LLVMCreateBuilderInContext(r->l->context), .first = first};

    g.has = cc_alloc(blocks);
    g.copy = cc_alloc(blocks * sizeof *g.copy);
    g.made = cc_alloc((r->numbers->count + 1) * sizeof *g.made);
    find_blocks(&g, first);
    LLVMPositionBuilderAtEnd(g.b, r->start[number]);
    start_counters(&g);
    struct cc_loops loops = r->warps ? cc_make_warp_loop(r->of, g.b) : cc_make_loops(r->of, g.b);
    g.next = loops.next;
    copy_code(&g);
    cc_join_ends(r, first, g.has, g.copy);
    LLVMPositionBuilderAtEnd(g.b, loops.body);
    LLVMBuildBr(g.b, g.copy[first]);
    LLVMPositionBuilderAtEnd(g.b, loops.after);
    end_counters(&g);
    continue_after(&g, loops.after);
}

/* ---- warp after warp ---- */

/* Each warp starts in the current region. */
static void start_warp(struct cc_regions *r, LLVMBuilderRef b, LLVMBasicBlockRef at)
{
    LLVMTypeRef word = cc_int_type(r->l, 32);

    LLVMPositionBuilderAtEnd(b, at);
    for (size_t i = 0; i < r->same_count; i++)
        copy_same(b, r->same[i].type, r->same[i].start, r->same[i].in);
    for (size_t k = 0; k < r->barrier_count; k++) {
        if (cc_is_of_warp(r, k))
            continue;
        LLVMBasicBlockRef more = cc_add_block(r->l, r->function);
        LLVMValueRef is = LLVMBuildICmp(b, VGPU_EQ + 32, LLVMBuildLoad2(b, word, r->current, ""),
                                        cc_number(r->l, k + 1, 32), "");
        LLVMBuildCondBr(b, is, r->start[k + 1], more);
        LLVMPositionBuilderAtEnd(b, more);
    }
    LLVMBuildBr(b, r->start[0]);
}

/* All warps have come to the same barrier of the block, or to the end. */
static void pass_block(struct cc_regions *r, LLVMBuilderRef b, LLVMBasicBlockRef at,
                       LLVMBasicBlockRef first)
{
    LLVMBasicBlockRef last = NULL;

    for (size_t k = 0; k < r->barrier_count; k++) {
        if (cc_is_of_warp(r, k))
            continue;
        LLVMBasicBlockRef to = pass_barrier(r, b, k);
        LLVMBuildStore(b, cc_number(r->l, k + 1, 32), r->current);
        LLVMBuildBr(b, first);
        if (last != NULL)
            at = branch_to(r, b, at, k, last);
        last = to;
    }
    if (last != NULL)
        at = branch_to(r, b, at, r->barrier_count, last);
    LLVMPositionBuilderAtEnd(b, at);
    LLVMBuildBr(b, r->done);
}

static LLVMBasicBlockRef make_warps(struct cc_regions *r, LLVMBuilderRef b)
{
    LLVMBasicBlockRef first = cc_add_block(r->l, r->function),
                      again = cc_add_block(r->l, r->function),
                      all_done = cc_add_block(r->l, r->function);

    LLVMPositionBuilderAtEnd(b, first);
    cc_first_warp(r->of, b);
    LLVMBuildBr(b, again);
    start_warp(r, b, again);
    LLVMPositionBuilderAtEnd(b, r->warp_done);
    cc_next_warp(r->of, b, again, all_done);
    pass_block(r, b, all_done, first);
    return first;
}

/* ---- all of it ---- */

static void make_all_regions(struct cc_regions *r)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(r->l->context);
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(r->function), first;

    r->start = cc_alloc((r->barrier_count + 1) * sizeof(LLVMBasicBlockRef));
    LLVMPositionBuilderBefore(b, LLVMGetFirstInstruction(entry));
    r->coming = LLVMBuildAlloca(b, cc_int_type(r->l, 32), "");
    r->current = LLVMBuildAlloca(b, cc_int_type(r->l, 32), "");
    LLVMPositionBuilderBefore(b, LLVMGetBasicBlockTerminator(entry));
    LLVMBuildStore(b, cc_number(r->l, 0, 32), r->current);
    r->warp_done = r->warps ? cc_add_block(r->l, r->function) : NULL;
    for (size_t i = 0; i <= r->barrier_count; i++)
        r->start[i] = cc_add_block(r->l, r->function);
    for (size_t i = 0; i <= r->barrier_count; i++)
        make_region(r, cc_block_number(&r->graph, i == 0 ? r->first : r->barrier[i - 1].after), i);
    first = r->warps ? make_warps(r, b) : r->start[0];
    LLVMSetSuccessor(LLVMGetBasicBlockTerminator(entry), 0, first);
}

static void find_same_ways(struct cc_regions *r)
{
    r->same_way = cc_alloc((size_t)r->graph.count);
    for (int k = 0; k < r->graph.count; k++) {
        long number = cc_number_of(r->numbers, r->graph.block[k].terminator);
        r->same_way[k] = !r->numbers->varies[number];
    }
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
    if (why == NULL && cc_divide_series(r)) {
        cc_number_values(r);
        why = cc_check_uniform(r);
    }
    if (why == NULL)
        find_same_ways(r);
    if (why == NULL)
        why = cc_keep_across(r);
    if (why != NULL)
        return why;
    cc_number_values(r);
    cc_find_counters(r);
    make_all_regions(r);
    return NULL;
}
