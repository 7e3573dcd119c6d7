/* SPDX-License-Identifier: MIT
 * block_graph.c: see block_graph.h.
 */
#include "block_graph.h"

#include "mem.h"

int cc_block_number(const struct cc_graph *graph, LLVMBasicBlockRef block)
{
    for (int i = 0; i < graph->count; i++)
        if (graph->block[i].block == block)
            return i;
    return CC_NO_BLOCK;
}

static bool dominates(const struct cc_graph *graph, int upper, int lower)
{
    while (lower > upper)
        lower = graph->block[lower].dominator;
    return lower == upper;
}

/* ---- order ---- */

/* Depth-first walk in postorder: `done` is filled from its end. */
struct walk {
    LLVMBasicBlockRef *seen, *done;
    int seen_count, left;
};

static bool visit(struct walk *w, LLVMBasicBlockRef block)
{
    LLVMValueRef end = LLVMGetBasicBlockTerminator(block);

    for (int i = 0; i < w->seen_count; i++)
        if (w->seen[i] == block)
            return true;
    if (w->seen_count == CC_BLOCKS_MAX)
        return false;
    w->seen[w->seen_count++] = block;
    for (unsigned i = LLVMGetNumSuccessors(end); i-- > 0;)
        if (!visit(w, LLVMGetSuccessor(end, i)))
            return false;
    w->done[--w->left] = block;
    return true;
}

static bool order_blocks(LLVMValueRef function, struct cc_graph *graph)
{
    struct walk w = {.left = CC_BLOCKS_MAX};

    w.seen = cc_alloc(CC_BLOCKS_MAX * sizeof *w.seen);
    w.done = cc_alloc(CC_BLOCKS_MAX * sizeof *w.done);
    if (!visit(&w, LLVMGetEntryBasicBlock(function)))
        return false;
    graph->count = w.seen_count;
    graph->block = cc_alloc((size_t)graph->count * sizeof *graph->block);
    for (int i = 0; i < graph->count; i++)
        graph->block[i] =
            (struct cc_block){.block = w.done[w.left + i],
                              .terminator = LLVMGetBasicBlockTerminator(w.done[w.left + i]),
                              .dominator = CC_NO_BLOCK,
                              .latch = CC_NO_BLOCK,
                              .header = CC_NO_BLOCK};
    return true;
}

static void add_predecessor(struct cc_block *to, int from)
{
    int *longer = cc_alloc((size_t)(to->from_count + 1) * sizeof *longer);

    for (int i = 0; i < to->from_count; i++)
        longer[i] = to->from[i];
    longer[to->from_count++] = from;
    to->from = longer;
}

static void find_predecessors(struct cc_graph *graph)
{
    for (int i = 0; i < graph->count; i++)
        for (unsigned k = 0; k < LLVMGetNumSuccessors(graph->block[i].terminator); k++)
            add_predecessor(&graph->block[cc_block_number(
                                graph, LLVMGetSuccessor(graph->block[i].terminator, k))],
                            i);
}

/* ---- dominators ---- */

static int common_dominator(const struct cc_graph *graph, int a, int b)
{
    while (a != b) {
        if (a > b)
            a = graph->block[a].dominator;
        else
            b = graph->block[b].dominator;
    }
    return a;
}

/* One pass suffices if every loop has a single entry: back edges do not change dominators. */
static void find_dominators(struct cc_graph *graph)
{
    graph->block[0].dominator = 0;
    for (int i = 1; i < graph->count; i++) {
        int found = CC_NO_BLOCK;
        for (int k = 0; k < graph->block[i].from_count; k++) {
            int from = graph->block[i].from[k];
            if (from < i)
                found = found == CC_NO_BLOCK ? from : common_dominator(graph, found, from);
        }
        graph->block[i].dominator = found;
    }
}

/* ---- loops ---- */

/* A block belongs to the loop if it reaches the latch without passing the header. Inner loops are
 * marked already, since their headers come later. */
static void mark_loop(struct cc_graph *graph, int header, int block)
{
    int at = block; /* the outermost marked loop around the block */

    while (at != header && graph->block[at].header != CC_NO_BLOCK)
        at = graph->block[at].header;
    if (at == header)
        return;
    graph->block[at].header = header;
    for (int k = 0; k < graph->block[at].from_count; k++)
        if (graph->block[at].from[k] != graph->block[at].latch)
            mark_loop(graph, header, graph->block[at].from[k]);
}

static const char *find_loops(struct cc_graph *graph)
{
    for (int i = graph->count - 1; i >= 0; i--) {
        struct cc_block *b = &graph->block[i];
        for (int k = 0; k < b->from_count; k++) {
            if (b->from[k] < i)
                continue;
            if (!dominates(graph, i, b->from[k]) || b->latch != CC_NO_BLOCK)
                return "a loop is entered, or goes on, at several places";
            b->latch = b->from[k];
        }
        if (b->latch != CC_NO_BLOCK)
            mark_loop(graph, i, b->latch);
    }
    return NULL;
}

const char *cc_make_graph(LLVMValueRef function, struct cc_graph *graph)
{
    if (!order_blocks(function, graph))
        return "it has too many branches";
    find_predecessors(graph);
    find_dominators(graph);
    return find_loops(graph);
}
