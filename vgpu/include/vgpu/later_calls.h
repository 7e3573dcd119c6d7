/* SPDX-License-Identifier: MIT
 * later_calls.h: calls of the CUDA runtime that are declared but not modelled yet. Each answers
 * cudaErrorNotSupported (801) and names itself on stderr once; none pretends to work.
 *
 * X(name, (parameters)): cuda_runtime_api.h makes the declarations of it, the runtime the bodies.
 */
#ifndef VGPU_LATER_CALLS_H
#define VGPU_LATER_CALLS_H

/* clang-format off */
#define VGPU_LATER_MEMORY(X) \
    X(cudaMallocMipmappedArray, (cudaMipmappedArray_t *array, \
                                 const struct cudaChannelFormatDesc *desc, \
                                 struct cudaExtent extent, unsigned int levels, \
                                 unsigned int flags))

#define VGPU_LATER_STREAMS(X) \
    X(cudaGraphDebugDotPrint, (cudaGraph_t graph, const char *path, unsigned int flags)) \
    X(cudaGraphAddMemAllocNode, (cudaGraphNode_t *node, cudaGraph_t graph, \
                                 const cudaGraphNode_t *dependencies, size_t count, \
                                 struct cudaMemAllocNodeParams *params)) \
    X(cudaGraphAddMemFreeNode, (cudaGraphNode_t *node, cudaGraph_t graph, \
                                const cudaGraphNode_t *dependencies, size_t count, \
                                void *pointer)) \
    X(cudaDeviceGraphMemTrim, (int device))

#define VGPU_LATER_DEVICES(X) \
    X(cudaOccupancyMaxActiveClusters, (int *clusters, const void *function, \
                                       const cudaLaunchConfig_t *config)) \
    X(cudaOccupancyMaxPotentialClusterSize, (int *cluster_size, const void *function, \
                                             const cudaLaunchConfig_t *config))
/* clang-format on */

#define VGPU_LATER_CALLS(X)                                                                        \
    VGPU_LATER_MEMORY(X)                                                                           \
    VGPU_LATER_STREAMS(X)                                                                          \
    VGPU_LATER_DEVICES(X)

#endif
