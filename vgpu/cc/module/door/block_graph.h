/* SPDX-License-Identifier: MIT
 * block_graph.h: the basic blocks of a function: their order, dominators, loops.
 */
#ifndef VGPU_CC_BLOCK_GRAPH_H
#define VGPU_CC_BLOCK_GRAPH_H

#include "module.h"

enum { CC_NO_BLOCK = -1, CC_BLOCKS_MAX = 512 };

struct cc_block {
    LLVMBasicBlockRef block;
    LLVMValueRef terminator;
    int *from, from_count; /* predecessors */
    int dominator;         /* immediate dominator; of the first block: itself */
    int latch;             /* of a loop's header: its latch; else CC_NO_BLOCK */
    int header;            /* header of the innermost loop around it; CC_NO_BLOCK: none */
};

/* Blocks in reverse postorder: each comes after its predecessors, except over back edges. */
struct cc_graph {
    struct cc_block *block;
    int count;
};

/* Returns null, or why the function cannot be analysed. */
const char *cc_make_graph(LLVMValueRef function, struct cc_graph *graph);
int cc_block_number(const struct cc_graph *graph, LLVMBasicBlockRef block);

#endif
