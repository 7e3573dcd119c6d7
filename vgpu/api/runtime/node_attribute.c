/* SPDX-License-Identifier: MIT
 * node_attribute.c: attributes of launches (launch.c) of the kernels in graphs.
 */
#include "registration.h"
#include "runtime.h"

static cudaError_t check_kernel_node(const char *call, const struct CUgraphNode_st *node,
                                     const void *value)
{
    return vgpu__node_known(node) && node->type == cudaGraphNodeTypeKernel && value
               ? cudaSuccess
               : vgpu__refuse_value(call, "the node is not a kernel's, or a pointer is null");
}

/* The launch is checked as a whole: a cluster's size must divide the grid's. */
static cudaError_t take_launch(struct CUgraphNode_st *node, struct vgpu__launch *launch)
{
    void *unused = NULL;
    cudaError_t error = vgpu__launch_check(launch, launch->kernel->stub, &unused);
    if (error == cudaSuccess)
        node->u.kernel = *launch;
    return error;
}

cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t hNode, cudaKernelNodeAttrID attr,
                                            const cudaKernelNodeAttrValue *value)
{
    static const char call[] = "cudaGraphKernelNodeSetAttribute";
    cudaError_t error = check_kernel_node(call, hNode, value);
    if (error != cudaSuccess)
        return error;
    struct vgpu__launch launch = hNode->u.kernel;
    const cudaLaunchAttribute attribute = {.id = attr, .val = *value};
    launch.call = call;
    error = vgpu__launch_attribute(&launch, &attribute);
    return error == cudaSuccess ? take_launch(hNode, &launch) : error;
}

/* Of what a launch ignores, 0. */
cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t hNode, cudaKernelNodeAttrID attr,
                                            cudaKernelNodeAttrValue *value_out)
{
    static const char call[] = "cudaGraphKernelNodeGetAttribute";
    cudaError_t error = check_kernel_node(call, hNode, value_out);
    if (error != cudaSuccess)
        return error;
    const struct vgpu__launch *l = &hNode->u.kernel;
    *value_out = (cudaKernelNodeAttrValue){.cooperative = 0};
    if (attr == cudaLaunchAttributeCooperative)
        value_out->cooperative = l->cooperative;
    else if (attr == cudaLaunchAttributeClusterDimension) {
        value_out->clusterDim.x = l->cluster.x;
        value_out->clusterDim.y = l->cluster.y;
        value_out->clusterDim.z = l->cluster.z;
    } else if ((int)attr < cudaLaunchAttributeIgnore ||
               attr > cudaLaunchAttributeNvlinkUtilCentricScheduling)
        return vgpu__refuse(cudaErrorInvalidValue, call, "there is no attribute %d", (int)attr);
    return cudaSuccess;
}

cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t hDst, cudaGraphNode_t hSrc)
{
    static const char call[] = "cudaGraphKernelNodeCopyAttributes";
    cudaError_t error = check_kernel_node(call, hSrc, "none needed");
    if (error == cudaSuccess)
        error = check_kernel_node(call, hDst, "none needed");
    if (error != cudaSuccess)
        return error;
    struct vgpu__launch launch = hDst->u.kernel;
    launch.call = call;
    launch.cluster = hSrc->u.kernel.cluster;
    launch.cooperative = hSrc->u.kernel.cooperative;
    return take_launch(hDst, &launch);
}
