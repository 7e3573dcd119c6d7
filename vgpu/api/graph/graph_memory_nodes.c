/* SPDX-License-Identifier: MIT
 * graph_memory_nodes.c: the calls about nodes that allocate and free memory. See graph_memory.c.
 */
#include <stdlib.h>

#include "graph.h"

static cudaError_t check_allocation(const char *call, const struct cudaMemAllocNodeParams *p,
                                    uint32_t *reach)
{
    *reach = 0;
    if (p->poolProps.allocType != cudaMemAllocationTypePinned ||
        p->poolProps.location.type != cudaMemLocationTypeDevice ||
        !vgpu__device_exists(p->poolProps.location.id) || p->bytesize == 0 ||
        (p->accessDescCount && !p->accessDescs))
        return vgpu__refuse_value(call, "poolProps must name pinned memory of a device, and "
                                        "bytesize must not be 0");
    for (size_t i = 0; i < p->accessDescCount; i++) {
        if (!vgpu__device_exists(p->accessDescs[i].location.id))
            return vgpu__refuse_value(call, "accessDescs names no device");
        *reach |= 1u << vgpu__process.physical[p->accessDescs[i].location.id];
    }
    return cudaSuccess;
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                     const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                     struct cudaMemAllocNodeParams *nodeParams)
{
    static const char call[] = "cudaGraphAddMemAllocNode";
    uint32_t reach;
    cudaError_t error =
        vgpu__graph_check_new(call, pGraphNode, graph, pDependencies, numDependencies, nodeParams);
    if (error == cudaSuccess)
        error = check_allocation(call, nodeParams, &reach);
    if (error != cudaSuccess)
        return error;
    struct CUgraphNode_st *node =
        vgpu__graph_add(graph, cudaGraphNodeTypeEmpty, pDependencies, numDependencies);
    if (!node)
        return vgpu__no_memory(call);
    int physical = vgpu__process.physical[nodeParams->poolProps.location.id];
    node->physical = physical;
    error =
        vgpu__graph_allocate(call, node, physical, nodeParams->bytesize, reach, &nodeParams->dptr);
    if (error == cudaSuccess)
        *pGraphNode = node;
    else
        vgpu__graph_drop_node(node);
    return error;
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                    const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                    void *dptr)
{
    static const char call[] = "cudaGraphAddMemFreeNode";
    cudaError_t error =
        vgpu__graph_check_new(call, pGraphNode, graph, pDependencies, numDependencies, dptr);
    if (error != cudaSuccess)
        return error;
    struct CUgraphNode_st *node =
        vgpu__graph_add(graph, cudaGraphNodeTypeEmpty, pDependencies, numDependencies);
    if (!node)
        return vgpu__no_memory(call);
    error = vgpu__graph_release(call, node, dptr);
    if (error == cudaSuccess)
        *pGraphNode = node;
    else
        vgpu__graph_drop_node(node);
    return error;
}

/* ---- queries ---- */

/* The list of accesses lies in the node. */
static cudaError_t show_accesses(const char *call, struct CUgraphNode_st *node,
                                 struct cudaMemAllocNodeParams *out)
{
    struct cudaMemAccessDesc *list = node->shown;
    if (!list)
        list = node->shown = calloc(VGPU_MAX_DEVICES, sizeof *list);
    if (!list)
        return vgpu__no_memory(call);
    out->accessDescs = list;
    for (int device = 0; device < vgpu__process.device_count; device++)
        if (node->u.reach >> vgpu__process.physical[device] & 1)
            list[out->accessDescCount++] = (struct cudaMemAccessDesc){
                {cudaMemLocationTypeDevice, device}, cudaMemAccessFlagsProtReadWrite};
    return cudaSuccess;
}

cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node,
                                           struct cudaMemAllocNodeParams *params_out)
{
    static const char call[] = "cudaGraphMemAllocNodeGetParams";
    if (!vgpu__node_known(node) || node->type != cudaGraphNodeTypeMemAlloc || !params_out)
        return vgpu__refuse_value(call, "the node does not allocate, or a pointer is null");
    *params_out = (struct cudaMemAllocNodeParams){
        .poolProps = {.allocType = cudaMemAllocationTypePinned,
                      .location = {cudaMemLocationTypeDevice, vgpu__logical(node->physical)}},
        .bytesize = node->u.bytes,
        .dptr = (void *)(uintptr_t)vgpu__graph_address(node->u.memory)}; /* NOLINT */
    return node->u.reach ? show_accesses(call, node, params_out) : cudaSuccess;
}

cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void *dptr_out)
{
    if (!vgpu__node_known(node) || node->type != cudaGraphNodeTypeMemFree || !dptr_out)
        return vgpu__refuse_value("cudaGraphMemFreeNodeGetParams",
                                  "the node does not free, or a pointer is null");
    *(uint64_t *)dptr_out = vgpu__graph_address(node->u.memory);
    return cudaSuccess;
}
