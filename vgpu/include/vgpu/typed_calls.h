/* SPDX-License-Identifier: MIT
 * typed_calls.h: the C++ forms of the calls: pointers to any type, variables by name, kernels by
 * name. Each passes on to the C call of the same name; none does anything of its own, except
 * cudaOccupancyMaxPotentialBlockSize, which asks for the occupancy of one block size after another.
 */
#ifndef VGPU_TYPED_CALLS_H
#define VGPU_TYPED_CALLS_H

#include "../cuda_runtime_api.h"
#include "older_calls.h"

/* ---- memory ---- */

/* Even without optimization the call is the caller's own: diagnoses name its line. */
#define VGPU_AT_CALLER inline __attribute__((always_inline))

template <class T> VGPU_AT_CALLER cudaError_t cudaMalloc(T **devPtr, size_t size)
{
    return ::cudaMalloc((void **)(void *)devPtr, size);
}

template <class T>
VGPU_AT_CALLER cudaError_t cudaMallocPitch(T **devPtr, size_t *pitch, size_t width, size_t height)
{
    return ::cudaMallocPitch((void **)(void *)devPtr, pitch, width, height);
}

inline cudaError_t cudaMallocHost(void **ptr, size_t size, unsigned int flags)
{
    return ::cudaHostAlloc(ptr, size, flags);
}

template <class T>
inline cudaError_t cudaMallocHost(T **ptr, size_t size, unsigned int flags = cudaHostAllocDefault)
{
    return ::cudaHostAlloc((void **)(void *)ptr, size, flags);
}

template <class T> inline cudaError_t cudaHostAlloc(T **ptr, size_t size, unsigned int flags)
{
    return ::cudaHostAlloc((void **)(void *)ptr, size, flags);
}

template <class T>
inline cudaError_t cudaHostGetDevicePointer(T **pDevice, void *pHost, unsigned int flags)
{
    return ::cudaHostGetDevicePointer((void **)(void *)pDevice, pHost, flags);
}

template <class T>
inline cudaError_t cudaMallocManaged(T **devPtr, size_t size,
                                     unsigned int flags = cudaMemAttachGlobal)
{
    return ::cudaMallocManaged((void **)(void *)devPtr, size, flags);
}

template <class T>
VGPU_AT_CALLER cudaError_t cudaMallocAsync(T **ptr, size_t size, cudaStream_t stream)
{
    return ::cudaMallocAsync((void **)(void *)ptr, size, stream);
}

template <class T>
VGPU_AT_CALLER cudaError_t cudaMallocFromPoolAsync(T **ptr, size_t size, cudaMemPool_t memPool,
                                                   cudaStream_t stream)
{
    return ::cudaMallocFromPoolAsync((void **)(void *)ptr, size, memPool, stream);
}

template <class T>
VGPU_AT_CALLER cudaError_t cudaMallocAsync(T **ptr, size_t size, cudaMemPool_t memPool,
                                           cudaStream_t stream)
{
    return ::cudaMallocFromPoolAsync((void **)(void *)ptr, size, memPool, stream);
}

template <class T, class U>
VGPU_AT_CALLER cudaError_t cudaMemcpyBatchAsync(T *const *dsts, U *const *srcs, const size_t *sizes,
                                                size_t count, struct cudaMemcpyAttributes *attrs,
                                                size_t *attrsIdxs, size_t numAttrs,
                                                cudaStream_t hStream)
{
    return ::cudaMemcpyBatchAsync((void *const *)dsts, (const void *const *)srcs, sizes, count,
                                  attrs, attrsIdxs, numAttrs, hStream);
}

/* One set of attributes for all copies. */
template <class T, class U>
VGPU_AT_CALLER cudaError_t cudaMemcpyBatchAsync(T *const *dsts, U *const *srcs, const size_t *sizes,
                                                size_t count, struct cudaMemcpyAttributes attr,
                                                cudaStream_t hStream)
{
    size_t first = 0;
    return ::cudaMemcpyBatchAsync((void *const *)dsts, (const void *const *)srcs, sizes, count,
                                  &attr, &first, 1, hStream);
}

/* ---- variables ---- */

template <class T>
inline cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *src, size_t count,
                                      size_t offset = 0,
                                      enum cudaMemcpyKind kind = cudaMemcpyHostToDevice)
{
    return ::cudaMemcpyToSymbol((const void *)&symbol, src, count, offset, kind);
}

template <class T>
inline cudaError_t cudaMemcpyFromSymbol(void *dst, const T &symbol, size_t count, size_t offset = 0,
                                        enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost)
{
    return ::cudaMemcpyFromSymbol(dst, (const void *)&symbol, count, offset, kind);
}

template <class T>
inline cudaError_t
cudaMemcpyToSymbolAsync(const T &symbol, const void *src, size_t count, size_t offset = 0,
                        enum cudaMemcpyKind kind = cudaMemcpyHostToDevice, cudaStream_t stream = 0)
{
    return ::cudaMemcpyToSymbolAsync((const void *)&symbol, src, count, offset, kind, stream);
}

template <class T>
inline cudaError_t cudaMemcpyFromSymbolAsync(void *dst, const T &symbol, size_t count,
                                             size_t offset = 0,
                                             enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                             cudaStream_t stream = 0)
{
    return ::cudaMemcpyFromSymbolAsync(dst, (const void *)&symbol, count, offset, kind, stream);
}

template <class T> inline cudaError_t cudaGetSymbolAddress(void **devPtr, const T &symbol)
{
    return ::cudaGetSymbolAddress(devPtr, (const void *)&symbol);
}

template <class T> inline cudaError_t cudaGetSymbolSize(size_t *size, const T &symbol)
{
    return ::cudaGetSymbolSize(size, (const void *)&symbol);
}

/* ---- events and kernels ---- */

inline cudaError_t cudaEventCreate(cudaEvent_t *event, unsigned int flags)
{
    return ::cudaEventCreateWithFlags(event, flags);
}

template <class T>
inline cudaError_t cudaLaunchKernel(T *func, dim3 gridDim, dim3 blockDim, void **args,
                                    size_t sharedMem = 0, cudaStream_t stream = 0)
{
    return ::cudaLaunchKernel((const void *)func, gridDim, blockDim, args, sharedMem, stream);
}

template <class T>
inline cudaError_t cudaLaunchCooperativeKernel(T *func, dim3 gridDim, dim3 blockDim, void **args,
                                               size_t sharedMem = 0, cudaStream_t stream = 0)
{
    return ::cudaLaunchCooperativeKernel((const void *)func, gridDim, blockDim, args, sharedMem,
                                         stream);
}

template <class... P, class... A>
inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(P...),
                                      A &&...arguments)
{
    return [&](P... converted) {
        void *list[] = {(void *)__builtin_addressof(converted)..., (void *)0};
        return ::cudaLaunchKernelExC(config, (const void *)kernel, list);
    }(static_cast<A &&>(arguments)...);
}

inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t *pGraphExec, cudaGraph_t graph,
                                        cudaGraphNode_t *, char *, size_t)
{
    return ::cudaGraphInstantiate(pGraphExec, graph, 0);
}

inline cudaError_t cudaGraphExecUpdate(cudaGraphExec_t hGraphExec, cudaGraph_t hGraph,
                                       cudaGraphNode_t *hErrorNode_out,
                                       enum cudaGraphExecUpdateResult *updateResult_out)
{
    cudaGraphExecUpdateResultInfo info;
    cudaError_t error = ::cudaGraphExecUpdate(hGraphExec, hGraph, &info);
    if (hErrorNode_out)
        *hErrorNode_out = info.errorNode;
    if (updateResult_out)
        *updateResult_out = info.result;
    return error;
}

template <class T>
inline cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, T *func, int blocks,
                                                             int block_size)
{
    return ::cudaOccupancyAvailableDynamicSMemPerBlock(bytes, (const void *)func, blocks,
                                                       block_size);
}

/* The object is deleted with its last reference. */
template <class T>
inline cudaError_t cudaUserObjectCreate(cudaUserObject_t *object_out, T *objectToWrap,
                                        unsigned int initialRefcount, unsigned int flags)
{
    return ::cudaUserObjectCreate(
        object_out, objectToWrap, [](void *object) { delete static_cast<T *>(object); },
        initialRefcount, flags);
}

template <class T>
inline cudaError_t cudaUserObjectCreate(cudaUserObject_t *object_out, T *objectToWrap,
                                        unsigned int initialRefcount, cudaUserObjectFlags flags)
{
    return cudaUserObjectCreate(object_out, objectToWrap, initialRefcount, (unsigned int)flags);
}

template <class T>
inline cudaError_t cudaOccupancyMaxPotentialClusterSize(int *clusterSize, T *func,
                                                        const cudaLaunchConfig_t *config)
{
    return ::cudaOccupancyMaxPotentialClusterSize(clusterSize, (const void *)func, config);
}

template <class T>
inline cudaError_t cudaOccupancyMaxActiveClusters(int *numClusters, T *func,
                                                  const cudaLaunchConfig_t *config)
{
    return ::cudaOccupancyMaxActiveClusters(numClusters, (const void *)func, config);
}

template <class T>
inline cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attr, T *entry)
{
    return ::cudaFuncGetAttributes(attr, (const void *)entry);
}

template <class T>
inline cudaError_t cudaFuncSetAttribute(T *func, enum cudaFuncAttribute attr, int value)
{
    return ::cudaFuncSetAttribute((const void *)func, attr, value);
}

template <class T>
inline cudaError_t cudaFuncSetCacheConfig(T *func, enum cudaFuncCache cacheConfig)
{
    return ::cudaFuncSetCacheConfig((const void *)func, cacheConfig);
}

template <class T>
inline cudaError_t cudaFuncSetSharedMemConfig(T *func, enum cudaSharedMemConfig config)
{
    return ::cudaFuncSetSharedMemConfig((const void *)func, config);
}

template <class T> inline cudaError_t cudaGetFuncBySymbol(cudaFunction_t *function, T *symbol)
{
    return ::cudaGetFuncBySymbol(function, (const void *)symbol);
}

template <class T> inline cudaError_t cudaGetKernel(cudaKernel_t *kernel, T *entry)
{
    return ::cudaGetKernel(kernel, (const void *)entry);
}

template <class T>
inline cudaError_t cudaLibraryGetGlobal(T **ptr, size_t *bytes, cudaLibrary_t library,
                                        const char *name)
{
    return ::cudaLibraryGetGlobal((void **)(void *)ptr, bytes, library, name);
}

template <class T>
inline cudaError_t cudaLibraryGetManaged(T **ptr, size_t *bytes, cudaLibrary_t library,
                                         const char *name)
{
    return ::cudaLibraryGetManaged((void **)(void *)ptr, bytes, library, name);
}

template <class T>
inline cudaError_t cudaLibraryGetUnifiedFunction(T **function, cudaLibrary_t library,
                                                 const char *symbol)
{
    return ::cudaLibraryGetUnifiedFunction((void **)(void *)function, library, symbol);
}

template <class T> inline cudaError_t cudaFuncGetName(const char **name, T *func)
{
    return ::cudaFuncGetName(name, (const void *)func);
}

template <class T>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, T func,
                                                                 int blockSize,
                                                                 size_t dynamicSMemSize)
{
    return ::cudaOccupancyMaxActiveBlocksPerMultiprocessor(numBlocks, (const void *)func, blockSize,
                                                           dynamicSMemSize);
}

template <class T>
inline cudaError_t
cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, T func, int blockSize,
                                                       size_t dynamicSMemSize, unsigned int flags)
{
    return ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        numBlocks, (const void *)func, blockSize, dynamicSMemSize, flags);
}

/* The block size that keeps most threads on an SM (the largest of several), and the number of such
 * blocks that the device holds at once. */
template <class T>
inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int *minGridSize, int *blockSize, T func,
                                                      size_t dynamicSMemSize = 0,
                                                      int blockSizeLimit = 0)
{
    int device, sms, best_threads = 0;
    struct cudaFuncAttributes attr;
    cudaError_t error = ::cudaFuncGetAttributes(&attr, (const void *)func);
    if (error == cudaSuccess)
        error = ::cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = ::cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
    if (error != cudaSuccess)
        return error;
    int limit = attr.maxThreadsPerBlock;
    if (blockSizeLimit > 0 && blockSizeLimit < limit)
        limit = blockSizeLimit;
    *minGridSize = *blockSize = 0;
    for (int size = limit; size > 0; size = (size - 1) / 32 * 32) {
        int blocks;
        error = ::cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void *)func, size,
                                                                dynamicSMemSize);
        if (error != cudaSuccess)
            return error;
        if (blocks * size > best_threads) {
            best_threads = blocks * size;
            *blockSize = size;
            *minGridSize = blocks * sms;
        }
    }
    return cudaSuccess;
}

#endif
