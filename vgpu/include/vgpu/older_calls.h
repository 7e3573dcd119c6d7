/* SPDX-License-Identifier: MIT
 * older_calls.h: calls as CUDA 12 spells them, for C++: with the number of a device where CUDA 13
 * wants a location, without data of edges. Each passes on to CUDA 13's form and is warned about;
 * programs that are compiled by CUDA 12's nvcc are right to use it.
 */
#ifndef VGPU_OLDER_CALLS_H
#define VGPU_OLDER_CALLS_H

#include "../cuda_runtime_api.h"

inline struct cudaMemLocation vgpu_location(int device)
{
    struct cudaMemLocation location;

    location.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
    location.id = device == cudaCpuDeviceId ? 0 : device;
    return location;
}

VGPU_UNTIL_12("cudaMemPrefetchAsync(pointer, bytes, cudaMemLocation, 0, stream)")
inline cudaError_t cudaMemPrefetchAsync(const void *devPtr, size_t count, int dstDevice,
                                        cudaStream_t stream = 0)
{
    return ::cudaMemPrefetchAsync(devPtr, count, vgpu_location(dstDevice), 0u, stream);
}

VGPU_UNTIL_12("cudaMemAdvise(pointer, bytes, advice, cudaMemLocation)")
inline cudaError_t cudaMemAdvise(const void *devPtr, size_t count, enum cudaMemoryAdvise advice,
                                 int device)
{
    return ::cudaMemAdvise(devPtr, count, advice, vgpu_location(device));
}

VGPU_UNTIL_12("cudaMemPrefetchAsync")
inline cudaError_t cudaMemPrefetchAsync_v2(const void *devPtr, size_t count,
                                           struct cudaMemLocation location, unsigned int flags,
                                           cudaStream_t stream = 0)
{
    return ::cudaMemPrefetchAsync(devPtr, count, location, flags, stream);
}

VGPU_UNTIL_12("cudaMemAdvise")
inline cudaError_t cudaMemAdvise_v2(const void *devPtr, size_t count, enum cudaMemoryAdvise advice,
                                    struct cudaMemLocation location)
{
    return ::cudaMemAdvise(devPtr, count, advice, location);
}

/* ---- graphs: CUDA 13 has an array of cudaGraphEdgeData in front of the number ---- */

VGPU_UNTIL_12("cudaGraphAddDependencies(graph, from, to, edge data, number)")
inline cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                            const cudaGraphNode_t *to, size_t numDependencies)
{
    return ::cudaGraphAddDependencies(graph, from, to, nullptr, numDependencies);
}

VGPU_UNTIL_12("cudaGraphRemoveDependencies(graph, from, to, edge data, number)")
inline cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                               const cudaGraphNode_t *to, size_t numDependencies)
{
    return ::cudaGraphRemoveDependencies(graph, from, to, nullptr, numDependencies);
}

VGPU_UNTIL_12("cudaGraphGetEdges(graph, from, to, edge data, number)")
inline cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                                     size_t *numEdges)
{
    return ::cudaGraphGetEdges(graph, from, to, nullptr, numEdges);
}

VGPU_UNTIL_12("cudaGraphNodeGetDependencies(node, dependencies, edge data, number)")
inline cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node,
                                                cudaGraphNode_t *pDependencies,
                                                size_t *pNumDependencies)
{
    return ::cudaGraphNodeGetDependencies(node, pDependencies, nullptr, pNumDependencies);
}

VGPU_UNTIL_12("cudaStreamGetCaptureInfo with edge data in front of the number")
inline cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream,
                                            enum cudaStreamCaptureStatus *captureStatus_out,
                                            unsigned long long *id_out, cudaGraph_t *graph_out,
                                            const cudaGraphNode_t **dependencies_out,
                                            size_t *numDependencies_out)
{
    return ::cudaStreamGetCaptureInfo(stream, captureStatus_out, id_out, graph_out,
                                      dependencies_out, nullptr, numDependencies_out);
}

#endif
