/* SPDX-License-Identifier: MIT
 * graph_edges.c: the dependencies in a graph: queries and changes; copies of whole graphs.
 */
#include <stdlib.h>
#include <string.h>

#include "graph.h"

static bool graph_holds(const struct CUgraph_st *graph, const struct CUgraphNode_st *node)
{
    for (size_t i = 0; i < graph->count; i++)
        if (graph->node[i] == node)
            return true;
    return false;
}

size_t vgpu__node_place(const struct CUgraph_st *graph, const struct CUgraphNode_st *node)
{
    size_t i = 0;
    while (graph->node[i] != node)
        i++;
    return i;
}

/* ---- changes ---- */

static bool drop_edge(struct CUgraphNode_st *node, const struct CUgraphNode_st *dep)
{
    for (size_t i = 0; i < node->dep_count; i++)
        if (node->dep[i] == dep) {
            node->dep_count--;
            memmove(node->dep + i, node->dep + i + 1,
                    (node->dep_count - i) * sizeof(struct CUgraphNode_st *));
            return true;
        }
    return false;
}

static bool has_edge(const struct CUgraphNode_st *node, const struct CUgraphNode_st *dep)
{
    for (size_t i = 0; i < node->dep_count; i++)
        if (node->dep[i] == dep)
            return true;
    return false;
}

#define HAS_MEMORY                                                                                 \
    "the graph has nodes that allocate or free memory: none of its nodes and dependencies can be " \
    "removed"

static cudaError_t check_edges(const char *call, cudaGraph_t graph, const cudaGraphNode_t *from,
                               const cudaGraphNode_t *to, size_t count, bool there)
{
    if (!vgpu__graph_known(graph) || (count && (!from || !to)))
        return vgpu__refuse_value(call, "a pointer is null, or the graph was destroyed");
    for (size_t i = 0; i < count; i++) {
        if (!graph_holds(graph, from[i]) || !graph_holds(graph, to[i]))
            return vgpu__refuse_value(call, "a node is not in the graph");
        if (!there && from[i] == to[i])
            return vgpu__refuse_value(call, "a node cannot wait for itself");
        if (has_edge(to[i], from[i]) != there)
            return vgpu__refuse_value(call, there ? "there is no such dependency"
                                                  : "the dependency exists already");
    }
    return cudaSuccess;
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                     const cudaGraphNode_t *to, const cudaGraphEdgeData *edgeData,
                                     size_t numDependencies)
{
    static const char call[] = "cudaGraphAddDependencies";
    (void)edgeData; /* used by programmatic launches only */
    cudaError_t error = check_edges(call, graph, from, to, numDependencies, false);
    size_t added = 0;
    for (; error == cudaSuccess && added < numDependencies; added++)
        if (has_edge(to[added], from[added]))
            error = vgpu__refuse_value(call, "a dependency is named twice");
        else if (!vgpu__graph_edge(to[added], from[added]))
            error = vgpu__no_memory(call);
    for (size_t i = 0; error != cudaSuccess && i + 1 < added; i++)
        drop_edge(to[i], from[i]);
    return error;
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                        const cudaGraphNode_t *to,
                                        const cudaGraphEdgeData *edgeData, size_t numDependencies)
{
    (void)edgeData;
    cudaError_t error =
        check_edges("cudaGraphRemoveDependencies", graph, from, to, numDependencies, true);
    if (error == cudaSuccess && numDependencies && vgpu__graph_has_memory(graph))
        error = vgpu__refuse_value("cudaGraphRemoveDependencies", HAS_MEMORY);
    for (size_t i = 0; error == cudaSuccess && i < numDependencies; i++)
        drop_edge(to[i], from[i]);
    return error;
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node)
{
    static const char call[] = "cudaGraphDestroyNode";
    if (!vgpu__node_known(node))
        return vgpu__refuse_value(call, "no node of a graph");
    struct CUgraph_st *g = node->graph;
    if (vgpu__graph_has_memory(g))
        return vgpu__refuse_value(call, HAS_MEMORY);
    if (g->captures)
        return vgpu__refuse_value(call, "a stream capture adds to the graph: end it before");
    vgpu__graph_drop_node(node);
    return cudaSuccess;
}

void vgpu__graph_drop_node(struct CUgraphNode_st *node)
{
    struct CUgraph_st *g = node->graph;
    for (size_t i = 0; i < g->count; i++)
        drop_edge(g->node[i], node);
    vgpu__graph_take_out(node);
    vgpu__node_free(node);
}

/* ---- queries: *count is the capacity of the list, then the number of entries ---- */

static void put_node(cudaGraphNode_t *list, size_t room, size_t *found, cudaGraphNode_t node)
{
    if (list && *found < room)
        list[*found] = node;
    (*found)++;
}

static cudaError_t return_node_list(cudaGraphNode_t *list, size_t room, size_t *count, size_t found)
{
    for (size_t i = found; list && i < room; i++)
        list[i] = NULL;
    *count = list && found > room ? room : found;
    return cudaSuccess;
}

static cudaError_t list_nodes(const char *call, cudaGraph_t graph, cudaGraphNode_t *nodes,
                              size_t *count, bool roots)
{
    size_t found = 0;
    if (!count || !vgpu__graph_known(graph))
        return vgpu__refuse_value(call, "a pointer is null, or the graph was destroyed");
    for (size_t i = 0; i < graph->count; i++)
        if (!roots || graph->node[i]->dep_count == 0)
            put_node(nodes, *count, &found, graph->node[i]);
    return return_node_list(nodes, *count, count, found);
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *numNodes)
{
    return list_nodes("cudaGraphGetNodes", graph, nodes, numNodes, false);
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *pRootNodes,
                                  size_t *pNumRootNodes)
{
    return list_nodes("cudaGraphGetRootNodes", graph, pRootNodes, pNumRootNodes, true);
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                              cudaGraphEdgeData *edgeData, size_t *numEdges)
{
    size_t found = 0, again = 0;
    if (!numEdges || !vgpu__graph_known(graph) || !from != !to)
        return vgpu__refuse_value("cudaGraphGetEdges",
                                  "a pointer is null, or the graph was destroyed");
    for (size_t i = 0; i < graph->count; i++)
        for (size_t k = 0; k < graph->node[i]->dep_count; k++) {
            if (edgeData && from && found < *numEdges)
                memset(&edgeData[found], 0, sizeof *edgeData);
            put_node(to, *numEdges, &again, graph->node[i]);
            put_node(from, *numEdges, &found, graph->node[i]->dep[k]);
        }
    return return_node_list(from, *numEdges, numEdges, found);
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *pType)
{
    if (!node || !pType || !vgpu__graph_known(node->graph))
        return vgpu__refuse_value("cudaGraphNodeGetType",
                                  "a pointer is null, or the node is not in the graph");
    *pType = node->type;
    return cudaSuccess;
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *pDependencies,
                                         cudaGraphEdgeData *edgeData, size_t *pNumDependencies)
{
    size_t found = 0;
    if (!node || !pNumDependencies || !vgpu__graph_known(node->graph))
        return vgpu__refuse_value("cudaGraphNodeGetDependencies",
                                  "a pointer is null, or the node is not in the graph");
    for (size_t i = 0; i < node->dep_count; i++) {
        if (edgeData && i < *pNumDependencies)
            memset(&edgeData[i], 0, sizeof *edgeData);
        put_node(pDependencies, *pNumDependencies, &found, node->dep[i]);
    }
    return return_node_list(pDependencies, *pNumDependencies, pNumDependencies, found);
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *pDependentNodes,
                                           cudaGraphEdgeData *edgeData, size_t *pNumDependentNodes)
{
    size_t found = 0;
    if (!pNumDependentNodes || !vgpu__node_known(node))
        return vgpu__refuse_value("cudaGraphNodeGetDependentNodes",
                                  "a pointer is null, or the node is not in the graph");
    for (size_t i = 0; i < node->graph->count; i++) {
        if (!has_edge(node->graph->node[i], node))
            continue;
        if (edgeData && found < *pNumDependentNodes)
            memset(&edgeData[found], 0, sizeof *edgeData);
        put_node(pDependentNodes, *pNumDependentNodes, &found, node->graph->node[i]);
    }
    return return_node_list(pDependentNodes, *pNumDependentNodes, pNumDependentNodes, found);
}

/* ---- copies ---- */

/* Copies the parameters, including what a node owns. False: host memory ran out. */
static bool copy_parameters(struct CUgraphNode_st *to, const struct CUgraphNode_st *from)
{
    to->physical = from->physical;
    to->original = from;
    to->u = from->u;
    if (from->type == cudaGraphNodeTypeKernel) {
        to->u.kernel.args = malloc(from->u.kernel.args_bytes + 1u);
        if (to->u.kernel.args)
            memcpy(to->u.kernel.args, from->u.kernel.args, from->u.kernel.args_bytes);
        return to->u.kernel.args;
    }
    if (from->type == cudaGraphNodeTypeGraph) {
        to->u.child = vgpu__graph_copy(from->u.child);
        if (to->u.child)
            to->u.child->is_child = true;
        return to->u.child;
    }
    if (from->type == cudaGraphNodeTypeHost) {
        to->u.host = malloc(sizeof *to->u.host);
        if (to->u.host)
            *to->u.host = *from->u.host;
        return to->u.host;
    }
    return true;
}

struct CUgraph_st *vgpu__graph_copy(const struct CUgraph_st *graph)
{
    struct CUgraph_st *copy = vgpu__graph_new();
    bool good = copy && vgpu__objects_copy(copy, graph);
    for (size_t i = 0; good && i < graph->count; i++) {
        struct CUgraphNode_st *node = vgpu__graph_add(copy, graph->node[i]->type, NULL, 0);
        good = node && copy_parameters(node, graph->node[i]);
    }
    for (size_t i = 0; good && i < graph->count; i++)
        for (size_t k = 0; good && k < graph->node[i]->dep_count; k++)
            good = vgpu__graph_edge(copy->node[i],
                                    copy->node[vgpu__node_place(graph, graph->node[i]->dep[k])]);
    if (copy && !good) {
        vgpu__graph_free(copy);
        copy = NULL;
    }
    return copy;
}

cudaError_t cudaGraphClone(cudaGraph_t *pGraphClone, cudaGraph_t originalGraph)
{
    if (!pGraphClone || !vgpu__graph_known(originalGraph))
        return vgpu__refuse_value("cudaGraphClone",
                                  "a pointer is null, or the graph was destroyed");
    struct CUgraph_st *copy = vgpu__graph_copy(originalGraph);
    if (!copy)
        return vgpu__no_memory("cudaGraphClone");
    *pGraphClone = copy;
    return cudaSuccess;
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *pNode, cudaGraphNode_t originalNode,
                                     cudaGraph_t clonedGraph)
{
    static const char call[] = "cudaGraphNodeFindInClone";
    if (!pNode || !vgpu__node_known(originalNode) || !vgpu__graph_known(clonedGraph))
        return vgpu__refuse_value(call, "a pointer is null, or the node or graph was destroyed");
    for (size_t i = 0; i < clonedGraph->count; i++)
        if (clonedGraph->node[i]->original == originalNode) {
            *pNode = clonedGraph->node[i];
            return cudaSuccess;
        }
    return vgpu__refuse_value(call, "the graph is not a clone that has a copy of this node");
}
