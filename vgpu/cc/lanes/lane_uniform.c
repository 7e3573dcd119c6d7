/* SPDX-License-Identifier: MIT
 * lane_uniform.c: divergence analysis: which values, and therefore which branches, may differ
 * between the threads of a block. All threads must reach the same barriers. Values loaded from
 * memory count as divergent. If the kernel has operations of warps, the same is asked of each warp,
 * with all barriers, and of the block with its own. There blockDim.x is a multiple of 32, so that
 * threadIdx.x / 32, .y and .z are the same in a warp.
 */
#include <string.h>

#include "lane_regions.h"

/* ---- numbers ---- */

static size_t hash_place(const struct cc_numbers *n, LLVMValueRef value)
{
    size_t at = (size_t)((uint64_t)(uintptr_t)value * 0x9E3779B97F4A7C15ull >> 20) % n->room;

    while (n->at[at] != 0 && n->value[n->at[at] - 1] != value)
        at = (at + 1) % n->room;
    return at;
}

long cc_number_of(const struct cc_numbers *n, LLVMValueRef value)
{
    return (long)n->at[hash_place(n, value)] - 1;
}

void cc_number_values(struct cc_regions *r)
{
    struct cc_numbers *n = cc_alloc(sizeof *n);
    size_t all = 0;

    for (int b = 0; b < r->graph.count; b++)
        for (LLVMValueRef i = LLVMGetFirstInstruction(r->graph.block[b].block); i != NULL;
             i = LLVMGetNextInstruction(i))
            all++;
    *n = (struct cc_numbers){.room = 2 * all + 8};
    n->value = cc_alloc((all + 1) * sizeof *n->value);
    n->block = cc_alloc((all + 1) * sizeof *n->block);
    n->varies = cc_alloc(all + 1);
    n->parts = cc_alloc(all + 1);
    n->at = cc_alloc(n->room * sizeof *n->at);
    for (int b = 0; b < r->graph.count; b++)
        for (LLVMValueRef i = LLVMGetFirstInstruction(r->graph.block[b].block); i != NULL;
             i = LLVMGetNextInstruction(i)) {
            n->value[n->count] = i;
            n->block[n->count] = b;
            n->at[hash_place(n, i)] = ++n->count;
        }
    r->numbers = n;
}

/* ---- which blocks each way leads through ---- */

struct paths {
    int count;
    bool *after;  /* count * count elements: [a * count + b]: b post-dominates a */
    bool *joined; /* blocks in which threads that diverged meet again */
};

static unsigned successors_of(const struct cc_regions *r, int block)
{
    return LLVMGetNumSuccessors(r->graph.block[block].terminator);
}

static int successor_of(const struct cc_regions *r, int block, unsigned which)
{
    return cc_block_number(&r->graph, LLVMGetSuccessor(r->graph.block[block].terminator, which));
}

static bool meet_successors(const struct cc_regions *r, struct paths *p, int block)
{
    bool changed = false;

    for (int b = 0; b < p->count; b++) {
        bool is = b == block || successors_of(r, block) != 0;
        for (unsigned s = 0; s < successors_of(r, block) && b != block; s++)
            is &= p->after[successor_of(r, block, s) * p->count + b];
        changed |= p->after[block * p->count + b] != is;
        p->after[block * p->count + b] = is;
    }
    return changed;
}

static struct paths find_paths(const struct cc_regions *r)
{
    struct paths p = {.count = r->graph.count};
    bool changed = true;

    p.after = cc_alloc((size_t)(p.count * p.count));
    p.joined = cc_alloc((size_t)p.count);
    memset(p.after, 1, (size_t)(p.count * p.count));
    while (changed) {
        changed = false;
        for (int b = p.count - 1; b >= 0; b--)
            changed |= meet_successors(r, &p, b);
    }
    return p;
}

/* Threads diverge at block `from`: marks the blocks up to its post-dominator. */
static void join_ways(const struct cc_regions *r, const struct paths *p, int from, int block,
                      bool *seen)
{
    if (seen[block])
        return;
    seen[block] = true;
    for (unsigned s = 0; s < successors_of(r, block); s++)
        if (block == from || !p->after[from * p->count + block])
            join_ways(r, p, from, successor_of(r, block, s), seen);
}

static void add_ways(const struct cc_regions *r, struct paths *p, int from)
{
    bool *seen = cc_alloc((size_t)p->count);

    for (unsigned s = 0; s < successors_of(r, from); s++)
        join_ways(r, p, from, successor_of(r, from, s), seen);
    for (int b = 0; b < p->count; b++)
        p->joined[b] |= seen[b];
}

/* ---- what varies ---- */

/* Of what: the threads of a block, or of a warp. */
enum team { OF_BLOCK, OF_WARP };

static bool *varying(const struct cc_regions *r, enum team team)
{
    return team == OF_WARP ? r->numbers->parts : r->numbers->varies;
}

static bool uses_varying(const struct cc_regions *r, enum team team, LLVMValueRef i)
{
    for (int k = 0; k < LLVMGetNumOperands(i); k++) {
        long number = cc_number_of(r->numbers, LLVMGetOperand(i, (unsigned)k));
        if (number >= 0 && varying(r, team)[number])
            return true;
    }
    return false;
}

static bool load_varies(const struct cc_regions *r, enum team team, LLVMValueRef load)
{
    LLVMValueRef from = LLVMGetOperand(load, 0);
    enum cc_same_in same = cc_answer_is_same_in(r, from);

    if (team == OF_WARP && (from == r->of->thread[1] || from == r->of->thread[2]))
        return false;
    return team == OF_WARP ? same == CC_SAME_NOWHERE : same != CC_SAME_IN_BLOCK;
}

static bool varies(const struct cc_regions *r, const struct paths *p, enum team team, size_t number)
{
    LLVMValueRef i = r->numbers->value[number];
    int op = LLVMGetInstructionOpcode(i);

    if (LLVMIsAPHINode(i) != NULL && p->joined[r->numbers->block[number]])
        return true;
    if (op == LLVM_OP_LOAD)
        return load_varies(r, team, i);
    if (team == OF_WARP && cc_is_same_in_warp(r->of, i))
        return false;
    return op == LLVM_OP_READ_MODIFY_WRITE || uses_varying(r, team, i);
}

static bool is_branch(const struct cc_regions *r, LLVMValueRef i, int block)
{
    return i == r->graph.block[block].terminator && LLVMGetNumSuccessors(i) == 2;
}

static void find_varying(struct cc_regions *r, struct paths *p, enum team team)
{
    struct cc_numbers *n = r->numbers;
    bool *found = varying(r, team);

    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < n->count; i++) {
            if (found[i] || n->block[i] == 0 || !varies(r, p, team, i))
                continue;
            found[i] = changed = true;
            if (is_branch(r, n->value[i], n->block[i]))
                add_ways(r, p, n->block[i]);
        }
    }
}

/* ---- barriers ---- */

int cc_barrier_after(const struct cc_regions *r, int block)
{
    for (size_t i = 0; i < r->barrier_count; i++)
        if (r->barrier[i].before == r->graph.block[block].block)
            return (int)i;
    return -1;
}

bool cc_is_of_warp(const struct cc_regions *r, size_t barrier)
{
    return barrier < r->barrier_count && r->barrier[barrier].kind >= CC_MEET_WARP;
}

/* Barriers of a warp are not counted for the block. */
static int barrier_of(const struct cc_regions *r, enum team team, int block)
{
    int barrier = cc_barrier_after(r, block);

    return barrier >= 0 && team == OF_BLOCK && cc_is_of_warp(r, (size_t)barrier) ? -1 : barrier;
}

/* Whether all paths from the block reach the same barrier first, or the end; stores it in *next. */
static bool has_one_end(const struct cc_regions *r, enum team team, int block, bool *seen,
                        int *next)
{
    int barrier = barrier_of(r, team, block), end = barrier;

    if (seen[block])
        return true;
    seen[block] = true;
    if (barrier < 0 && r->graph.block[block].block == r->done)
        end = (int)r->barrier_count;
    if (end >= 0) {
        bool same = *next < 0 || *next == end;
        *next = end;
        return same;
    }
    for (unsigned s = 0; s < successors_of(r, block); s++)
        if (!has_one_end(r, team, successor_of(r, block, s), seen, next))
            return false;
    return true;
}

/* Whether threads that part at `from` all come to one place again before a barrier. Where they go
 * from there is another branch's question. */
static bool meet_again(const struct cc_regions *r, const struct paths *p, enum team team, int from,
                       int block, bool *seen)
{
    if (seen[block] || (block != from && p->after[from * p->count + block]))
        return true;
    seen[block] = true;
    if (barrier_of(r, team, block) >= 0 || r->graph.block[block].block == r->done)
        return false;
    for (unsigned s = 0; s < successors_of(r, block); s++)
        if (!meet_again(r, p, team, from, successor_of(r, block, s), seen))
            return false;
    return true;
}

static bool comes_together(struct cc_regions *r, enum team team)
{
    struct cc_numbers *n = r->numbers;
    struct paths p = find_paths(r);

    find_varying(r, &p, team);
    if (team == OF_BLOCK)
        n->joined = p.joined;
    for (size_t i = 0; i < n->count; i++) {
        int next = -1;
        if (!varying(r, team)[i] || !is_branch(r, n->value[i], n->block[i]))
            continue;
        if (!meet_again(r, &p, team, n->block[i], n->block[i], cc_alloc((size_t)r->graph.count)) &&
            !has_one_end(r, team, n->block[i], cc_alloc((size_t)r->graph.count), &next))
            return false;
    }
    return true;
}

const char *cc_check_uniform(struct cc_regions *r)
{
    if (!comes_together(r, OF_BLOCK))
        return "some threads may come to other barriers than others";
    return r->warps && !comes_together(r, OF_WARP)
               ? "some lanes of a warp may come to other operations of it than others"
               : NULL;
}
