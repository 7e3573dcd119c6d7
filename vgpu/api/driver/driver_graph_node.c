/* SPDX-License-Identifier: MIT
 * driver_graph_node.c: the driver's calls that take the parameters of a node of any type in one
 * structure, and attributes of kernels. Each is the call for the type.
 */
#include "driver.h"

#define GRAPH_CALL(expression) VGPU_DRIVER_OF(VGPU__NEED_INIT, expression)

/* The first members are those of the older structure. */
static const CUDA_MEMSET_NODE_PARAMS *older(const CUDA_MEMSET_NODE_PARAMS_v2 *params)
{
    return (const CUDA_MEMSET_NODE_PARAMS *)(const void *)params;
}

/* The error of a call that no call of the driver has: its own message and error. */
static CUresult refuse_type(const char *call, int type)
{
    CUresult gate = vgpu__driver_begin(call, VGPU__NEED_INIT);
    return gate == CUDA_SUCCESS ? vgpu__driver_end(vgpu__graph_refuse_type(call, type)) : gate;
}

static CUresult add_child_by(const char *call, CUgraphNode *node, CUgraph graph,
                             const CUgraphNode *deps, size_t count,
                             const CUDA_CHILD_GRAPH_NODE_PARAMS *p)
{
    CUresult gate = vgpu__driver_begin(call, VGPU__NEED_INIT);
    if (gate != CUDA_SUCCESS)
        return gate;
    gate = vgpu__driver_end(vgpu__graph_check_ownership(call, (int)p->ownership));
    return gate == CUDA_SUCCESS ? cuGraphAddChildGraphNode(node, graph, deps, count, p->graph)
                                : gate;
}

CUresult cuGraphAddNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps,
                        const CUgraphEdgeData *data, size_t count, CUgraphNodeParams *params)
{
    CUgraphNodeParams *p = params;
    (void)data; /* used by programmatic launches only */
    if (!p)
        return refuse_type(__func__, -1);
    switch (p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        return cuGraphAddKernelNode(node, graph, deps, count, &p->kernel);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return cuGraphAddMemcpyNode(node, graph, deps, count, &p->memcpy.copyParams,
                                    p->memcpy.copyCtx);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return cuGraphAddMemsetNode(node, graph, deps, count, older(&p->memset), p->memset.ctx);
    case CU_GRAPH_NODE_TYPE_HOST:
        return cuGraphAddHostNode(node, graph, deps, count, &p->host);
    case CU_GRAPH_NODE_TYPE_GRAPH:
        return add_child_by(__func__, node, graph, deps, count, &p->graph);
    case CU_GRAPH_NODE_TYPE_EMPTY:
        return cuGraphAddEmptyNode(node, graph, deps, count);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return cuGraphAddEventWaitNode(node, graph, deps, count, p->eventWait.event);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return cuGraphAddEventRecordNode(node, graph, deps, count, p->eventRecord.event);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        return cuGraphAddMemAllocNode(node, graph, deps, count, &p->alloc);
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        return cuGraphAddMemFreeNode(node, graph, deps, count, p->free.dptr);
    default:
        return refuse_type(__func__, (int)p->type);
    }
}

CUresult cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams *params)
{
    CUgraphNodeParams *p = params;
    if (!p)
        return refuse_type(__func__, -1);
    switch (p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        return cuGraphKernelNodeSetParams(node, &p->kernel);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return cuGraphMemcpyNodeSetParams(node, &p->memcpy.copyParams);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return cuGraphMemsetNodeSetParams(node, older(&p->memset));
    case CU_GRAPH_NODE_TYPE_HOST:
        return cuGraphHostNodeSetParams(node, &p->host);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return cuGraphEventWaitNodeSetEvent(node, p->eventWait.event);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return cuGraphEventRecordNodeSetEvent(node, p->eventRecord.event);
    default:
        return refuse_type(__func__, (int)p->type);
    }
}

CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraph child)
{
    GRAPH_CALL(cudaGraphExecChildGraphNodeSetParams(exec, node, child));
}

CUresult cuGraphExecNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams *params)
{
    CUgraphNodeParams *p = params;
    if (!p)
        return refuse_type(__func__, -1);
    switch (p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        return cuGraphExecKernelNodeSetParams(exec, node, &p->kernel);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return cuGraphExecMemcpyNodeSetParams(exec, node, &p->memcpy.copyParams, p->memcpy.copyCtx);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return cuGraphExecMemsetNodeSetParams(exec, node, older(&p->memset), p->memset.ctx);
    case CU_GRAPH_NODE_TYPE_HOST:
        return cuGraphExecHostNodeSetParams(exec, node, &p->host);
    case CU_GRAPH_NODE_TYPE_GRAPH:
        return cuGraphExecChildGraphNodeSetParams(exec, node, p->graph.graph);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return cuGraphExecEventWaitNodeSetEvent(exec, node, p->eventWait.event);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return cuGraphExecEventRecordNodeSetEvent(exec, node, p->eventRecord.event);
    default:
        return refuse_type(__func__, (int)p->type);
    }
}

/* ---- attributes of kernels ---- */

_Static_assert(sizeof(CUlaunchAttributeValue) == sizeof(cudaLaunchAttributeValue), "the same");

CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode to, CUgraphNode from)
{
    GRAPH_CALL(cudaGraphKernelNodeCopyAttributes(to, from));
}

CUresult cuGraphKernelNodeGetAttribute(CUgraphNode node, CUkernelNodeAttrID attribute,
                                       CUkernelNodeAttrValue *value)
{
    GRAPH_CALL(cudaGraphKernelNodeGetAttribute(node, (cudaLaunchAttributeID)attribute,
                                               (cudaLaunchAttributeValue *)(void *)value));
}

CUresult cuGraphKernelNodeSetAttribute(CUgraphNode node, CUkernelNodeAttrID attribute,
                                       const CUkernelNodeAttrValue *value)
{
    GRAPH_CALL(
        cudaGraphKernelNodeSetAttribute(node, (cudaLaunchAttributeID)attribute,
                                        (const cudaLaunchAttributeValue *)(const void *)value));
}
