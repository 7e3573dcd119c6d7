/* SPDX-License-Identifier: MIT
 * graph_change.c: changes parameters of existing nodes, in graphs and in executable graphs, and
 * cudaGraphExecUpdate, which copies all parameters of a graph of the same shape.
 */
#include <stdlib.h>
#include <string.h>

#include "graph_exec.h"

/* ---- one node ---- */

/* `box`: NULL if the copy was given otherwise */
static cudaError_t set_copy(struct CUgraphNode_st *node, const struct vgpu__copy *copy,
                            const struct cudaMemcpy3DParms *box)
{
    cudaError_t error = vgpu__graph_check_copy(copy);
    if (error != cudaSuccess)
        return error;
    node->u.copy = *copy;
    node->u.box = box ? *box : (struct cudaMemcpy3DParms){.kind = copy->kind};
    return cudaSuccess;
}

static struct vgpu__copy row_of(const char *call, void *dst, const void *src, size_t bytes,
                                enum cudaMemcpyKind kind)
{
    return (struct vgpu__copy){call, dst, src, bytes, 1, bytes, bytes, kind, NULL, .sync = false};
}

static cudaError_t set_memset(const char *call, struct CUgraphNode_st *node,
                              const struct cudaMemsetParams *m)
{
    cudaError_t error = vgpu__graph_check_memset(call, m);
    if (error != cudaSuccess)
        return error;
    node->u.memset = (struct memset_call){m->dst,    m->pitch, m->width,
                                          m->height, m->value, .element_bytes = m->elementSize};
    return cudaSuccess;
}

/* The old function may be freed: launches under way have a copy of it. */
static cudaError_t set_host(const char *call, struct CUgraphNode_st *node,
                            const struct cudaHostNodeParams *p)
{
    if (!p || !p->fn)
        return vgpu__refuse_value(call,
                                  "the parameters, or the function in them, are a null pointer");
    struct host_function *host = calloc(1, sizeof *host);
    if (!host)
        return vgpu__no_memory(call);
    *host = (struct host_function){.function = p->fn, .data = p->userData};
    free(node->u.host);
    node->u.host = host;
    return cudaSuccess;
}

static struct CUgraphNode_st *node_of_type(struct CUgraphNode_st *node, enum cudaGraphNodeType type)
{
    return node && vgpu__node_known(node) && node->type == type ? node : NULL;
}

#define NO_NODE "the node does not exist, or is of another type"

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *dst, const void *src,
                                           size_t count, enum cudaMemcpyKind kind)
{
    static const char call[] = "cudaGraphMemcpyNodeSetParams1D";
    struct CUgraphNode_st *mine = node_of_type(node, cudaGraphNodeTypeMemcpy);
    struct vgpu__copy copy = row_of(call, dst, src, count, kind);
    return mine ? set_copy(mine, &copy, NULL) : vgpu__refuse_value(call, NO_NODE);
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node,
                                         const struct cudaMemcpy3DParms *pNodeParams)
{
    static const char call[] = "cudaGraphMemcpyNodeSetParams";
    struct CUgraphNode_st *mine = node_of_type(node, cudaGraphNodeTypeMemcpy);
    struct vgpu__copy copy;
    if (!mine || !pNodeParams)
        return vgpu__refuse_value(call, NO_NODE);
    cudaError_t error = vgpu__box(call, pNodeParams, &copy);
    return error == cudaSuccess ? set_copy(mine, &copy, pNodeParams) : error;
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node,
                                         const struct cudaMemsetParams *pNodeParams)
{
    static const char call[] = "cudaGraphMemsetNodeSetParams";
    struct CUgraphNode_st *mine = node_of_type(node, cudaGraphNodeTypeMemset);
    return mine ? set_memset(call, mine, pNodeParams) : vgpu__refuse_value(call, NO_NODE);
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node,
                                       const struct cudaHostNodeParams *pNodeParams)
{
    static const char call[] = "cudaGraphHostNodeSetParams";
    struct CUgraphNode_st *mine = node_of_type(node, cudaGraphNodeTypeHost);
    return mine ? set_host(call, mine, pNodeParams) : vgpu__refuse_value(call, NO_NODE);
}

static cudaError_t set_copy_in_exec(cudaGraphExec_t exec, cudaGraphNode_t node,
                                    const struct vgpu__copy *copy,
                                    const struct cudaMemcpy3DParms *box)
{
    vgpu__execs_lock();
    struct CUgraphNode_st *mine = vgpu__exec_node(exec, node, cudaGraphNodeTypeMemcpy);
    cudaError_t error;
    if (!mine)
        error = vgpu__refuse_value(copy->call, NO_NODE);
    else if (copy->rows > 1 || mine->u.copy.rows > 1)
        error = vgpu__refuse_value(
            copy->call, "an instantiated copy has one row and keeps it: instantiate anew");
    else if (vgpu__place(copy->dst) != vgpu__place(mine->u.copy.dst) ||
             vgpu__place(copy->src) != vgpu__place(mine->u.copy.src))
        error = vgpu__refuse_value(copy->call,
                                   "an instantiated copy keeps its direction: instantiate anew");
    else
        error = set_copy(mine, copy, box);
    vgpu__execs_unlock();
    return error;
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                               void *dst, const void *src, size_t count,
                                               enum cudaMemcpyKind kind)
{
    struct vgpu__copy copy = row_of("cudaGraphExecMemcpyNodeSetParams1D", dst, src, count, kind);
    return set_copy_in_exec(hGraphExec, node, &copy, NULL);
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                             const struct cudaMemcpy3DParms *pNodeParams)
{
    static const char call[] = "cudaGraphExecMemcpyNodeSetParams";
    struct vgpu__copy copy;
    if (!pNodeParams)
        return vgpu__refuse_value(call, NO_NODE);
    cudaError_t error = vgpu__box(call, pNodeParams, &copy);
    return error == cudaSuccess ? set_copy_in_exec(hGraphExec, node, &copy, pNodeParams) : error;
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                             const struct cudaMemsetParams *pNodeParams)
{
    static const char call[] = "cudaGraphExecMemsetNodeSetParams";
    vgpu__execs_lock();
    struct CUgraphNode_st *mine = vgpu__exec_node(hGraphExec, node, cudaGraphNodeTypeMemset);
    cudaError_t error;
    if (!mine)
        error = vgpu__refuse_value(call, NO_NODE);
    else if (pNodeParams && (pNodeParams->height > 1 || mine->u.memset.rows > 1))
        error = vgpu__refuse_value(
            call, "an instantiated memset has one row and keeps it: instantiate anew");
    else
        error = set_memset(call, mine, pNodeParams);
    vgpu__execs_unlock();
    return error;
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                           const struct cudaHostNodeParams *pNodeParams)
{
    static const char call[] = "cudaGraphExecHostNodeSetParams";
    vgpu__execs_lock();
    struct CUgraphNode_st *mine = vgpu__exec_node(hGraphExec, node, cudaGraphNodeTypeHost);
    cudaError_t error =
        mine ? set_host(call, mine, pNodeParams) : vgpu__refuse_value(call, NO_NODE);
    vgpu__execs_unlock();
    return error;
}

/* ---- a whole graph: nodes correspond by order of creation ---- */

static bool same_edges(const struct CUgraph_st *old, const struct CUgraph_st *new, size_t at)
{
    const struct CUgraphNode_st *a = old->node[at], *b = new->node[at];
    bool same = a->dep_count == b->dep_count;
    for (size_t d = 0; same && d < a->dep_count; d++)
        same = vgpu__node_place(old, a->dep[d]) == vgpu__node_place(new, b->dep[d]);
    return same;
}

static enum cudaGraphExecUpdateResult compare_node(const struct CUgraph_st *old,
                                                   const struct CUgraph_st *new, size_t at)
{
    const struct CUgraphNode_st *a = old->node[at], *b = new->node[at];
    if (a->type != b->type)
        return cudaGraphExecUpdateErrorNodeTypeChanged;
    if (!same_edges(old, new, at))
        return cudaGraphExecUpdateErrorTopologyChanged;
    if (a->physical == b->physical)
        return cudaGraphExecUpdateSuccess;
    return a->type == cudaGraphNodeTypeKernel ? cudaGraphExecUpdateErrorUnsupportedFunctionChange
                                              : cudaGraphExecUpdateErrorParametersChanged;
}

static enum cudaGraphExecUpdateResult compare_graphs(const struct CUgraph_st *old,
                                                     const struct CUgraph_st *new, size_t *at)
{
    enum cudaGraphExecUpdateResult result = cudaGraphExecUpdateSuccess;
    for (*at = 0; *at < old->count && *at < new->count; ++*at)
        if ((result = compare_node(old, new, *at)) != cudaGraphExecUpdateSuccess)
            return result;
    return old->count == new->count ? result : cudaGraphExecUpdateErrorTopologyChanged;
}

/* Exchanges the parameters of two graphs of the same shape. */
static void swap_parameters(struct CUgraph_st *old, struct CUgraph_st *new)
{
    for (size_t i = 0; i < old->count; i++) {
        struct CUgraphNode_st mine = *old->node[i];
        old->node[i]->u = new->node[i]->u;
        new->node[i]->u = mine.u;
    }
}

/* On failure *at is the index of the first node that does not fit. */
static cudaError_t update_exec(struct CUgraphExec_st *exec, const struct CUgraph_st *graph,
                               enum cudaGraphExecUpdateResult *result, size_t *at)
{
    struct CUgraph_st *copy = vgpu__graph_copy(graph);
    cudaError_t error = cudaSuccess;
    if (!copy || !vgpu__graph_expand(copy))
        error = vgpu__no_memory("cudaGraphExecUpdate");
    else if ((*result = compare_graphs(exec->graph, copy, at)) != cudaGraphExecUpdateSuccess)
        error = vgpu__refuse(cudaErrorGraphExecUpdateFailure, "cudaGraphExecUpdate",
                             "node %zu of the graph (in order of making, from 0) does not fit the "
                             "instantiated one: result %d; instantiate anew",
                             *at, (int)*result);
    else if (!vgpu__objects_copy(exec->graph, copy))
        error = vgpu__no_memory("cudaGraphExecUpdate");
    else
        swap_parameters(exec->graph, copy);
    if (copy)
        vgpu__graph_free(copy);
    return error;
}

/* True if CUDA returns the node with this result. It does not for graphs of different shapes
 * (recorded). */
static bool result_names_node(enum cudaGraphExecUpdateResult result)
{
    return result != cudaGraphExecUpdateSuccess && result != cudaGraphExecUpdateError &&
           result != cudaGraphExecUpdateErrorTopologyChanged;
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t hGraphExec, cudaGraph_t hGraph,
                                cudaGraphExecUpdateResultInfo *resultInfo)
{
    size_t at = 0;
    cudaError_t error = cudaSuccess;
    enum cudaGraphExecUpdateResult result = cudaGraphExecUpdateError;
    vgpu__execs_lock();
    if (!vgpu__graph_known(hGraph) || !vgpu__exec_known(hGraphExec))
        error = vgpu__refuse_value("cudaGraphExecUpdate",
                                   "a pointer is null, or the graph was destroyed");
    else
        error = update_exec(hGraphExec, hGraph, &result, &at);
    vgpu__execs_unlock();
    if (resultInfo)
        *resultInfo = (cudaGraphExecUpdateResultInfo){
            .result = result,
            .errorNode = result_names_node(result) && at < hGraph->count ? hGraph->node[at] : NULL};
    return error;
}
