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
    X(cudaMalloc3D, (struct cudaPitchedPtr *ptr, struct cudaExtent extent)) \
    X(cudaMemset3D, (struct cudaPitchedPtr ptr, int value, struct cudaExtent extent)) \
    X(cudaMemset3DAsync, (struct cudaPitchedPtr ptr, int value, struct cudaExtent extent, \
                          cudaStream_t stream VGPU_DEFAULT(0))) \
    X(cudaMemcpy3D, (const struct cudaMemcpy3DParms *copy)) \
    X(cudaMemcpy3DAsync, (const struct cudaMemcpy3DParms *copy, \
                          cudaStream_t stream VGPU_DEFAULT(0))) \
    X(cudaMemcpy3DPeer, (const struct cudaMemcpy3DPeerParms *copy)) \
    X(cudaMemcpy3DPeerAsync, (const struct cudaMemcpy3DPeerParms *copy, \
                              cudaStream_t stream VGPU_DEFAULT(0)))

#define VGPU_LATER_STREAMS(X) \
    X(cudaGraphExecUpdate, (cudaGraphExec_t exec, cudaGraph_t graph, \
                            cudaGraphExecUpdateResultInfo *result)) \
    X(cudaGraphDebugDotPrint, (cudaGraph_t graph, const char *path, unsigned int flags))

#define VGPU_LATER_DEVICES(X) \
    X(cudaChooseDevice, (int *device, const struct cudaDeviceProp *prop)) \
    X(cudaSetValidDevices, (int *devices, int count)) \
    X(cudaCtxResetPersistingL2Cache, (void)) \
    X(cudaLaunchKernelExC, (const cudaLaunchConfig_t *config, const void *function, \
                            void **args)) \
    X(cudaFuncGetParamInfo, (const void *function, size_t index, size_t *offset, \
                             size_t *bytes)) \
    X(cudaOccupancyAvailableDynamicSMemPerBlock, (size_t *bytes, const void *function, \
                                                  int blocks, int block_size)) \
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
