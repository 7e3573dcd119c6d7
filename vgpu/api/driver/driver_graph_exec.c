/* SPDX-License-Identifier: MIT
 * driver_graph_exec.c: executable graphs and captures in the driver API.
 */
#include "driver.h"

#define GRAPH_CALL(expression) VGPU_DRIVER_OF(VGPU__NEED_INIT, expression)

/* ---- executable graphs ---- */

CUresult cuGraphInstantiate(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
    GRAPH_CALL(cudaGraphInstantiate(exec, graph, flags));
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
    GRAPH_CALL(cudaGraphInstantiate(exec, graph, flags));
}

_Static_assert(sizeof(CUDA_GRAPH_INSTANTIATE_PARAMS) == sizeof(cudaGraphInstantiateParams),
               "the same");

CUresult cuGraphInstantiateWithParams(CUgraphExec *exec, CUgraph graph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
    GRAPH_CALL(
        cudaGraphInstantiateWithParams(exec, graph, (cudaGraphInstantiateParams *)(void *)params));
}

CUresult cuGraphExecGetFlags(CUgraphExec exec, cuuint64_t *flags)
{
    GRAPH_CALL(cudaGraphExecGetFlags(exec, (unsigned long long *)(void *)flags));
}

CUresult cuGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode node, unsigned int enabled)
{
    GRAPH_CALL(cudaGraphNodeSetEnabled(exec, node, enabled));
}

CUresult cuGraphNodeGetEnabled(CUgraphExec exec, CUgraphNode node, unsigned int *enabled)
{
    GRAPH_CALL(cudaGraphNodeGetEnabled(exec, node, enabled));
}

CUresult cuGraphUpload(CUgraphExec exec, CUstream stream)
{
    VGPU_DRIVER(cudaGraphUpload(exec, stream));
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
    VGPU_DRIVER(cudaGraphLaunch(exec, stream));
}

CUresult cuGraphExecDestroy(CUgraphExec exec)
{
    GRAPH_CALL(cudaGraphExecDestroy(exec));
}

_Static_assert(sizeof(CUgraphExecUpdateResultInfo) == sizeof(cudaGraphExecUpdateResultInfo),
               "the same");
_Static_assert((int)CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED ==
                   (int)cudaGraphExecUpdateErrorAttributesChanged,
               "the same");

CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info)
{
    GRAPH_CALL(info
                   ? cudaGraphExecUpdate(exec, graph, (cudaGraphExecUpdateResultInfo *)(void *)info)
                   : cudaErrorInvalidValue);
}

/* ---- captures ---- */

CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode)
{
    VGPU_DRIVER(cudaStreamBeginCapture(stream, (enum cudaStreamCaptureMode)mode));
}

CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph, const CUgraphNode *deps,
                                     const CUgraphEdgeData *data, size_t count,
                                     CUstreamCaptureMode mode)
{
    VGPU_DRIVER(cudaStreamBeginCaptureToGraph(stream, graph, deps,
                                              (const cudaGraphEdgeData *)(const void *)data, count,
                                              (enum cudaStreamCaptureMode)mode));
}

CUresult cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode *deps,
                                           const CUgraphEdgeData *data, size_t count,
                                           unsigned int flags)
{
    VGPU_DRIVER(cudaStreamUpdateCaptureDependencies(
        stream, deps, (const cudaGraphEdgeData *)(const void *)data, count, flags));
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
    VGPU_DRIVER(cudaStreamEndCapture(stream, graph));
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status)
{
    VGPU_DRIVER(cudaStreamIsCapturing(stream, (enum cudaStreamCaptureStatus *)(void *)status));
}

_Static_assert(sizeof(cuuint64_t) == sizeof(unsigned long long), "the same");

CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id,
                                CUgraph *graph, const CUgraphNode **nodes,
                                const CUgraphEdgeData **data, size_t *count)
{
    VGPU_DRIVER(cudaStreamGetCaptureInfo(stream, (enum cudaStreamCaptureStatus *)(void *)status,
                                         (unsigned long long *)(void *)id, graph, nodes,
                                         (const cudaGraphEdgeData **)(void *)data, count));
}

static cudaError_t exchange_mode(CUstreamCaptureMode *mode)
{
    if (!mode || (unsigned int)*mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return cudaErrorInvalidValue;
    return cudaThreadExchangeStreamCaptureMode((enum cudaStreamCaptureMode *)(void *)mode);
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    GRAPH_CALL(exchange_mode(mode));
}

/* ---- objects that live as long as graphs ---- */

CUresult cuUserObjectCreate(CUuserObject *object, void *data, CUhostFn destroy,
                            unsigned int references, unsigned int flags)
{
    GRAPH_CALL(cudaUserObjectCreate(object, data, destroy, references, flags));
}

CUresult cuUserObjectRetain(CUuserObject object, unsigned int count)
{
    GRAPH_CALL(cudaUserObjectRetain(object, count));
}

CUresult cuUserObjectRelease(CUuserObject object, unsigned int count)
{
    GRAPH_CALL(cudaUserObjectRelease(object, count));
}

CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned int count,
                                 unsigned int flags)
{
    GRAPH_CALL(cudaGraphRetainUserObject(graph, object, count, flags));
}

CUresult cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned int count)
{
    GRAPH_CALL(cudaGraphReleaseUserObject(graph, object, count));
}
