/* SPDX-License-Identifier: MIT
 * driver_graph.c: graphs and their nodes in the driver API. They are the runtime's: here parameters
 * get the runtime's form, and contexts become devices. What needs no device needs no context.
 */
#include "driver.h"

#include <stdlib.h>

#define P(ptr) vgpu__driver_pointer(ptr)
#define GRAPH_CALL(expression) VGPU_DRIVER_OF(VGPU__NEED_INIT, expression)

/* Structures and enumerations of which the runtime's call takes ours by its own name. */
_Static_assert(sizeof(CUDA_HOST_NODE_PARAMS) == sizeof(struct cudaHostNodeParams), "the same");
_Static_assert(sizeof(CUgraphEdgeData) == sizeof(cudaGraphEdgeData), "the same");
_Static_assert((int)CU_GRAPH_NODE_TYPE_CONDITIONAL == (int)cudaGraphNodeTypeConditional,
               "the same");
_Static_assert((int)CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH == (int)cudaGraphMemAttrReservedMemHigh,
               "the same");

static const struct cudaHostNodeParams *host_params(const CUDA_HOST_NODE_PARAMS *params)
{
    return (const struct cudaHostNodeParams *)(const void *)params;
}

/* ---- the device of a node ---- */

cudaError_t vgpu__driver_enter(CUcontext context, int *before)
{
    *before = vgpu__self.device;
    if (!context || !vgpu__driver_is_context(context))
        return context ? cudaErrorDeviceUninitialized : cudaErrorInvalidValue;
    vgpu__self.device = context->device;
    return cudaSuccess;
}

/* ---- parameters ---- */

/* *made is to be freed after the call, also after an error. */
static cudaError_t kernel_params(const CUDA_KERNEL_NODE_PARAMS *p, struct cudaKernelNodeParams *out,
                                 void ***made)
{
    *made = NULL;
    if (!p)
        return cudaErrorInvalidValue;
    CUfunction function = p->func ? p->func : (CUfunction)(void *)p->kern;
    *out = (struct cudaKernelNodeParams){.func = function,
                                         .gridDim = {p->gridDimX, p->gridDimY, p->gridDimZ},
                                         .blockDim = {p->blockDimX, p->blockDimY, p->blockDimZ},
                                         .sharedMemBytes = p->sharedMemBytes};
    return vgpu__driver_arguments(function, p->kernelParams, p->extra, &out->kernelParams, made);
}

static struct cudaMemsetParams memset_params(const CUDA_MEMSET_NODE_PARAMS *p)
{
    return (struct cudaMemsetParams){P(p->dst),      p->pitch, p->value,
                                     p->elementSize, p->width, p->height};
}

/* ---- graphs ---- */

CUresult cuGraphCreate(CUgraph *graph, unsigned int flags)
{
    GRAPH_CALL(cudaGraphCreate(graph, flags));
}

CUresult cuGraphDestroy(CUgraph graph)
{
    GRAPH_CALL(cudaGraphDestroy(graph));
}

CUresult cuGraphClone(CUgraph *clone, CUgraph original)
{
    GRAPH_CALL(cudaGraphClone(clone, original));
}

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
    GRAPH_CALL(cudaGraphGetNodes(graph, nodes, count));
}

CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
    GRAPH_CALL(cudaGraphGetRootNodes(graph, nodes, count));
}

CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *data,
                         size_t *count)
{
    GRAPH_CALL(cudaGraphGetEdges(graph, from, to, (cudaGraphEdgeData *)(void *)data, count));
}

CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                const CUgraphEdgeData *data, size_t count)
{
    GRAPH_CALL(cudaGraphAddDependencies(graph, from, to,
                                        (const cudaGraphEdgeData *)(const void *)data, count));
}

CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                   const CUgraphEdgeData *data, size_t count)
{
    GRAPH_CALL(cudaGraphRemoveDependencies(graph, from, to,
                                           (const cudaGraphEdgeData *)(const void *)data, count));
}

CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *nodes, CUgraphEdgeData *data,
                                    size_t *count)
{
    GRAPH_CALL(cudaGraphNodeGetDependencies(node, nodes, (cudaGraphEdgeData *)(void *)data, count));
}

CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *nodes, CUgraphEdgeData *data,
                                      size_t *count)
{
    GRAPH_CALL(
        cudaGraphNodeGetDependentNodes(node, nodes, (cudaGraphEdgeData *)(void *)data, count));
}

CUresult cuGraphNodeFindInClone(CUgraphNode *node, CUgraphNode original, CUgraph clone)
{
    GRAPH_CALL(cudaGraphNodeFindInClone(node, original, clone));
}

CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *type)
{
    GRAPH_CALL(cudaGraphNodeGetType(node, (enum cudaGraphNodeType *)(void *)type));
}

CUresult cuGraphDestroyNode(CUgraphNode node)
{
    GRAPH_CALL(cudaGraphDestroyNode(node));
}

/* ---- kernels ---- */

/* A kernel that is given as `kern` runs in the context `ctx`, or in the current one if `ctx` is
 * NULL. */
static cudaError_t add_driver_kernel(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps,
                                     size_t count, const CUDA_KERNEL_NODE_PARAMS *p)
{
    struct cudaKernelNodeParams params;
    void **made;
    int before = vgpu__self.device;
    cudaError_t error = kernel_params(p, &params, &made);
    if (error == cudaSuccess && !p->func && p->ctx)
        error = vgpu__driver_enter(p->ctx, &before);
    if (error == cudaSuccess)
        error = cudaGraphAddKernelNode(node, graph, deps, count, &params);
    vgpu__self.device = before;
    free(made);
    return error;
}

CUresult cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps,
                              size_t count, const CUDA_KERNEL_NODE_PARAMS *params)
{
    VGPU_DRIVER(add_driver_kernel(node, graph, deps, count, params));
}

static cudaError_t set_kernel(CUgraphExec exec, CUgraphNode node, bool in_exec,
                              const CUDA_KERNEL_NODE_PARAMS *p)
{
    struct cudaKernelNodeParams params;
    void **made;
    cudaError_t error = kernel_params(p, &params, &made);
    if (error == cudaSuccess)
        error = in_exec ? cudaGraphExecKernelNodeSetParams(exec, node, &params)
                        : cudaGraphKernelNodeSetParams(node, &params);
    free(made);
    return error;
}

CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *params)
{
    GRAPH_CALL(set_kernel(NULL, node, false, params));
}

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_KERNEL_NODE_PARAMS *params)
{
    GRAPH_CALL(set_kernel(exec, node, true, params));
}

static cudaError_t get_kernel(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *out)
{
    struct cudaKernelNodeParams p;
    cudaError_t error = out ? cudaGraphKernelNodeGetParams(node, &p) : cudaErrorInvalidValue;
    if (error != cudaSuccess)
        return error;
    *out = (CUDA_KERNEL_NODE_PARAMS){.func = p.func,
                                     .gridDimX = p.gridDim.x,
                                     .gridDimY = p.gridDim.y,
                                     .gridDimZ = p.gridDim.z,
                                     .blockDimX = p.blockDim.x,
                                     .blockDimY = p.blockDim.y,
                                     .blockDimZ = p.blockDim.z,
                                     .sharedMemBytes = p.sharedMemBytes,
                                     .kernelParams = p.kernelParams,
                                     .ctx = vgpu__driver_primary(vgpu__logical(node->physical))};
    return cudaSuccess;
}

CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *params)
{
    GRAPH_CALL(get_kernel(node, params));
}

/* ---- copies and fills ---- */

static cudaError_t add_driver_copy(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps,
                                   size_t count, const CUDA_MEMCPY3D *p, CUcontext context)
{
    struct cudaMemcpy3DParms params;
    int before;
    cudaError_t error = vgpu__driver_enter(context, &before);
    if (error == cudaSuccess)
        error = vgpu__driver_box(p, &params);
    if (error == cudaSuccess)
        error = cudaGraphAddMemcpyNode(node, graph, deps, count, &params);
    vgpu__self.device = before;
    return error;
}

CUresult cuGraphAddMemcpyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps,
                              size_t count, const CUDA_MEMCPY3D *params, CUcontext context)
{
    GRAPH_CALL(add_driver_copy(node, graph, deps, count, params, context));
}

static cudaError_t set_driver_copy(CUgraphNode node, const CUDA_MEMCPY3D *p)
{
    struct cudaMemcpy3DParms params;
    cudaError_t error = vgpu__driver_box(p, &params);
    return error == cudaSuccess ? cudaGraphMemcpyNodeSetParams(node, &params) : error;
}

CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D *params)
{
    GRAPH_CALL(set_driver_copy(node, params));
}

static cudaError_t set_driver_copy_in_exec(CUgraphExec exec, CUgraphNode node,
                                           const CUDA_MEMCPY3D *p, CUcontext context)
{
    struct cudaMemcpy3DParms params;
    int before;
    cudaError_t error = vgpu__driver_enter(context, &before);
    if (error == cudaSuccess)
        error = vgpu__driver_box(p, &params);
    if (error == cudaSuccess)
        error = cudaGraphExecMemcpyNodeSetParams(exec, node, &params);
    vgpu__self.device = before;
    return error;
}

CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_MEMCPY3D *params, CUcontext context)
{
    GRAPH_CALL(set_driver_copy_in_exec(exec, node, params, context));
}

static cudaError_t get_driver_copy(CUgraphNode node, CUDA_MEMCPY3D *out)
{
    struct cudaMemcpy3DParms params;
    cudaError_t error = out ? cudaGraphMemcpyNodeGetParams(node, &params) : cudaErrorInvalidValue;
    if (error == cudaSuccess)
        vgpu__driver_box_of(&params, out);
    return error;
}

CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D *params)
{
    GRAPH_CALL(get_driver_copy(node, params));
}

static cudaError_t add_memset(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps,
                              size_t count, const CUDA_MEMSET_NODE_PARAMS *p, CUcontext context)
{
    int before;
    cudaError_t error = p ? vgpu__driver_enter(context, &before) : cudaErrorInvalidValue;
    if (error != cudaSuccess)
        return error;
    struct cudaMemsetParams params = memset_params(p);
    error = cudaGraphAddMemsetNode(node, graph, deps, count, &params);
    vgpu__self.device = before;
    return error;
}

CUresult cuGraphAddMemsetNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps,
                              size_t count, const CUDA_MEMSET_NODE_PARAMS *params,
                              CUcontext context)
{
    GRAPH_CALL(add_memset(node, graph, deps, count, params, context));
}

static cudaError_t set_driver_memset(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *p)
{
    if (!p)
        return cudaErrorInvalidValue;
    struct cudaMemsetParams params = memset_params(p);
    return cudaGraphMemsetNodeSetParams(node, &params);
}

CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *params)
{
    GRAPH_CALL(set_driver_memset(node, params));
}

static cudaError_t get_memset(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *out)
{
    struct cudaMemsetParams p;
    cudaError_t error = out ? cudaGraphMemsetNodeGetParams(node, &p) : cudaErrorInvalidValue;
    if (error == cudaSuccess)
        *out = (CUDA_MEMSET_NODE_PARAMS){(uintptr_t)p.dst, p.pitch, p.value,
                                         p.elementSize,    p.width, p.height};
    return error;
}

CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *params)
{
    GRAPH_CALL(get_memset(node, params));
}

static cudaError_t set_memset_in_exec(CUgraphExec exec, CUgraphNode node,
                                      const CUDA_MEMSET_NODE_PARAMS *p, CUcontext context)
{
    int before;
    cudaError_t error = p ? vgpu__driver_enter(context, &before) : cudaErrorInvalidValue;
    if (error != cudaSuccess)
        return error;
    struct cudaMemsetParams params = memset_params(p);
    error = cudaGraphExecMemsetNodeSetParams(exec, node, &params);
    vgpu__self.device = before;
    return error;
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_MEMSET_NODE_PARAMS *params, CUcontext context)
{
    GRAPH_CALL(set_memset_in_exec(exec, node, params, context));
}

/* ---- functions of the host, child graphs, empty nodes ---- */

CUresult cuGraphAddHostNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps, size_t count,
                            const CUDA_HOST_NODE_PARAMS *params)
{
    GRAPH_CALL(cudaGraphAddHostNode(node, graph, deps, count, host_params(params)));
}

CUresult cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS *params)
{
    GRAPH_CALL(cudaGraphHostNodeGetParams(node, (struct cudaHostNodeParams *)(void *)params));
}

CUresult cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS *params)
{
    GRAPH_CALL(cudaGraphHostNodeSetParams(node, host_params(params)));
}

CUresult cuGraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                      const CUDA_HOST_NODE_PARAMS *params)
{
    GRAPH_CALL(cudaGraphExecHostNodeSetParams(exec, node, host_params(params)));
}

CUresult cuGraphAddChildGraphNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps,
                                  size_t count, CUgraph child)
{
    GRAPH_CALL(cudaGraphAddChildGraphNode(node, graph, deps, count, child));
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph *graph)
{
    GRAPH_CALL(cudaGraphChildGraphNodeGetGraph(node, graph));
}

CUresult cuGraphAddEmptyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps,
                             size_t count)
{
    GRAPH_CALL(cudaGraphAddEmptyNode(node, graph, deps, count));
}

/* ---- events ---- */

CUresult cuGraphAddEventRecordNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps,
                                   size_t count, CUevent event)
{
    GRAPH_CALL(cudaGraphAddEventRecordNode(node, graph, deps, count, event));
}

CUresult cuGraphAddEventWaitNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps,
                                 size_t count, CUevent event)
{
    GRAPH_CALL(cudaGraphAddEventWaitNode(node, graph, deps, count, event));
}

CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent *event)
{
    GRAPH_CALL(cudaGraphEventRecordNodeGetEvent(node, event));
}

CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event)
{
    GRAPH_CALL(cudaGraphEventRecordNodeSetEvent(node, event));
}

CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent *event)
{
    GRAPH_CALL(cudaGraphEventWaitNodeGetEvent(node, event));
}

CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event)
{
    GRAPH_CALL(cudaGraphEventWaitNodeSetEvent(node, event));
}

CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event)
{
    GRAPH_CALL(cudaGraphExecEventRecordNodeSetEvent(exec, node, event));
}

CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event)
{
    GRAPH_CALL(cudaGraphExecEventWaitNodeSetEvent(exec, node, event));
}

/* ---- memory ---- */

/* Its structures have the runtime's members, in the same order. */
_Static_assert(sizeof(CUDA_MEM_ALLOC_NODE_PARAMS) == sizeof(struct cudaMemAllocNodeParams),
               "the same");

CUresult cuGraphAddMemAllocNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps,
                                size_t count, CUDA_MEM_ALLOC_NODE_PARAMS *params)
{
    GRAPH_CALL(cudaGraphAddMemAllocNode(node, graph, deps, count,
                                        (struct cudaMemAllocNodeParams *)(void *)params));
}

CUresult cuGraphMemAllocNodeGetParams(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS *params)
{
    GRAPH_CALL(
        cudaGraphMemAllocNodeGetParams(node, (struct cudaMemAllocNodeParams *)(void *)params));
}

CUresult cuGraphMemFreeNodeGetParams(CUgraphNode node, CUdeviceptr *ptr)
{
    GRAPH_CALL(cudaGraphMemFreeNodeGetParams(node, ptr));
}

CUresult cuGraphAddMemFreeNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps,
                               size_t count, CUdeviceptr ptr)
{
    GRAPH_CALL(cudaGraphAddMemFreeNode(node, graph, deps, count, P(ptr)));
}

CUresult cuDeviceGraphMemTrim(CUdevice device)
{
    GRAPH_CALL(cudaDeviceGraphMemTrim(device));
}

CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute, void *value)
{
    GRAPH_CALL(
        cudaDeviceGetGraphMemAttribute(device, (enum cudaGraphMemAttributeType)attribute, value));
}

CUresult cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute, void *value)
{
    GRAPH_CALL(
        cudaDeviceSetGraphMemAttribute(device, (enum cudaGraphMemAttributeType)attribute, value));
}
