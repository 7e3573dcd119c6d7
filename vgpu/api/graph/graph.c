/* SPDX-License-Identifier: MIT
 * graph.c: graphs: their nodes and dependencies. See graph.h.
 */
#include "graph.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t graphs_lock = PTHREAD_MUTEX_INITIALIZER;
/* The list and the node lists of all graphs are guarded by graphs_lock: vgpu__node_known searches
 * all graphs, including those that another thread is building. */
static struct CUgraph_st *graphs;

/* ---- creation and destruction ---- */

struct CUgraph_st *vgpu__graph_new(void)
{
    struct CUgraph_st *g = calloc(1, sizeof *g);
    if (!g)
        return NULL;
    pthread_mutex_lock(&graphs_lock);
    g->next = graphs;
    graphs = g;
    pthread_mutex_unlock(&graphs_lock);
    return g;
}

bool vgpu__graph_known(const struct CUgraph_st *graph)
{
    pthread_mutex_lock(&graphs_lock);
    const struct CUgraph_st *g = graphs;
    while (g && g != graph)
        g = g->next;
    pthread_mutex_unlock(&graphs_lock);
    return graph && g;
}

bool vgpu__graph_has_memory(const struct CUgraph_st *graph)
{
    for (size_t i = 0; i < graph->count; i++)
        if (graph->node[i]->type == cudaGraphNodeTypeMemAlloc ||
            graph->node[i]->type == cudaGraphNodeTypeMemFree)
            return true;
    return false;
}

void vgpu__node_free(struct CUgraphNode_st *n)
{
    if (n->type == cudaGraphNodeTypeKernel)
        vgpu__launch_drop(&n->u.kernel);
    if (n->type == cudaGraphNodeTypeHost)
        free(n->u.host);
    if (n->type == cudaGraphNodeTypeGraph && n->u.child)
        vgpu__graph_free(n->u.child);
    free(n->shown);
    free(n->dep);
    free(n);
}

void vgpu__graph_free(struct CUgraph_st *graph)
{
    pthread_mutex_lock(&graphs_lock);
    struct CUgraph_st **at = &graphs;
    while (*at && *at != graph)
        at = &(*at)->next;
    if (*at)
        *at = graph->next;
    pthread_mutex_unlock(&graphs_lock);
    for (size_t i = 0; i < graph->count; i++)
        vgpu__node_free(graph->node[i]);
    vgpu__objects_release(graph);
    free(graph->node);
    free(graph);
}

static void *grow_list(void *list, size_t count, size_t *room)
{
    if (count < *room)
        return list;
    size_t more = *room ? 2 * *room : 8;
    void *grown = realloc(list, more * sizeof(void *));
    if (grown)
        *room = more;
    return grown;
}

bool vgpu__graph_edge(struct CUgraphNode_st *node, struct CUgraphNode_st *dep)
{
    void *list = grow_list(node->dep, node->dep_count, &node->dep_room);
    if (!list)
        return false;
    node->dep = list;
    node->dep[node->dep_count++] = dep;
    return true;
}

static bool add_to_list(struct CUgraph_st *graph, struct CUgraphNode_st *node)
{
    pthread_mutex_lock(&graphs_lock);
    void *list = grow_list(graph->node, graph->count, &graph->room);
    if (list) {
        graph->node = list;
        graph->node[graph->count++] = node;
    }
    pthread_mutex_unlock(&graphs_lock);
    return list;
}

struct CUgraphNode_st *vgpu__graph_add(struct CUgraph_st *graph, enum cudaGraphNodeType type,
                                       struct CUgraphNode_st *const *deps, size_t count)
{
    struct CUgraphNode_st *n = calloc(1, sizeof *n);
    bool good = n;
    for (size_t i = 0; good && i < count; i++)
        good = vgpu__graph_edge(n, deps[i]);
    if (good) {
        n->type = type;
        n->graph = graph;
        n->physical = vgpu__process.physical[vgpu__self.device];
        good = add_to_list(graph, n);
    }
    if (good)
        return n;
    if (n)
        free(n->dep);
    free(n);
    return NULL;
}

void vgpu__graph_take_out(struct CUgraphNode_st *node)
{
    struct CUgraph_st *g = node->graph;
    size_t at = vgpu__node_place(g, node);
    pthread_mutex_lock(&graphs_lock);
    g->count--;
    memmove(g->node + at, g->node + at + 1, (g->count - at) * sizeof(struct CUgraphNode_st *));
    pthread_mutex_unlock(&graphs_lock);
}

/* Visits each node once per search, since there may be far more paths than nodes. */
static bool depends_on(struct CUgraphNode_st *node, const struct CUgraphNode_st *dep,
                       uint64_t asked)
{
    bool found = node == dep;
    if (node->asked == asked)
        return false;
    node->asked = asked;
    for (size_t i = 0; !found && i < node->dep_count; i++)
        found = depends_on(node->dep[i], dep, asked);
    return found;
}

static uint64_t new_question(void)
{
    static _Atomic uint64_t questions;
    return atomic_fetch_add(&questions, 1) + 1;
}

bool vgpu__node_after(struct CUgraphNode_st *node, const struct CUgraphNode_st *dep)
{
    return depends_on(node, dep, new_question());
}

/* Nodes of one graph. */
static bool has_repeats(struct CUgraphNode_st *const *nodes, size_t count)
{
    const uint64_t asked = new_question();
    for (size_t i = 0; i < count; i++) {
        if (nodes[i]->asked == asked)
            return true;
        nodes[i]->asked = asked;
    }
    return false;
}

/* ---- checks ---- */

bool vgpu__node_known(const struct CUgraphNode_st *node)
{
    bool found = false;
    pthread_mutex_lock(&graphs_lock);
    for (const struct CUgraph_st *g = graphs; g && !found; g = g->next)
        for (size_t i = 0; i < g->count && !found; i++)
            found = g->node[i] == node;
    pthread_mutex_unlock(&graphs_lock);
    return node && found;
}

static bool node_belongs(const struct CUgraph_st *graph, const struct CUgraphNode_st *node)
{
    return vgpu__node_known(node) && node->graph == graph;
}

cudaError_t vgpu__graph_check_new(const char *call, cudaGraphNode_t *out, cudaGraph_t graph,
                                  const cudaGraphNode_t *deps, size_t count, const void *params)
{
    if (!vgpu__admit(call, VGPU_OP_CONTEXT))
        return vgpu__failed();
    if (!out || !vgpu__graph_known(graph) || (count && !deps) || !params)
        return vgpu__refuse_value(call, "a pointer is null, or the graph was destroyed");
    for (size_t i = 0; i < count; i++)
        if (!node_belongs(graph, deps[i]))
            return vgpu__refuse_value(call, "a dependency is not a node of the graph");
    return has_repeats(deps, count)
               ? vgpu__refuse_value(call, "a node is named twice among the dependencies")
               : cudaSuccess;
}

static cudaError_t return_node(cudaGraphNode_t *out, struct CUgraphNode_st *node)
{
    if (!node)
        return vgpu__no_memory(NULL);
    *out = node;
    return cudaSuccess;
}

/* ---- nodes ---- */

static cudaError_t kernel_of(const char *call, const struct cudaKernelNodeParams *p,
                             struct vgpu__launch *out)
{
    *out = (struct vgpu__launch){
        .call = call, .grid = p->gridDim, .block = p->blockDim, .shared = p->sharedMemBytes};
    if (p->extra)
        return vgpu__refuse(cudaErrorNotSupported, call, "arguments by `extra` are not modelled");
    cudaError_t error = vgpu__launch_check(out, p->func, p->kernelParams);
    return error == cudaSuccess ? vgpu__launch_pack(out, p->kernelParams) : error;
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                   const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                   const struct cudaKernelNodeParams *pNodeParams)
{
    static const char call[] = "cudaGraphAddKernelNode";
    struct vgpu__launch kernel = {0};
    cudaError_t error =
        vgpu__graph_check_new(call, pGraphNode, graph, pDependencies, numDependencies, pNodeParams);
    if (error == cudaSuccess)
        error = kernel_of(call, pNodeParams, &kernel);
    if (error != cudaSuccess) {
        vgpu__launch_drop(&kernel);
        return error;
    }
    struct CUgraphNode_st *node =
        vgpu__graph_add(graph, cudaGraphNodeTypeKernel, pDependencies, numDependencies);
    if (node)
        node->u.kernel = kernel;
    else
        vgpu__launch_drop(&kernel);
    return return_node(pGraphNode, node);
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                         const struct cudaKernelNodeParams *pNodeParams)
{
    static const char call[] = "cudaGraphKernelNodeSetParams";
    struct vgpu__launch kernel = {0};
    if (!vgpu__admit(call, VGPU_OP_CONTEXT))
        return vgpu__failed();
    if (!vgpu__node_known(node) || node->type != cudaGraphNodeTypeKernel || !pNodeParams)
        return vgpu__refuse_value(
            call, "the node is not a kernel's, or the parameters are a null pointer");
    cudaError_t error = kernel_of(call, pNodeParams, &kernel);
    if (error == cudaSuccess) {
        vgpu__launch_drop(&node->u.kernel);
        node->u.kernel = kernel;
        free(node->shown);
        node->shown = NULL;
    } else {
        vgpu__launch_drop(&kernel);
    }
    return error;
}

/* `box`: NULL if the copy was given otherwise */
static cudaError_t add_copy(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *deps,
                            size_t count, struct vgpu__copy copy,
                            const struct cudaMemcpy3DParms *box)
{
    cudaError_t error = vgpu__graph_check_new(copy.call, out, graph, deps, count, &copy);
    if (error == cudaSuccess)
        error = vgpu__graph_check_copy(&copy);
    if (error != cudaSuccess)
        return error;
    struct CUgraphNode_st *node = vgpu__graph_add(graph, cudaGraphNodeTypeMemcpy, deps, count);
    if (node)
        node->u.copy = copy;
    if (node && box)
        node->u.box = *box;
    return return_node(out, node);
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                     const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                     void *dst, const void *src, size_t count,
                                     enum cudaMemcpyKind kind)
{
    static const char call[] = "cudaGraphAddMemcpyNode1D";
    return add_copy(
        pGraphNode, graph, pDependencies, numDependencies,
        (struct vgpu__copy){call, dst, src, count, 1, count, count, kind, NULL, .sync = false},
        NULL);
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                   const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                   const struct cudaMemcpy3DParms *p)
{
    static const char call[] = "cudaGraphAddMemcpyNode";
    if (!p)
        return vgpu__record(cudaErrorInvalidValue);
    struct vgpu__copy copy;
    cudaError_t error = vgpu__box(call, p, &copy);
    if (error != cudaSuccess)
        return error;
    return add_copy(pGraphNode, graph, pDependencies, numDependencies, copy, p);
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                   const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                   const struct cudaMemsetParams *m)
{
    static const char call[] = "cudaGraphAddMemsetNode";
    cudaError_t error =
        vgpu__graph_check_new(call, pGraphNode, graph, pDependencies, numDependencies, m);
    if (error != cudaSuccess)
        return error;
    error = vgpu__graph_check_memset(call, m);
    if (error != cudaSuccess)
        return error;
    struct CUgraphNode_st *node =
        vgpu__graph_add(graph, cudaGraphNodeTypeMemset, pDependencies, numDependencies);
    if (node)
        node->u.memset = (struct memset_call){m->dst,    m->pitch, m->width,
                                              m->height, m->value, .element_bytes = m->elementSize};
    return return_node(pGraphNode, node);
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                 const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                 const struct cudaHostNodeParams *p)
{
    static const char call[] = "cudaGraphAddHostNode";
    cudaError_t error =
        vgpu__graph_check_new(call, pGraphNode, graph, pDependencies, numDependencies, p);
    if (error != cudaSuccess)
        return error;
    if (!p->fn)
        return vgpu__refuse_value(call, "the function is a null pointer");
    struct host_function *host = calloc(1, sizeof *host);
    struct CUgraphNode_st *node =
        host ? vgpu__graph_add(graph, cudaGraphNodeTypeHost, pDependencies, numDependencies) : NULL;
    if (node) {
        *host = (struct host_function){.function = p->fn, .data = p->userData};
        node->u.host = host;
    } else {
        free(host);
    }
    return return_node(pGraphNode, node);
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                  const cudaGraphNode_t *pDependencies, size_t numDependencies)
{
    cudaError_t error = vgpu__graph_check_new("cudaGraphAddEmptyNode", pGraphNode, graph,
                                              pDependencies, numDependencies, "none needed");
    return error == cudaSuccess
               ? return_node(pGraphNode, vgpu__graph_add(graph, cudaGraphNodeTypeEmpty,
                                                         pDependencies, numDependencies))
               : error;
}

/* ---- graphs ---- */

cudaError_t cudaGraphCreate(cudaGraph_t *pGraph, unsigned int flags)
{
    if (!vgpu__admit("cudaGraphCreate", VGPU_OP_CONTEXT))
        return vgpu__failed();
    if (!pGraph || flags != 0)
        return vgpu__refuse_value("cudaGraphCreate", "flags must be 0");
    struct CUgraph_st *graph = vgpu__graph_new();
    if (!graph)
        return vgpu__no_memory("cudaGraphCreate");
    *pGraph = graph;
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    if (!vgpu__graph_known(graph))
        return vgpu__refuse_value("cudaGraphDestroy",
                                  "the handle is not a graph, or the graph was destroyed already");
    if (graph->is_child)
        return vgpu__refuse_value("cudaGraphDestroy",
                                  "the graph belongs to the node whose child it "
                                  "is: destroy that, or its graph");
    if (graph->captures)
        return vgpu__refuse_value("cudaGraphDestroy",
                                  "a stream capture adds to the graph: end it before");
    vgpu__graph_free(graph);
    return cudaSuccess;
}
