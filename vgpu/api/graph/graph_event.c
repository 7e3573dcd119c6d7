/* SPDX-License-Identifier: MIT
 * graph_event.c: nodes that record an event or wait for one, by which a graph and work outside of
 * it synchronize. Captures make them from calls with cudaEventRecordExternal and
 * cudaEventWaitExternal.
 */
#include "graph_exec.h"

/* An error, which is recorded, if it is not an event of this process. */
static cudaError_t check_event(const char *call, cudaEvent_t event)
{
    struct vgpu_request *request = vgpu__begin(call, VGPU_OP_EVENT_QUERY);
    if (!request)
        return vgpu__failed();
    if (!event)
        return vgpu__refuse_value(call, "the event is a null handle");
    request->event = (uint64_t)(uintptr_t)event;
    request->flags = 1; /* query only whether it was recorded */
    return vgpu__end(NULL);
}

static cudaError_t add_event_node(const char *call, enum cudaGraphNodeType type,
                                  cudaGraphNode_t *out, cudaGraph_t graph,
                                  const cudaGraphNode_t *deps, size_t count, cudaEvent_t event)
{
    cudaError_t error = vgpu__graph_check_new(call, out, graph, deps, count, "none needed");
    if (error == cudaSuccess)
        error = check_event(call, event);
    if (error != cudaSuccess)
        return error;
    struct CUgraphNode_st *node = vgpu__graph_add(graph, type, deps, count);
    if (!node)
        return vgpu__no_memory(call);
    node->u.event = event;
    *out = node;
    return cudaSuccess;
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                        const cudaGraphNode_t *pDependencies,
                                        size_t numDependencies, cudaEvent_t event)
{
    return add_event_node("cudaGraphAddEventRecordNode", cudaGraphNodeTypeEventRecord, pGraphNode,
                          graph, pDependencies, numDependencies, event);
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                      const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                      cudaEvent_t event)
{
    return add_event_node("cudaGraphAddEventWaitNode", cudaGraphNodeTypeWaitEvent, pGraphNode,
                          graph, pDependencies, numDependencies, event);
}

/* ---- the event of a node ---- */

#define NO_NODE "the node does not exist, or is of another type"

static cudaError_t get_node_event(const char *call, enum cudaGraphNodeType type,
                                  cudaGraphNode_t node, cudaEvent_t *event)
{
    if (!vgpu__node_known(node) || node->type != type || !event)
        return vgpu__refuse_value(call, NO_NODE);
    *event = node->u.event;
    return cudaSuccess;
}

static cudaError_t set_node_event(const char *call, enum cudaGraphNodeType type,
                                  struct CUgraphNode_st *node, cudaEvent_t event)
{
    if (!node || !vgpu__node_known(node) || node->type != type)
        return vgpu__refuse_value(call, NO_NODE);
    cudaError_t error = check_event(call, event);
    if (error == cudaSuccess)
        node->u.event = event;
    return error;
}

static cudaError_t set_in_exec(const char *call, enum cudaGraphNodeType type, cudaGraphExec_t exec,
                               cudaGraphNode_t node, cudaEvent_t event)
{
    vgpu__execs_lock();
    cudaError_t error = set_node_event(call, type, vgpu__exec_node(exec, node, type), event);
    vgpu__execs_unlock();
    return error;
}

cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event_out)
{
    return get_node_event("cudaGraphEventRecordNodeGetEvent", cudaGraphNodeTypeEventRecord, node,
                          event_out);
}

cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event_out)
{
    return get_node_event("cudaGraphEventWaitNodeGetEvent", cudaGraphNodeTypeWaitEvent, node,
                          event_out);
}

cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event)
{
    return set_node_event("cudaGraphEventRecordNodeSetEvent", cudaGraphNodeTypeEventRecord, node,
                          event);
}

cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event)
{
    return set_node_event("cudaGraphEventWaitNodeSetEvent", cudaGraphNodeTypeWaitEvent, node,
                          event);
}

cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode,
                                                 cudaEvent_t event)
{
    return set_in_exec("cudaGraphExecEventRecordNodeSetEvent", cudaGraphNodeTypeEventRecord,
                       hGraphExec, hNode, event);
}

cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode,
                                               cudaEvent_t event)
{
    return set_in_exec("cudaGraphExecEventWaitNodeSetEvent", cudaGraphNodeTypeWaitEvent, hGraphExec,
                       hNode, event);
}

/* ---- captured calls ---- */

cudaError_t vgpu__capture_external(const char *call, cudaStream_t stream,
                                   enum cudaGraphNodeType type, cudaEvent_t event)
{
    struct CUgraphNode_st *node = NULL;
    cudaError_t error = cudaSuccess;
    if (atomic_load(&vgpu__capturing) != 0)
        error = check_event(call, event);
    if (error == cudaSuccess)
        node = vgpu__capture(call, stream, type, &error);
    if (node)
        node->u.event = event;
    else if (error == cudaSuccess)
        error = vgpu__refuse(cudaErrorIllegalState, call,
                             "an event is external only to a stream that is captured");
    return error;
}
