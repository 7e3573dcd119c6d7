/* SPDX-License-Identifier: MIT
 * graph_child.c: child graphs. A node holds its own copy of the child graph; in an executable
 * graph, the child's nodes replace it.
 */
#include "graph.h"

#include <stdlib.h>

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                       const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                       cudaGraph_t childGraph)
{
    static const char call[] = "cudaGraphAddChildGraphNode";
    cudaError_t error =
        vgpu__graph_check_new(call, pGraphNode, graph, pDependencies, numDependencies, childGraph);
    if (error != cudaSuccess)
        return error;
    if (!vgpu__graph_known(childGraph) || childGraph == graph)
        return vgpu__refuse_value(call, "the child was destroyed, or is the graph itself");
    struct CUgraph_st *child = vgpu__graph_copy(childGraph);
    struct CUgraphNode_st *node =
        child ? vgpu__graph_add(graph, cudaGraphNodeTypeGraph, pDependencies, numDependencies)
              : NULL;
    if (!node) {
        if (child)
            vgpu__graph_free(child);
        return vgpu__no_memory(call);
    }
    child->is_child = true;
    node->u.child = child;
    *pGraphNode = node;
    return cudaSuccess;
}

/* Returns the node's own copy; changing it changes the graph. */
cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *pGraph)
{
    if (!vgpu__node_known(node) || node->type != cudaGraphNodeTypeGraph || !pGraph)
        return vgpu__refuse_value("cudaGraphChildGraphNodeGetGraph",
                                  "the node has no child graph, or a pointer is null");
    *pGraph = node->u.child;
    return cudaSuccess;
}

/* ---- expansion for executable graphs ---- */

static bool is_leaf(const struct CUgraph_st *graph, const struct CUgraphNode_st *node)
{
    for (size_t i = 0; i < graph->count; i++)
        for (size_t d = 0; d < graph->node[i]->dep_count; d++)
            if (graph->node[i]->dep[d] == node)
                return false;
    return true;
}

/* Moves the child's nodes to the end of graph `g`. The child's roots get the dependencies of
 * `node`. False: host memory ran out. */
static bool move_nodes(struct CUgraph_st *g, const struct CUgraphNode_st *node,
                       struct CUgraph_st *child)
{
    size_t base = g->count;
    for (size_t i = 0; i < child->count; i++) {
        struct CUgraphNode_st *from = child->node[i];
        bool root = from->dep_count == 0;
        struct CUgraphNode_st *to =
            vgpu__graph_add(g, from->type, node->dep, root ? node->dep_count : 0);
        if (!to)
            return false;
        to->physical = from->physical;
        to->u = from->u;
        from->type = cudaGraphNodeTypeEmpty; /* its parameters have moved */
    }
    for (size_t i = 0; i < child->count; i++)
        for (size_t d = 0; d < child->node[i]->dep_count; d++)
            if (!vgpu__graph_edge(g->node[base + i],
                                  g->node[base + vgpu__node_place(child, child->node[i]->dep[d])]))
                return false;
    return true;
}

/* Turns `node` into an empty node that depends on the leaves of its child graph, so that its
 * dependents run after the whole child. */
static bool expand_child(struct CUgraph_st *g, struct CUgraphNode_st *node)
{
    struct CUgraph_st *child = node->u.child;
    size_t base = g->count;
    node->type = cudaGraphNodeTypeEmpty;
    node->first = base;
    node->count = child->count;
    bool good = move_nodes(g, node, child);
    if (child->count > 0)
        node->dep_count = 0;
    for (size_t i = 0; good && i < child->count; i++)
        good = !is_leaf(child, child->node[i]) || vgpu__graph_edge(node, g->node[base + i]);
    vgpu__graph_free(child);
    return good;
}

bool vgpu__graph_expand(struct CUgraph_st *graph)
{
    bool good = true;
    for (size_t i = 0; good && i < graph->count; i++)
        if (graph->node[i]->type == cudaGraphNodeTypeGraph)
            good = expand_child(graph, graph->node[i]);
    return good;
}
