/* SPDX-License-Identifier: MIT
 * unsupported_calls.h: calls of the CUDA runtime that are declared and not modelled. Each returns
 * cudaErrorNotSupported (801) and prints its name on stderr once.
 *
 * X(name, (parameters)): cuda_runtime_api.h makes declarations of it, the runtime definitions.
 */
#ifndef VGPU_UNSUPPORTED_CALLS_H
#define VGPU_UNSUPPORTED_CALLS_H

/* clang-format off */
#define VGPU_UNSUPPORTED_MEMORY(X) \
    X(cudaMallocMipmappedArray, (cudaMipmappedArray_t *array, \
                                 const struct cudaChannelFormatDesc *desc, \
                                 struct cudaExtent extent, unsigned int levels, \
                                 unsigned int flags))

#define VGPU_UNSUPPORTED_STREAMS(X) \
    X(cudaGraphDebugDotPrint, (cudaGraph_t graph, const char *path, unsigned int flags))
/* clang-format on */

#define VGPU_UNSUPPORTED_CALLS(X)                                                                  \
    VGPU_UNSUPPORTED_MEMORY(X)                                                                     \
    VGPU_UNSUPPORTED_STREAMS(X)

#endif
