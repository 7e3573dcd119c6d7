/* SPDX-License-Identifier: MIT
 * graph_node.c: the calls that take the parameters of a node of any type in one structure. Each is
 * the call for the type.
 */
#include "graph.h"

/* The structures of the types are those of the older calls. */
#define AS(type, member) ((type *)(void *)(member))
_Static_assert(sizeof(struct cudaKernelNodeParamsV2) == sizeof(struct cudaKernelNodeParams), "");
_Static_assert(sizeof(struct cudaMemsetParamsV2) == sizeof(struct cudaMemsetParams), "");
_Static_assert(sizeof(struct cudaHostNodeParamsV2) == sizeof(struct cudaHostNodeParams), "");
_Static_assert(sizeof(struct cudaMemAllocNodeParamsV2) == sizeof(struct cudaMemAllocNodeParams),
               "");

cudaError_t vgpu__graph_refuse_type(const char *call, int type)
{
    static const char *const unmodelled[] = {
        [cudaGraphNodeTypeExtSemaphoreSignal] = "external semaphores",
        [cudaGraphNodeTypeExtSemaphoreWait] = "external semaphores",
        [12] = "batches of memory operations",
        [cudaGraphNodeTypeConditional] = "conditional nodes",
    };
    if (type >= 0 && type <= cudaGraphNodeTypeConditional && unmodelled[type])
        return vgpu__refuse(cudaErrorNotSupported, call,
                            "the virtual node has no %s in graphs (nodes of type %d)",
                            unmodelled[type], type);
    return type < 0 ? vgpu__refuse_value(call, "no parameters")
                    : vgpu__refuse(cudaErrorInvalidValue, call,
                                   "it does not take the parameters of nodes of type %d", type);
}

cudaError_t vgpu__graph_check_ownership(const char *call, int ownership)
{
    return ownership == cudaGraphChildGraphOwnershipClone
               ? cudaSuccess
               : vgpu__refuse(cudaErrorNotSupported, call,
                              "a child graph is copied here: cudaGraphChildGraphOwnershipMove is "
                              "not modelled");
}

static cudaError_t add_child(const char *call, cudaGraphNode_t *out, cudaGraph_t graph,
                             const cudaGraphNode_t *deps, size_t count,
                             const struct cudaChildGraphNodeParams *p)
{
    cudaError_t error = vgpu__graph_check_ownership(call, (int)p->ownership);
    return error == cudaSuccess ? cudaGraphAddChildGraphNode(out, graph, deps, count, p->graph)
                                : error;
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                             const cudaGraphNode_t *pDependencies,
                             const cudaGraphEdgeData *dependencyData, size_t numDependencies,
                             struct cudaGraphNodeParams *nodeParams)
{
    static const char call[] = "cudaGraphAddNode";
    struct cudaGraphNodeParams *p = nodeParams;
    const cudaGraphNode_t *deps = pDependencies;
    (void)dependencyData; /* used by programmatic launches only */
    if (!p)
        return vgpu__refuse_value(call, "no parameters");
    switch (p->type) {
    case cudaGraphNodeTypeKernel:
        return cudaGraphAddKernelNode(pGraphNode, graph, deps, numDependencies,
                                      AS(struct cudaKernelNodeParams, &p->kernel));
    case cudaGraphNodeTypeMemcpy:
        return cudaGraphAddMemcpyNode(pGraphNode, graph, deps, numDependencies,
                                      &p->memcpy.copyParams);
    case cudaGraphNodeTypeMemset:
        return cudaGraphAddMemsetNode(pGraphNode, graph, deps, numDependencies,
                                      AS(struct cudaMemsetParams, &p->memset));
    case cudaGraphNodeTypeHost:
        return cudaGraphAddHostNode(pGraphNode, graph, deps, numDependencies,
                                    AS(struct cudaHostNodeParams, &p->host));
    case cudaGraphNodeTypeGraph:
        return add_child(call, pGraphNode, graph, deps, numDependencies, &p->graph);
    case cudaGraphNodeTypeEmpty:
        return cudaGraphAddEmptyNode(pGraphNode, graph, deps, numDependencies);
    case cudaGraphNodeTypeWaitEvent:
        return cudaGraphAddEventWaitNode(pGraphNode, graph, deps, numDependencies,
                                         p->eventWait.event);
    case cudaGraphNodeTypeEventRecord:
        return cudaGraphAddEventRecordNode(pGraphNode, graph, deps, numDependencies,
                                           p->eventRecord.event);
    case cudaGraphNodeTypeMemAlloc:
        return cudaGraphAddMemAllocNode(pGraphNode, graph, deps, numDependencies,
                                        AS(struct cudaMemAllocNodeParams, &p->alloc));
    case cudaGraphNodeTypeMemFree:
        return cudaGraphAddMemFreeNode(pGraphNode, graph, deps, numDependencies, p->free.dptr);
    default:
        return vgpu__graph_refuse_type(call, (int)p->type);
    }
}

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, struct cudaGraphNodeParams *nodeParams)
{
    static const char call[] = "cudaGraphNodeSetParams";
    struct cudaGraphNodeParams *p = nodeParams;
    if (!p)
        return vgpu__refuse_value(call, "no parameters");
    switch (p->type) {
    case cudaGraphNodeTypeKernel:
        return cudaGraphKernelNodeSetParams(node, AS(struct cudaKernelNodeParams, &p->kernel));
    case cudaGraphNodeTypeMemcpy:
        return cudaGraphMemcpyNodeSetParams(node, &p->memcpy.copyParams);
    case cudaGraphNodeTypeMemset:
        return cudaGraphMemsetNodeSetParams(node, AS(struct cudaMemsetParams, &p->memset));
    case cudaGraphNodeTypeHost:
        return cudaGraphHostNodeSetParams(node, AS(struct cudaHostNodeParams, &p->host));
    case cudaGraphNodeTypeWaitEvent:
        return cudaGraphEventWaitNodeSetEvent(node, p->eventWait.event);
    case cudaGraphNodeTypeEventRecord:
        return cudaGraphEventRecordNodeSetEvent(node, p->eventRecord.event);
    default:
        return vgpu__graph_refuse_type(call, (int)p->type);
    }
}

cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t graphExec, cudaGraphNode_t node,
                                       struct cudaGraphNodeParams *nodeParams)
{
    static const char call[] = "cudaGraphExecNodeSetParams";
    struct cudaGraphNodeParams *p = nodeParams;
    if (!p)
        return vgpu__refuse_value(call, "no parameters");
    switch (p->type) {
    case cudaGraphNodeTypeKernel:
        return cudaGraphExecKernelNodeSetParams(graphExec, node,
                                                AS(struct cudaKernelNodeParams, &p->kernel));
    case cudaGraphNodeTypeMemcpy:
        return cudaGraphExecMemcpyNodeSetParams(graphExec, node, &p->memcpy.copyParams);
    case cudaGraphNodeTypeMemset:
        return cudaGraphExecMemsetNodeSetParams(graphExec, node,
                                                AS(struct cudaMemsetParams, &p->memset));
    case cudaGraphNodeTypeHost:
        return cudaGraphExecHostNodeSetParams(graphExec, node,
                                              AS(struct cudaHostNodeParams, &p->host));
    case cudaGraphNodeTypeGraph:
        return cudaGraphExecChildGraphNodeSetParams(graphExec, node, p->graph.graph);
    case cudaGraphNodeTypeWaitEvent:
        return cudaGraphExecEventWaitNodeSetEvent(graphExec, node, p->eventWait.event);
    case cudaGraphNodeTypeEventRecord:
        return cudaGraphExecEventRecordNodeSetEvent(graphExec, node, p->eventRecord.event);
    default:
        return vgpu__graph_refuse_type(call, (int)p->type);
    }
}
