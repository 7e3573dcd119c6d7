/* SPDX-License-Identifier: MIT
 * graph_child_params.c: the parameters of a child graph's nodes in an executable graph.
 */
#include "graph_exec.h"

/* The place in the child of a node that `node` follows; SIZE_MAX: not in the child. */
static size_t place_in_child(const struct CUgraph_st *g, const struct CUgraphNode_st *parent,
                             const struct CUgraphNode_st *node)
{
    size_t at = vgpu__node_place(g, node);
    return at >= parent->first && at < parent->first + parent->count ? at - parent->first
                                                                     : SIZE_MAX;
}

/* Whether nodes `i` of the expanded child and of the new one wait for the same nodes of the child.
 * A node that was a child itself waits for that one's leaves now, which is not looked at. */
static bool same_in_child(const struct CUgraph_st *g, const struct CUgraphNode_st *parent,
                          const struct CUgraph_st *child, size_t i)
{
    const struct CUgraphNode_st *old = g->node[parent->first + i], *new = child->node[i];
    if (new->type == cudaGraphNodeTypeGraph || new->dep_count == 0)
        return new->type == cudaGraphNodeTypeGraph || old->dep_count == 0 ||
               place_in_child(g, parent, old->dep[0]) == SIZE_MAX;
    bool same = old->dep_count == new->dep_count;
    for (size_t d = 0; same && d < new->dep_count; d++)
        same = place_in_child(g, parent, old->dep[d]) == vgpu__node_place(child, new->dep[d]);
    return same;
}

static bool child_fits(const struct CUgraph_st *g, const struct CUgraphNode_st *parent,
                       const struct CUgraph_st *child)
{
    bool fits = parent->count == child->count;
    for (size_t i = 0; fits && i < child->count; i++) {
        const struct CUgraphNode_st *old = g->node[parent->first + i], *new = child->node[i];
        fits = old->physical == new->physical &&same_in_child(g, parent, child, i);
        if (fits && new->type == cudaGraphNodeTypeGraph)
            fits = old->type == cudaGraphNodeTypeEmpty && child_fits(g, old, new->u.child);
        else
            fits = fits && old->type == new->type;
    }
    return fits;
}

static void swap_child(struct CUgraph_st *g, const struct CUgraphNode_st *parent,
                       struct CUgraph_st *child)
{
    for (size_t i = 0; i < child->count; i++) {
        struct CUgraphNode_st *old = g->node[parent->first + i], mine = *old;
        if (child->node[i]->type == cudaGraphNodeTypeGraph) {
            swap_child(g, old, child->node[i]->u.child);
            continue;
        }
        old->u = child->node[i]->u;
        child->node[i]->u = mine.u;
    }
}

static cudaError_t set_child(const char *call, struct CUgraphExec_st *exec,
                             const struct CUgraphNode_st *node, const struct CUgraph_st *child)
{
    struct CUgraphNode_st *mine = vgpu__exec_node(exec, node, cudaGraphNodeTypeEmpty);
    if (!mine || node->type != cudaGraphNodeTypeGraph)
        return vgpu__refuse_value(
            call,
            "the handle is not an executable graph, or the node is not a child node of its graph");
    struct CUgraph_st *copy = vgpu__graph_copy(child);
    bool fits = copy && child_fits(exec->graph, mine, copy);
    if (fits)
        swap_child(exec->graph, mine, copy);
    if (copy)
        vgpu__graph_free(copy);
    if (!copy)
        return vgpu__no_memory(call);
    return fits ? cudaSuccess
                : vgpu__refuse_value(call, "the child has another shape than the instantiated one: "
                                           "instantiate anew");
}

cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                 cudaGraph_t childGraph)
{
    static const char call[] = "cudaGraphExecChildGraphNodeSetParams";
    if (!vgpu__graph_known(childGraph) || !vgpu__node_known(node))
        return vgpu__refuse_value(call, "a graph or a node that was destroyed");
    vgpu__execs_lock();
    cudaError_t error = set_child(call, hGraphExec, node, childGraph);
    vgpu__execs_unlock();
    return error;
}
