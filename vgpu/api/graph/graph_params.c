/* SPDX-License-Identifier: MIT
 * graph_params.c: what the parameters of nodes are, and which nodes of an executable graph a launch
 * leaves out.
 */
#include <stdlib.h>
#include <string.h>

#include "graph_exec.h"
#include "registration.h"

static cudaError_t check_node(const char *call, const struct CUgraphNode_st *node,
                              enum cudaGraphNodeType type, const void *out)
{
    return vgpu__node_known(node) && node->type == type && out
               ? cudaSuccess
               : vgpu__refuse_value(
                     call, "the node does not exist or is of another type, or a pointer is null");
}

/* ---- kernels ---- */

enum { ALIGNED = 16 };

static size_t round_up(size_t bytes)
{
    return (bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
}

/* A list of the arguments, and behind it the arguments, aligned for every type. NULL: host memory
 * ran out. */
static void **list_arguments(const struct vgpu__launch *l)
{
    const struct vgpu_host_kernel *kernel = l->kernel;
    size_t at = round_up((kernel->param_count + 1) * sizeof(void *)), bytes = at, from = 0;
    for (uint32_t i = 0; i < kernel->param_count; i++)
        bytes += round_up(kernel->param_bytes[i]);
    void **list = aligned_alloc(ALIGNED, bytes);
    for (uint32_t i = 0; list && i < kernel->param_count; i++) {
        list[i] = memcpy((char *)list + at, l->args + from, kernel->param_bytes[i]);
        at += round_up(kernel->param_bytes[i]);
        from += kernel->param_bytes[i];
    }
    return list;
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node,
                                         struct cudaKernelNodeParams *pNodeParams)
{
    static const char call[] = "cudaGraphKernelNodeGetParams";
    cudaError_t error = check_node(call, node, cudaGraphNodeTypeKernel, pNodeParams);
    if (error != cudaSuccess)
        return error;
    const struct vgpu__launch *l = &node->u.kernel;
    if (!node->shown)
        node->shown = list_arguments(l);
    if (!node->shown)
        return vgpu__no_memory(call);
    *pNodeParams = (struct cudaKernelNodeParams){.func = (void *)(uintptr_t)l->kernel->stub,
                                                 .gridDim = l->grid,
                                                 .blockDim = l->block,
                                                 .sharedMemBytes = (unsigned int)l->shared,
                                                 .kernelParams = node->shown};
    return cudaSuccess;
}

/* ---- copies, fills, functions of the host ---- */

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node,
                                         struct cudaMemcpy3DParms *pNodeParams)
{
    cudaError_t error =
        check_node("cudaGraphMemcpyNodeGetParams", node, cudaGraphNodeTypeMemcpy, pNodeParams);
    if (error != cudaSuccess)
        return error;
    const struct vgpu__copy *c = &node->u.copy;
    size_t rows = c->plane_rows ? c->plane_rows : c->rows;
    *pNodeParams = node->u.box;
    if (pNodeParams->extent.width)
        return cudaSuccess;
    *pNodeParams = (struct cudaMemcpy3DParms){
        .srcPtr = {(void *)(uintptr_t)c->src, c->src_pitch, c->width, rows},
        .dstPtr = {c->dst, c->dst_pitch, c->width, rows},
        .extent = {c->width, rows, rows ? c->rows / rows : 1},
        .kind = c->kind};
    if (c->plane_rows) {
        pNodeParams->srcPtr.ysize = c->src_plane / c->src_pitch;
        pNodeParams->dstPtr.ysize = c->dst_plane / c->dst_pitch;
    }
    return cudaSuccess;
}

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, struct cudaMemsetParams *pNodeParams)
{
    cudaError_t error =
        check_node("cudaGraphMemsetNodeGetParams", node, cudaGraphNodeTypeMemset, pNodeParams);
    if (error != cudaSuccess)
        return error;
    const struct memset_call *m = &node->u.memset;
    *pNodeParams =
        (struct cudaMemsetParams){m->dst, m->pitch, m->value, m->element_bytes, m->width, m->rows};
    return cudaSuccess;
}

cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, struct cudaHostNodeParams *pNodeParams)
{
    cudaError_t error =
        check_node("cudaGraphHostNodeGetParams", node, cudaGraphNodeTypeHost, pNodeParams);
    if (error == cudaSuccess)
        *pNodeParams = (struct cudaHostNodeParams){node->u.host->function, node->u.host->data};
    return error;
}

/* ---- executable graphs ---- */

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t graphExec, unsigned long long *flags)
{
    vgpu__execs_lock();
    bool known = flags && vgpu__exec_known(graphExec);
    if (known)
        *flags = graphExec->flags;
    vgpu__execs_unlock();
    return known
               ? cudaSuccess
               : vgpu__refuse_value("cudaGraphExecGetFlags",
                                    "the handle is not an executable graph, or a pointer is null");
}

/* The executable graph's copy of a kernel, copy or fill: only these can be left out. The caller
 * holds the lock. */
static struct CUgraphNode_st *node_to_leave_out(cudaGraphExec_t exec, cudaGraphNode_t node)
{
    static const enum cudaGraphNodeType types[] = {cudaGraphNodeTypeKernel, cudaGraphNodeTypeMemcpy,
                                                   cudaGraphNodeTypeMemset};
    struct CUgraphNode_st *found = NULL;
    for (size_t i = 0; !found && i < sizeof types / sizeof *types; i++)
        found = vgpu__exec_node(exec, node, types[i]);
    return found;
}

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode,
                                    unsigned int isEnabled)
{
    vgpu__execs_lock();
    struct CUgraphNode_st *mine = node_to_leave_out(hGraphExec, hNode);
    if (mine)
        mine->disabled = !isEnabled;
    vgpu__execs_unlock();
    return mine ? cudaSuccess
                : vgpu__refuse_value(
                      "cudaGraphNodeSetEnabled",
                      "the node is not a kernel, copy or fill of this executable graph");
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode,
                                    unsigned int *isEnabled)
{
    vgpu__execs_lock();
    struct CUgraphNode_st *mine = isEnabled ? node_to_leave_out(hGraphExec, hNode) : NULL;
    if (mine)
        *isEnabled = !mine->disabled;
    vgpu__execs_unlock();
    return mine ? cudaSuccess
                : vgpu__refuse_value(
                      "cudaGraphNodeGetEnabled",
                      "the node is not a kernel, copy or fill of this executable graph");
}
