/* SPDX-License-Identifier: MIT
 * driver_calls.h: the calls of the driver API. X(name, (parameters)): cuda.h makes the declarations
 * of it, the runtime the table behind cuGetProcAddress. Signatures are CUDA 13.0's; what 13.0 gives
 * a version (cuMemAlloc_v2) is called by its plain name here.
 *
 * VGPU_DRIVER_REFUSED has what answers CUDA_ERROR_NOT_SUPPORTED (801) by name.
 */
#ifndef VGPU_DRIVER_CALLS_H
#define VGPU_DRIVER_CALLS_H

/* clang-format off */
#define VGPU_DRIVER_DEVICES(X) \
    X(cuInit, (unsigned int flags)) \
    X(cuDriverGetVersion, (int *version)) \
    X(cuGetErrorName, (CUresult error, const char **name)) \
    X(cuGetErrorString, (CUresult error, const char **text)) \
    X(cuGetProcAddress, (const char *symbol, void **function, int version, cuuint64_t flags, \
                         CUdriverProcAddressQueryResult *status)) \
    X(cuDeviceGet, (CUdevice *device, int ordinal)) \
    X(cuDeviceGetCount, (int *count)) \
    X(cuDeviceGetName, (char *name, int room, CUdevice device)) \
    X(cuDeviceGetUuid, (CUuuid *uuid, CUdevice device)) \
    X(cuDeviceTotalMem, (size_t *bytes, CUdevice device)) \
    X(cuDeviceGetAttribute, (int *value, CUdevice_attribute attribute, CUdevice device)) \
    X(cuDeviceComputeCapability, (int *major, int *minor, CUdevice device)) \
    X(cuDeviceCanAccessPeer, (int *can, CUdevice device, CUdevice peer)) \
    X(cuDeviceGetP2PAttribute, (int *value, CUdevice_P2PAttribute attribute, CUdevice from, \
                                CUdevice to)) \
    X(cuDeviceGetPCIBusId, (char *text, int room, CUdevice device)) \
    X(cuDeviceGetByPCIBusId, (CUdevice *device, const char *text))

#define VGPU_DRIVER_CONTEXTS(X) \
    X(cuDevicePrimaryCtxRetain, (CUcontext *context, CUdevice device)) \
    X(cuDevicePrimaryCtxRelease, (CUdevice device)) \
    X(cuDevicePrimaryCtxReset, (CUdevice device)) \
    X(cuDevicePrimaryCtxSetFlags, (CUdevice device, unsigned int flags)) \
    X(cuDevicePrimaryCtxGetState, (CUdevice device, unsigned int *flags, int *active)) \
    X(cuCtxCreate, (CUcontext *context, CUctxCreateParams *params, unsigned int flags, \
                    CUdevice device)) \
    X(cuCtxDestroy, (CUcontext context)) \
    X(cuCtxSetCurrent, (CUcontext context)) \
    X(cuCtxGetCurrent, (CUcontext *context)) \
    X(cuCtxPushCurrent, (CUcontext context)) \
    X(cuCtxPopCurrent, (CUcontext *context)) \
    X(cuCtxGetDevice, (CUdevice *device)) \
    X(cuCtxGetFlags, (unsigned int *flags)) \
    X(cuCtxGetApiVersion, (CUcontext context, unsigned int *version)) \
    X(cuCtxGetStreamPriorityRange, (int *least, int *greatest)) \
    X(cuCtxSynchronize, (void)) \
    X(cuCtxEnablePeerAccess, (CUcontext peer, unsigned int flags)) \
    X(cuCtxDisablePeerAccess, (CUcontext peer))

#define VGPU_DRIVER_PROCESSES(X) \
    X(cuIpcGetMemHandle, (CUipcMemHandle *handle, CUdeviceptr ptr)) \
    X(cuIpcOpenMemHandle, (CUdeviceptr *ptr, CUipcMemHandle handle, unsigned int flags)) \
    X(cuIpcCloseMemHandle, (CUdeviceptr ptr)) \
    X(cuIpcGetEventHandle, (CUipcEventHandle *handle, CUevent event)) \
    X(cuIpcOpenEventHandle, (CUevent *event, CUipcEventHandle handle))

#define VGPU_DRIVER_MEMORY(X) \
    X(cuMemAlloc, (CUdeviceptr *ptr, size_t bytes)) \
    X(cuMemFree, (CUdeviceptr ptr)) \
    X(cuMemGetInfo, (size_t *free, size_t *total)) \
    X(cuMemGetAddressRange, (CUdeviceptr *base, size_t *bytes, CUdeviceptr ptr)) \
    X(cuMemAllocHost, (void **ptr, size_t bytes)) \
    X(cuMemFreeHost, (void *ptr)) \
    X(cuMemHostAlloc, (void **ptr, size_t bytes, unsigned int flags)) \
    X(cuMemHostGetDevicePointer, (CUdeviceptr *device, void *host, unsigned int flags)) \
    X(cuMemHostGetFlags, (unsigned int *flags, void *ptr)) \
    X(cuPointerGetAttribute, (void *data, CUpointer_attribute attribute, CUdeviceptr ptr)) \
    X(cuPointerGetAttributes, (unsigned int count, CUpointer_attribute *attributes, void **data, \
                               CUdeviceptr ptr)) \
    X(cuMemcpy, (CUdeviceptr dst, CUdeviceptr src, size_t bytes)) \
    X(cuMemcpyAsync, (CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream)) \
    X(cuMemcpyHtoD, (CUdeviceptr dst, const void *src, size_t bytes)) \
    X(cuMemcpyHtoDAsync, (CUdeviceptr dst, const void *src, size_t bytes, CUstream stream)) \
    X(cuMemcpyDtoH, (void *dst, CUdeviceptr src, size_t bytes)) \
    X(cuMemcpyDtoHAsync, (void *dst, CUdeviceptr src, size_t bytes, CUstream stream)) \
    X(cuMemcpyDtoD, (CUdeviceptr dst, CUdeviceptr src, size_t bytes)) \
    X(cuMemcpyDtoDAsync, (CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream)) \
    X(cuMemcpyPeer, (CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from, \
                     size_t bytes)) \
    X(cuMemcpyPeerAsync, (CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from, \
                          size_t bytes, CUstream stream)) \
    X(cuMemsetD8, (CUdeviceptr dst, unsigned char value, size_t count)) \
    X(cuMemsetD16, (CUdeviceptr dst, unsigned short value, size_t count)) \
    X(cuMemsetD32, (CUdeviceptr dst, unsigned int value, size_t count)) \
    X(cuMemsetD8Async, (CUdeviceptr dst, unsigned char value, size_t count, CUstream stream)) \
    X(cuMemsetD16Async, (CUdeviceptr dst, unsigned short value, size_t count, CUstream stream)) \
    X(cuMemsetD32Async, (CUdeviceptr dst, unsigned int value, size_t count, CUstream stream))

#define VGPU_DRIVER_VMM(X) \
    X(cuMemGetAllocationGranularity, (size_t *bytes, const CUmemAllocationProp *prop, \
                                      CUmemAllocationGranularity_flags option)) \
    X(cuMemCreate, (CUmemGenericAllocationHandle *handle, size_t bytes, \
                    const CUmemAllocationProp *prop, unsigned long long flags)) \
    X(cuMemRelease, (CUmemGenericAllocationHandle handle)) \
    X(cuMemGetAllocationPropertiesFromHandle, (CUmemAllocationProp *prop, \
                                               CUmemGenericAllocationHandle handle)) \
    X(cuMemRetainAllocationHandle, (CUmemGenericAllocationHandle *handle, void *address)) \
    X(cuMemExportToShareableHandle, (void *out, CUmemGenericAllocationHandle handle, \
                                     CUmemAllocationHandleType type, unsigned long long flags)) \
    X(cuMemImportFromShareableHandle, (CUmemGenericAllocationHandle *handle, void *descriptor, \
                                       CUmemAllocationHandleType type)) \
    X(cuMemAddressReserve, (CUdeviceptr *ptr, size_t bytes, size_t alignment, CUdeviceptr hint, \
                            unsigned long long flags)) \
    X(cuMemAddressFree, (CUdeviceptr ptr, size_t bytes)) \
    X(cuMemMap, (CUdeviceptr ptr, size_t bytes, size_t offset, \
                 CUmemGenericAllocationHandle handle, unsigned long long flags)) \
    X(cuMemUnmap, (CUdeviceptr ptr, size_t bytes)) \
    X(cuMemSetAccess, (CUdeviceptr ptr, size_t bytes, const CUmemAccessDesc *list, \
                       size_t count)) \
    X(cuMemGetAccess, (unsigned long long *flags, const CUmemLocation *location, \
                       CUdeviceptr ptr))

#define VGPU_DRIVER_POOLS(X) \
    X(cuMemAllocAsync, (CUdeviceptr *ptr, size_t bytes, CUstream stream)) \
    X(cuMemAllocFromPoolAsync, (CUdeviceptr *ptr, size_t bytes, CUmemoryPool pool, \
                                CUstream stream)) \
    X(cuMemFreeAsync, (CUdeviceptr ptr, CUstream stream)) \
    X(cuMemPoolCreate, (CUmemoryPool *pool, const CUmemPoolProps *props)) \
    X(cuMemPoolDestroy, (CUmemoryPool pool)) \
    X(cuMemPoolTrimTo, (CUmemoryPool pool, size_t keep)) \
    X(cuMemPoolSetAttribute, (CUmemoryPool pool, CUmemPool_attribute attribute, void *value)) \
    X(cuMemPoolGetAttribute, (CUmemoryPool pool, CUmemPool_attribute attribute, void *value)) \
    X(cuMemPoolSetAccess, (CUmemoryPool pool, const CUmemAccessDesc *list, size_t count)) \
    X(cuMemPoolGetAccess, (CUmemAccess_flags *flags, CUmemoryPool pool, CUmemLocation *location)) \
    X(cuDeviceGetDefaultMemPool, (CUmemoryPool *pool, CUdevice device)) \
    X(cuDeviceGetMemPool, (CUmemoryPool *pool, CUdevice device)) \
    X(cuDeviceSetMemPool, (CUdevice device, CUmemoryPool pool)) \
    X(cuMemPoolExportToShareableHandle, (void *handle, CUmemoryPool pool, \
                                         CUmemAllocationHandleType type, \
                                         unsigned long long flags)) \
    X(cuMemPoolImportFromShareableHandle, (CUmemoryPool *pool, void *handle, \
                                           CUmemAllocationHandleType type, \
                                           unsigned long long flags)) \
    X(cuMemPoolExportPointer, (CUmemPoolPtrExportData *data, CUdeviceptr ptr)) \
    X(cuMemPoolImportPointer, (CUdeviceptr *ptr, CUmemoryPool pool, CUmemPoolPtrExportData *data))

#define VGPU_DRIVER_WORK(X) \
    X(cuStreamCreate, (CUstream *stream, unsigned int flags)) \
    X(cuStreamCreateWithPriority, (CUstream *stream, unsigned int flags, int priority)) \
    X(cuStreamDestroy, (CUstream stream)) \
    X(cuStreamSynchronize, (CUstream stream)) \
    X(cuStreamQuery, (CUstream stream)) \
    X(cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned int flags)) \
    X(cuStreamGetFlags, (CUstream stream, unsigned int *flags)) \
    X(cuStreamGetPriority, (CUstream stream, int *priority)) \
    X(cuStreamGetId, (CUstream stream, unsigned long long *id)) \
    X(cuStreamGetDevice, (CUstream stream, CUdevice *device)) \
    X(cuStreamGetCtx, (CUstream stream, CUcontext *context)) \
    X(cuEventCreate, (CUevent *event, unsigned int flags)) \
    X(cuEventDestroy, (CUevent event)) \
    X(cuEventRecord, (CUevent event, CUstream stream)) \
    X(cuEventRecordWithFlags, (CUevent event, CUstream stream, unsigned int flags)) \
    X(cuEventSynchronize, (CUevent event)) \
    X(cuEventQuery, (CUevent event)) \
    X(cuEventElapsedTime, (float *ms, CUevent start, CUevent stop)) \
    X(cuKernelGetFunction, (CUfunction *function, CUkernel kernel)) \
    X(cuKernelGetName, (const char **name, CUkernel kernel)) \
    X(cuKernelGetAttribute, (int *value, CUfunction_attribute attribute, CUkernel kernel, \
                             CUdevice device)) \
    X(cuKernelSetAttribute, (CUfunction_attribute attribute, int value, CUkernel kernel, \
                             CUdevice device)) \
    X(cuKernelGetParamInfo, (CUkernel kernel, size_t index, size_t *offset, size_t *bytes)) \
    X(cuFuncGetParamInfo, (CUfunction function, size_t index, size_t *offset, size_t *bytes)) \
    X(cuFuncGetName, (const char **name, CUfunction function)) \
    X(cuFuncGetAttribute, (int *value, CUfunction_attribute attribute, CUfunction function)) \
    X(cuFuncSetAttribute, (CUfunction function, CUfunction_attribute attribute, int value)) \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessor, (int *blocks, CUfunction function, int threads, \
                                                    size_t shared)) \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, (int *blocks, CUfunction function, \
                                                             int threads, size_t shared, \
                                                             unsigned int flags)) \
    X(cuOccupancyMaxPotentialBlockSize, (int *blocks, int *threads, CUfunction function, \
                                         CUoccupancyB2DSize sharedOf, size_t shared, int limit)) \
    X(cuOccupancyMaxPotentialBlockSizeWithFlags, (int *blocks, int *threads, CUfunction function, \
                                                  CUoccupancyB2DSize sharedOf, size_t shared, \
                                                  int limit, unsigned int flags)) \
    X(cuOccupancyAvailableDynamicSMemPerBlock, (size_t *bytes, CUfunction function, int blocks, \
                                                int threads)) \
    X(cuOccupancyMaxPotentialClusterSize, (int *size, CUfunction function, \
                                           const CUlaunchConfig *config)) \
    X(cuOccupancyMaxActiveClusters, (int *clusters, CUfunction function, \
                                     const CUlaunchConfig *config)) \
    X(cuLaunchKernelEx, (const CUlaunchConfig *config, CUfunction function, void **args, \
                         void **extra)) \
    X(cuLaunchKernel, (CUfunction function, unsigned int gridX, unsigned int gridY, \
                       unsigned int gridZ, unsigned int blockX, unsigned int blockY, \
                       unsigned int blockZ, unsigned int shared, CUstream stream, void **args, \
                       void **extra)) \
    X(cuLaunchHostFunc, (CUstream stream, CUhostFn function, void *data)) \
    X(cuStreamAddCallback, (CUstream stream, CUstreamCallback callback, void *data, \
                            unsigned int flags)) \
    X(cuLaunchCooperativeKernel, (CUfunction function, unsigned int gridX, unsigned int gridY, \
                                  unsigned int gridZ, unsigned int blockX, unsigned int blockY, \
                                  unsigned int blockZ, unsigned int shared, CUstream stream, \
                                  void **args))

#define VGPU_DRIVER_MODULES(X) \
    X(cuModuleLoad, (CUmodule *module, const char *path)) \
    X(cuModuleLoadData, (CUmodule *module, const void *image)) \
    X(cuModuleLoadDataEx, (CUmodule *module, const void *image, unsigned int count, \
                           CUjit_option *options, void **values)) \
    X(cuModuleLoadFatBinary, (CUmodule *module, const void *image)) \
    X(cuModuleUnload, (CUmodule module)) \
    X(cuModuleGetFunction, (CUfunction *function, CUmodule module, const char *name)) \
    X(cuModuleGetGlobal, (CUdeviceptr *ptr, size_t *bytes, CUmodule module, const char *name)) \
    X(cuLibraryLoadData, (CUlibrary *library, const void *code, CUjit_option *jit, void **values, \
                          unsigned int jitCount, CUlibraryOption *options, void **optionValues, \
                          unsigned int optionCount)) \
    X(cuLibraryLoadFromFile, (CUlibrary *library, const char *path, CUjit_option *jit, \
                              void **values, unsigned int jitCount, CUlibraryOption *options, \
                              void **optionValues, unsigned int optionCount)) \
    X(cuLibraryUnload, (CUlibrary library)) \
    X(cuLibraryGetKernel, (CUkernel *kernel, CUlibrary library, const char *name)) \
    X(cuLibraryGetKernelCount, (unsigned int *count, CUlibrary library)) \
    X(cuLibraryEnumerateKernels, (CUkernel *kernels, unsigned int count, CUlibrary library)) \
    X(cuLibraryGetModule, (CUmodule *module, CUlibrary library)) \
    X(cuLibraryGetGlobal, (CUdeviceptr *ptr, size_t *bytes, CUlibrary library, const char *name)) \
    X(cuLibraryGetManaged, (CUdeviceptr *ptr, size_t *bytes, CUlibrary library, \
                            const char *name)) \
    X(cuLibraryGetUnifiedFunction, (void **function, CUlibrary library, const char *name)) \
    X(cuKernelGetLibrary, (CUlibrary *library, CUkernel kernel)) \
    X(cuFuncGetModule, (CUmodule *module, CUfunction function)) \
    X(cuModuleGetFunctionCount, (unsigned int *count, CUmodule module)) \
    X(cuModuleEnumerateFunctions, (CUfunction *functions, unsigned int count, CUmodule module)) \
    X(cuLinkCreate, (unsigned int count, CUjit_option *options, void **values, \
                     CUlinkState *state)) \
    X(cuLinkAddData, (CUlinkState state, CUjitInputType type, void *data, size_t size, \
                      const char *name, unsigned int count, CUjit_option *options, \
                      void **values)) \
    X(cuLinkAddFile, (CUlinkState state, CUjitInputType type, const char *path, \
                      unsigned int count, CUjit_option *options, void **values)) \
    X(cuLinkComplete, (CUlinkState state, void **cubinOut, size_t *sizeOut)) \
    X(cuLinkDestroy, (CUlinkState state))

#define VGPU_DRIVER_ARRAYS(X) \
    X(cuArrayCreate, (CUarray *array, const CUDA_ARRAY_DESCRIPTOR *descriptor)) \
    X(cuArray3DCreate, (CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *descriptor)) \
    X(cuArrayDestroy, (CUarray array)) \
    X(cuMemAllocPitch, (CUdeviceptr *ptr, size_t *pitch, size_t width, size_t height, \
                        unsigned int elementBytes)) \
    X(cuMemcpy2D, (const CUDA_MEMCPY2D *copy)) \
    X(cuMemcpy2DUnaligned, (const CUDA_MEMCPY2D *copy)) \
    X(cuMemcpy2DAsync, (const CUDA_MEMCPY2D *copy, CUstream stream)) \
    X(cuMemcpy3D, (const CUDA_MEMCPY3D *copy)) \
    X(cuMemcpy3DAsync, (const CUDA_MEMCPY3D *copy, CUstream stream)) \
    X(cuTexObjectCreate, (CUtexObject *object, const CUDA_RESOURCE_DESC *resource, \
                          const CUDA_TEXTURE_DESC *texture, \
                          const CUDA_RESOURCE_VIEW_DESC *view)) \
    X(cuTexObjectDestroy, (CUtexObject object)) \
    X(cuSurfObjectCreate, (CUsurfObject *object, const CUDA_RESOURCE_DESC *resource)) \
    X(cuSurfObjectDestroy, (CUsurfObject object))

#define VGPU_DRIVER_GRAPHS(X) \
    X(cuGraphCreate, (CUgraph *graph, unsigned int flags)) \
    X(cuGraphDestroy, (CUgraph graph)) \
    X(cuGraphClone, (CUgraph *clone, CUgraph original)) \
    X(cuGraphAddKernelNode, (CUgraphNode *node, CUgraph graph, const CUgraphNode *deps, \
                             size_t count, const CUDA_KERNEL_NODE_PARAMS *params)) \
    X(cuGraphAddMemcpyNode, (CUgraphNode *node, CUgraph graph, const CUgraphNode *deps, \
                             size_t count, const CUDA_MEMCPY3D *params, CUcontext context)) \
    X(cuGraphAddMemsetNode, (CUgraphNode *node, CUgraph graph, const CUgraphNode *deps, \
                             size_t count, const CUDA_MEMSET_NODE_PARAMS *params, \
                             CUcontext context)) \
    X(cuGraphAddHostNode, (CUgraphNode *node, CUgraph graph, const CUgraphNode *deps, \
                           size_t count, const CUDA_HOST_NODE_PARAMS *params)) \
    X(cuGraphAddChildGraphNode, (CUgraphNode *node, CUgraph graph, const CUgraphNode *deps, \
                                 size_t count, CUgraph child)) \
    X(cuGraphAddEmptyNode, (CUgraphNode *node, CUgraph graph, const CUgraphNode *deps, \
                            size_t count)) \
    X(cuGraphAddEventRecordNode, (CUgraphNode *node, CUgraph graph, const CUgraphNode *deps, \
                                  size_t count, CUevent event)) \
    X(cuGraphAddEventWaitNode, (CUgraphNode *node, CUgraph graph, const CUgraphNode *deps, \
                                size_t count, CUevent event)) \
    X(cuGraphAddMemAllocNode, (CUgraphNode *node, CUgraph graph, const CUgraphNode *deps, \
                               size_t count, CUDA_MEM_ALLOC_NODE_PARAMS *params)) \
    X(cuGraphAddMemFreeNode, (CUgraphNode *node, CUgraph graph, const CUgraphNode *deps, \
                              size_t count, CUdeviceptr ptr)) \
    X(cuGraphAddNode, (CUgraphNode *node, CUgraph graph, const CUgraphNode *deps, \
                       const CUgraphEdgeData *data, size_t count, CUgraphNodeParams *params)) \
    X(cuGraphNodeSetParams, (CUgraphNode node, CUgraphNodeParams *params)) \
    X(cuGraphKernelNodeCopyAttributes, (CUgraphNode to, CUgraphNode from)) \
    X(cuGraphKernelNodeGetAttribute, (CUgraphNode node, CUkernelNodeAttrID attribute, \
                                      CUkernelNodeAttrValue *value)) \
    X(cuGraphKernelNodeSetAttribute, (CUgraphNode node, CUkernelNodeAttrID attribute, \
                                      const CUkernelNodeAttrValue *value)) \
    X(cuGraphKernelNodeGetParams, (CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *params)) \
    X(cuGraphMemcpyNodeGetParams, (CUgraphNode node, CUDA_MEMCPY3D *params)) \
    X(cuGraphMemsetNodeGetParams, (CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *params)) \
    X(cuGraphHostNodeGetParams, (CUgraphNode node, CUDA_HOST_NODE_PARAMS *params)) \
    X(cuGraphMemAllocNodeGetParams, (CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS *params)) \
    X(cuGraphMemFreeNodeGetParams, (CUgraphNode node, CUdeviceptr *ptr)) \
    X(cuGraphMemcpyNodeSetParams, (CUgraphNode node, const CUDA_MEMCPY3D *params)) \
    X(cuGraphKernelNodeSetParams, (CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *params)) \
    X(cuGraphMemsetNodeSetParams, (CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *params)) \
    X(cuGraphHostNodeSetParams, (CUgraphNode node, const CUDA_HOST_NODE_PARAMS *params)) \
    X(cuGraphChildGraphNodeGetGraph, (CUgraphNode node, CUgraph *graph)) \
    X(cuGraphEventRecordNodeGetEvent, (CUgraphNode node, CUevent *event)) \
    X(cuGraphEventRecordNodeSetEvent, (CUgraphNode node, CUevent event)) \
    X(cuGraphEventWaitNodeGetEvent, (CUgraphNode node, CUevent *event)) \
    X(cuGraphEventWaitNodeSetEvent, (CUgraphNode node, CUevent event)) \
    X(cuGraphNodeGetType, (CUgraphNode node, CUgraphNodeType *type)) \
    X(cuGraphGetNodes, (CUgraph graph, CUgraphNode *nodes, size_t *count)) \
    X(cuGraphGetRootNodes, (CUgraph graph, CUgraphNode *nodes, size_t *count)) \
    X(cuGraphGetEdges, (CUgraph graph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *data, \
                        size_t *count)) \
    X(cuGraphNodeGetDependencies, (CUgraphNode node, CUgraphNode *nodes, CUgraphEdgeData *data, \
                                   size_t *count)) \
    X(cuGraphNodeGetDependentNodes, (CUgraphNode node, CUgraphNode *nodes, CUgraphEdgeData *data, \
                                     size_t *count)) \
    X(cuGraphNodeFindInClone, (CUgraphNode *node, CUgraphNode original, CUgraph clone)) \
    X(cuGraphAddDependencies, (CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, \
                               const CUgraphEdgeData *data, size_t count)) \
    X(cuGraphRemoveDependencies, (CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, \
                                  const CUgraphEdgeData *data, size_t count)) \
    X(cuGraphDestroyNode, (CUgraphNode node)) \
    X(cuDeviceGraphMemTrim, (CUdevice device)) \
    X(cuDeviceGetGraphMemAttribute, (CUdevice device, CUgraphMem_attribute attribute, \
                                     void *value)) \
    X(cuDeviceSetGraphMemAttribute, (CUdevice device, CUgraphMem_attribute attribute, void *value))

#define VGPU_DRIVER_GRAPH_LAUNCHES(X) \
    X(cuGraphInstantiate, (CUgraphExec *exec, CUgraph graph, unsigned long long flags)) \
    X(cuGraphInstantiateWithFlags, (CUgraphExec *exec, CUgraph graph, unsigned long long flags)) \
    X(cuGraphInstantiateWithParams, (CUgraphExec *exec, CUgraph graph, \
                                     CUDA_GRAPH_INSTANTIATE_PARAMS *params)) \
    X(cuGraphExecGetFlags, (CUgraphExec exec, cuuint64_t *flags)) \
    X(cuGraphNodeSetEnabled, (CUgraphExec exec, CUgraphNode node, unsigned int enabled)) \
    X(cuGraphNodeGetEnabled, (CUgraphExec exec, CUgraphNode node, unsigned int *enabled)) \
    X(cuGraphUpload, (CUgraphExec exec, CUstream stream)) \
    X(cuGraphLaunch, (CUgraphExec exec, CUstream stream)) \
    X(cuGraphExecDestroy, (CUgraphExec exec)) \
    X(cuGraphExecUpdate, (CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info)) \
    X(cuGraphExecNodeSetParams, (CUgraphExec exec, CUgraphNode node, CUgraphNodeParams *params)) \
    X(cuGraphExecChildGraphNodeSetParams, (CUgraphExec exec, CUgraphNode node, CUgraph child)) \
    X(cuGraphExecKernelNodeSetParams, (CUgraphExec exec, CUgraphNode node, \
                                       const CUDA_KERNEL_NODE_PARAMS *params)) \
    X(cuGraphExecMemcpyNodeSetParams, (CUgraphExec exec, CUgraphNode node, \
                                       const CUDA_MEMCPY3D *params, CUcontext context)) \
    X(cuGraphExecMemsetNodeSetParams, (CUgraphExec exec, CUgraphNode node, \
                                       const CUDA_MEMSET_NODE_PARAMS *params, CUcontext context)) \
    X(cuGraphExecHostNodeSetParams, (CUgraphExec exec, CUgraphNode node, \
                                     const CUDA_HOST_NODE_PARAMS *params)) \
    X(cuGraphExecEventRecordNodeSetEvent, (CUgraphExec exec, CUgraphNode node, CUevent event)) \
    X(cuGraphExecEventWaitNodeSetEvent, (CUgraphExec exec, CUgraphNode node, CUevent event)) \
    X(cuStreamBeginCapture, (CUstream stream, CUstreamCaptureMode mode)) \
    X(cuStreamBeginCaptureToGraph, (CUstream stream, CUgraph graph, const CUgraphNode *deps, \
                                    const CUgraphEdgeData *data, size_t count, \
                                    CUstreamCaptureMode mode)) \
    X(cuStreamUpdateCaptureDependencies, (CUstream stream, CUgraphNode *deps, \
                                          const CUgraphEdgeData *data, size_t count, \
                                          unsigned int flags)) \
    X(cuUserObjectCreate, (CUuserObject *object, void *data, CUhostFn destroy, \
                           unsigned int references, unsigned int flags)) \
    X(cuUserObjectRetain, (CUuserObject object, unsigned int count)) \
    X(cuUserObjectRelease, (CUuserObject object, unsigned int count)) \
    X(cuGraphRetainUserObject, (CUgraph graph, CUuserObject object, unsigned int count, \
                                unsigned int flags)) \
    X(cuGraphReleaseUserObject, (CUgraph graph, CUuserObject object, unsigned int count)) \
    X(cuStreamEndCapture, (CUstream stream, CUgraph *graph)) \
    X(cuStreamIsCapturing, (CUstream stream, CUstreamCaptureStatus *status)) \
    X(cuStreamGetCaptureInfo, (CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, \
                               CUgraph *graph, const CUgraphNode **nodes, \
                               const CUgraphEdgeData **data, size_t *count)) \
    X(cuThreadExchangeStreamCaptureMode, (CUstreamCaptureMode *mode))

#define VGPU_DRIVER_REFUSED(X) \
    X(cuGraphConditionalHandleCreate, (CUgraphConditionalHandle *handle, CUgraph graph, \
                                       CUcontext context, unsigned int value, \
                                       unsigned int flags)) \
    X(cuGraphDebugDotPrint, (CUgraph graph, const char *path, unsigned int flags)) \
    X(cuGraphAddBatchMemOpNode, (CUgraphNode *node, CUgraph graph, const CUgraphNode *deps, \
                                 size_t count, const CUDA_BATCH_MEM_OP_NODE_PARAMS *params)) \
    X(cuGraphBatchMemOpNodeGetParams, (CUgraphNode node, CUDA_BATCH_MEM_OP_NODE_PARAMS *params)) \
    X(cuGraphBatchMemOpNodeSetParams, (CUgraphNode node, \
                                       const CUDA_BATCH_MEM_OP_NODE_PARAMS *params)) \
    X(cuGraphExecBatchMemOpNodeSetParams, (CUgraphExec exec, CUgraphNode node, \
                                           const CUDA_BATCH_MEM_OP_NODE_PARAMS *params)) \
    X(cuStreamBatchMemOp, (CUstream stream, unsigned int count, \
                           CUstreamBatchMemOpParams *operations, unsigned int flags)) \
    X(cuStreamWaitValue32, (CUstream stream, CUdeviceptr address, cuuint32_t value, \
                            unsigned int flags)) \
    X(cuStreamWaitValue64, (CUstream stream, CUdeviceptr address, cuuint64_t value, \
                            unsigned int flags)) \
    X(cuStreamWriteValue32, (CUstream stream, CUdeviceptr address, cuuint32_t value, \
                             unsigned int flags)) \
    X(cuStreamWriteValue64, (CUstream stream, CUdeviceptr address, cuuint64_t value, \
                             unsigned int flags)) \
    X(cuMulticastCreate, (CUmemGenericAllocationHandle *handle, \
                          const CUmulticastObjectProp *prop)) \
    X(cuMulticastAddDevice, (CUmemGenericAllocationHandle handle, CUdevice device)) \
    X(cuMulticastBindMem, (CUmemGenericAllocationHandle handle, size_t offset, \
                           CUmemGenericAllocationHandle memory, size_t memoryOffset, size_t bytes, \
                           unsigned long long flags)) \
    X(cuMulticastBindAddr, (CUmemGenericAllocationHandle handle, size_t offset, CUdeviceptr ptr, \
                            size_t bytes, unsigned long long flags)) \
    X(cuMulticastUnbind, (CUmemGenericAllocationHandle handle, CUdevice device, size_t offset, \
                          size_t bytes)) \
    X(cuMulticastGetGranularity, (size_t *granularity, const CUmulticastObjectProp *prop, \
                                  CUmulticastGranularity_flags option))
/* clang-format on */

#define VGPU_DRIVER_CALLS(X)                                                                       \
    VGPU_DRIVER_DEVICES(X)                                                                         \
    VGPU_DRIVER_CONTEXTS(X)                                                                        \
    VGPU_DRIVER_MEMORY(X)                                                                          \
    VGPU_DRIVER_VMM(X)                                                                             \
    VGPU_DRIVER_POOLS(X)                                                                           \
    VGPU_DRIVER_PROCESSES(X)                                                                       \
    VGPU_DRIVER_WORK(X)                                                                            \
    VGPU_DRIVER_MODULES(X)                                                                         \
    VGPU_DRIVER_ARRAYS(X)                                                                          \
    VGPU_DRIVER_GRAPHS(X)                                                                          \
    VGPU_DRIVER_GRAPH_LAUNCHES(X)                                                                  \
    VGPU_DRIVER_REFUSED(X)

#endif
