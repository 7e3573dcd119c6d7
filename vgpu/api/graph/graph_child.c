/* SPDX-License-Identifier: MIT
 * graph_child.c: graphs inside of graphs. A node holds a copy of its own; an executable graph has
 * the child's nodes in the node's place.
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
    node->u.child = child;
    *pGraphNode = node;
    return cudaSuccess;
}

/* The node's own copy; changes of it are changes of the graph. */
cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *pGraph)
{
    if (!vgpu__node_known(node) || node->type != cudaGraphNodeTypeGraph || !pGraph)
        return vgpu__refuse_value("cudaGraphChildGraphNodeGetGraph",
                                  "no node with a child, or a null pointer");
    *pGraph = node->u.child;
    return cudaSuccess;
}

/* ---- for executable graphs ---- */

static bool is_leaf(const struct CUgraph_st *graph, const struct CUgraphNode_st *node)
{
    for (size_t i = 0; i < graph->count; i++)
        for (size_t d = 0; d < graph->node[i]->dep_count; d++)
            if (graph->node[i]->dep[d] == node)
                return false;
    return true;
}

/* The child's nodes move to the end of the graph; those that came first there come after what the
 * node came after. False: no memory. */
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
        from->type = cudaGraphNodeTypeEmpty; /* what it owned has gone */
    }
    for (size_t i = 0; i < child->count; i++)
        for (size_t d = 0; d < child->node[i]->dep_count; d++)
            if (!vgpu__graph_edge(g->node[base + i],
                                  g->node[base + vgpu__node_place(child, child->node[i]->dep[d])]))
                return false;
    return true;
}

/* What came after the node comes after all of the child: the node stays as an empty one. */
static bool expand(struct CUgraph_st *g, struct CUgraphNode_st *node)
{
    struct CUgraph_st *child = node->u.child;
    size_t base = g->count;
    node->type = cudaGraphNodeTypeEmpty;
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
            good = expand(graph, graph->node[i]);
    return good;
}
