/* SPDX-License-Identifier: MIT
 * per_thread.c: the calls of programs compiled for a default stream per thread (vgpu/per_thread.h).
 * Each sets `own_default_stream` around the ordinary call, so that stream 0 means
 * cudaStreamPerThread.
 */
#include "runtime.h"

#define FORM(name, suffix, parameters, arguments)                                                  \
    cudaError_t name##suffix parameters;                                                           \
    cudaError_t name##suffix parameters                                                            \
    {                                                                                              \
        vgpu__self.own_default_stream = true;                                                      \
        cudaError_t error = name arguments;                                                        \
        vgpu__self.own_default_stream = false;                                                     \
        return error;                                                                              \
    }

FORM(cudaMemcpy, _ptds, (void *dst, const void *src, size_t count, enum cudaMemcpyKind kind),
     (dst, src, count, kind))
FORM(cudaMemcpyToSymbol, _ptds,
     (const void *symbol, const void *src, size_t count, size_t offset, enum cudaMemcpyKind kind),
     (symbol, src, count, offset, kind))
FORM(cudaMemcpyFromSymbol, _ptds,
     (void *dst, const void *symbol, size_t count, size_t offset, enum cudaMemcpyKind kind),
     (dst, symbol, count, offset, kind))
FORM(cudaMemcpy2D, _ptds,
     (void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
      enum cudaMemcpyKind kind),
     (dst, dpitch, src, spitch, width, height, kind))
FORM(cudaMemcpy3D, _ptds, (const struct cudaMemcpy3DParms *copy), (copy))
FORM(cudaMemcpy2DToArray, _ptds,
     (cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src, size_t spitch, size_t width,
      size_t height, enum cudaMemcpyKind kind),
     (dst, wOffset, hOffset, src, spitch, width, height, kind))
FORM(cudaMemcpy2DFromArray, _ptds,
     (void *dst, size_t dpitch, cudaArray_const_t src, size_t wOffset, size_t hOffset, size_t width,
      size_t height, enum cudaMemcpyKind kind),
     (dst, dpitch, src, wOffset, hOffset, width, height, kind))
FORM(cudaMemcpy2DArrayToArray, _ptds,
     (cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst, cudaArray_const_t src,
      size_t wOffsetSrc, size_t hOffsetSrc, size_t width, size_t height, enum cudaMemcpyKind kind),
     (dst, wOffsetDst, hOffsetDst, src, wOffsetSrc, hOffsetSrc, width, height, kind))
FORM(cudaMemcpyToArray, _ptds,
     (cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src, size_t count,
      enum cudaMemcpyKind kind),
     (dst, wOffset, hOffset, src, count, kind))
FORM(cudaMemcpyFromArray, _ptds,
     (void *dst, cudaArray_const_t src, size_t wOffset, size_t hOffset, size_t count,
      enum cudaMemcpyKind kind),
     (dst, src, wOffset, hOffset, count, kind))
FORM(cudaMemcpy2DToArrayAsync, _ptsz,
     (cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src, size_t spitch, size_t width,
      size_t height, enum cudaMemcpyKind kind, cudaStream_t stream),
     (dst, wOffset, hOffset, src, spitch, width, height, kind, stream))
FORM(cudaMemcpy2DFromArrayAsync, _ptsz,
     (void *dst, size_t dpitch, cudaArray_const_t src, size_t wOffset, size_t hOffset, size_t width,
      size_t height, enum cudaMemcpyKind kind, cudaStream_t stream),
     (dst, dpitch, src, wOffset, hOffset, width, height, kind, stream))
FORM(cudaMemcpy3DPeer, _ptds, (const struct cudaMemcpy3DPeerParms *copy), (copy))
FORM(cudaMemset, _ptds, (void *devPtr, int value, size_t count), (devPtr, value, count))
FORM(cudaMemset2D, _ptds, (void *devPtr, size_t pitch, int value, size_t width, size_t height),
     (devPtr, pitch, value, width, height))
FORM(cudaMemset3D, _ptds, (struct cudaPitchedPtr ptr, int value, struct cudaExtent extent),
     (ptr, value, extent))
FORM(cudaGraphInstantiateWithParams, _ptsz,
     (cudaGraphExec_t * exec, cudaGraph_t graph, cudaGraphInstantiateParams *params),
     (exec, graph, params))
FORM(cudaGraphUpload, _ptsz, (cudaGraphExec_t graphExec, cudaStream_t stream), (graphExec, stream))
FORM(cudaGraphLaunch, _ptsz, (cudaGraphExec_t graphExec, cudaStream_t stream), (graphExec, stream))
FORM(cudaStreamBeginCapture, _ptsz, (cudaStream_t stream, enum cudaStreamCaptureMode mode),
     (stream, mode))
FORM(cudaStreamBeginCaptureToGraph, _ptsz,
     (cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *deps,
      const cudaGraphEdgeData *data, size_t count, enum cudaStreamCaptureMode mode),
     (stream, graph, deps, data, count, mode))
FORM(cudaStreamUpdateCaptureDependencies, _ptsz,
     (cudaStream_t stream, cudaGraphNode_t *deps, const cudaGraphEdgeData *data, size_t count,
      unsigned int flags),
     (stream, deps, data, count, flags))
FORM(cudaStreamEndCapture, _ptsz, (cudaStream_t stream, cudaGraph_t *pGraph), (stream, pGraph))
FORM(cudaStreamGetCaptureInfo, _ptsz,
     (cudaStream_t stream, enum cudaStreamCaptureStatus *captureStatus_out,
      unsigned long long *id_out, cudaGraph_t *graph_out, const cudaGraphNode_t **dependencies_out,
      const cudaGraphEdgeData **edgeData_out, size_t *numDependencies_out),
     (stream, captureStatus_out, id_out, graph_out, dependencies_out, edgeData_out,
      numDependencies_out))
FORM(cudaStreamIsCapturing, _ptsz,
     (cudaStream_t stream, enum cudaStreamCaptureStatus *pCaptureStatus), (stream, pCaptureStatus))
FORM(cudaMemcpyAsync, _ptsz,
     (void *dst, const void *src, size_t count, enum cudaMemcpyKind kind, cudaStream_t stream),
     (dst, src, count, kind, stream))
FORM(cudaMemcpyToSymbolAsync, _ptsz,
     (const void *symbol, const void *src, size_t count, size_t offset, enum cudaMemcpyKind kind,
      cudaStream_t stream),
     (symbol, src, count, offset, kind, stream))
FORM(cudaMemcpyFromSymbolAsync, _ptsz,
     (void *dst, const void *symbol, size_t count, size_t offset, enum cudaMemcpyKind kind,
      cudaStream_t stream),
     (dst, symbol, count, offset, kind, stream))
FORM(cudaMemcpy2DAsync, _ptsz,
     (void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
      enum cudaMemcpyKind kind, cudaStream_t stream),
     (dst, dpitch, src, spitch, width, height, kind, stream))
FORM(cudaMemcpy3DAsync, _ptsz, (const struct cudaMemcpy3DParms *copy, cudaStream_t stream),
     (copy, stream))
FORM(cudaMemcpy3DPeerAsync, _ptsz, (const struct cudaMemcpy3DPeerParms *copy, cudaStream_t stream),
     (copy, stream))
FORM(cudaMemcpyBatchAsync, _ptsz,
     (void *const *dsts, const void *const *srcs, const size_t *sizes, size_t count,
      struct cudaMemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs, cudaStream_t stream),
     (dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, stream))
FORM(cudaMemsetAsync, _ptsz, (void *devPtr, int value, size_t count, cudaStream_t stream),
     (devPtr, value, count, stream))
FORM(cudaMemset2DAsync, _ptsz,
     (void *devPtr, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream),
     (devPtr, pitch, value, width, height, stream))
FORM(cudaMemset3DAsync, _ptsz,
     (struct cudaPitchedPtr ptr, int value, struct cudaExtent extent, cudaStream_t stream),
     (ptr, value, extent, stream))
FORM(cudaStreamQuery, _ptsz, (cudaStream_t stream), (stream))
FORM(cudaStreamGetFlags, _ptsz, (cudaStream_t hStream, unsigned int *flags), (hStream, flags))
FORM(cudaStreamGetId, _ptsz, (cudaStream_t hStream, unsigned long long *streamId),
     (hStream, streamId))
FORM(cudaStreamGetPriority, _ptsz, (cudaStream_t hStream, int *priority), (hStream, priority))
FORM(cudaStreamGetDevice, _ptsz, (cudaStream_t hStream, int *device), (hStream, device))
FORM(cudaStreamWaitEvent, _ptsz, (cudaStream_t stream, cudaEvent_t event, unsigned int flags),
     (stream, event, flags))
FORM(cudaStreamAddCallback, _ptsz,
     (cudaStream_t stream, cudaStreamCallback_t callback, void *userData, unsigned int flags),
     (stream, callback, userData, flags))
FORM(cudaStreamAttachMemAsync, _ptsz,
     (cudaStream_t stream, void *devPtr, size_t length, unsigned int flags),
     (stream, devPtr, length, flags))
FORM(cudaStreamSynchronize, _ptsz, (cudaStream_t stream), (stream))
FORM(cudaStreamCopyAttributes, _ptsz, (cudaStream_t dst, cudaStream_t src), (dst, src))
FORM(cudaStreamGetAttribute, _ptsz,
     (cudaStream_t hStream, cudaLaunchAttributeID attr, cudaLaunchAttributeValue *value_out),
     (hStream, attr, value_out))
FORM(cudaStreamSetAttribute, _ptsz,
     (cudaStream_t hStream, cudaLaunchAttributeID attr, const cudaLaunchAttributeValue *value),
     (hStream, attr, value))
FORM(cudaEventRecord, _ptsz, (cudaEvent_t event, cudaStream_t stream), (event, stream))
FORM(cudaEventRecordWithFlags, _ptsz, (cudaEvent_t event, cudaStream_t stream, unsigned int flags),
     (event, stream, flags))
FORM(cudaLaunchKernel, _ptsz,
     (const void *func, dim3 gridDim, dim3 blockDim, void **args, size_t sharedMem,
      cudaStream_t stream),
     (func, gridDim, blockDim, args, sharedMem, stream))
FORM(cudaLaunchKernelExC, _ptsz,
     (const cudaLaunchConfig_t *config, const void *function, void **args),
     (config, function, args))
FORM(cudaLaunchHostFunc, _ptsz, (cudaStream_t stream, cudaHostFn_t fn, void *userData),
     (stream, fn, userData))
FORM(cudaLaunchCooperativeKernel, _ptsz,
     (const void *func, dim3 gridDim, dim3 blockDim, void **args, size_t sharedMem,
      cudaStream_t stream),
     (func, gridDim, blockDim, args, sharedMem, stream))
FORM(cudaMemPrefetchAsync, _ptsz,
     (const void *devPtr, size_t count, struct cudaMemLocation location, unsigned int flags,
      cudaStream_t stream),
     (devPtr, count, location, flags, stream))
FORM(cudaMallocAsync, _ptsz, (void **devPtr, size_t size, cudaStream_t hStream),
     (devPtr, size, hStream))
FORM(cudaFreeAsync, _ptsz, (void *devPtr, cudaStream_t hStream), (devPtr, hStream))
FORM(cudaMallocFromPoolAsync, _ptsz,
     (void **ptr, size_t size, cudaMemPool_t memPool, cudaStream_t stream),
     (ptr, size, memPool, stream))
