/* SPDX-License-Identifier: MIT
 * cudaTypedefs.h: types of pointers to the driver's calls, for what cuGetProcAddress hands out:
 * PFN_cuInit_v2000, with the version of CUDA that has the call in this form.
 */
#ifndef CUDATYPEDEFS_H
#define CUDATYPEDEFS_H

#include "cuda.h"

#define VGPU_POINTER(name, parameters) typedef CUresult(*vgpu_pointer_##name) parameters;
VGPU_DRIVER_CALLS(VGPU_POINTER)
#undef VGPU_POINTER

#define VGPU_PFN(name, version) typedef vgpu_pointer_##name PFN_##name##_v##version;

/* clang-format off */
VGPU_PFN(cuInit, 2000) VGPU_PFN(cuDriverGetVersion, 2020) VGPU_PFN(cuGetErrorName, 6000)
VGPU_PFN(cuGetErrorString, 6000) VGPU_PFN(cuGetProcAddress, 12000) VGPU_PFN(cuDeviceGet, 2000)
VGPU_PFN(cuDeviceGetCount, 2000) VGPU_PFN(cuDeviceGetName, 2000)
VGPU_PFN(cuDeviceGetUuid, 11040) VGPU_PFN(cuDeviceTotalMem, 3020)
VGPU_PFN(cuDeviceGetAttribute, 2000) VGPU_PFN(cuDeviceComputeCapability, 2000)
VGPU_PFN(cuDeviceCanAccessPeer, 4000) VGPU_PFN(cuDeviceGetP2PAttribute, 8000)
VGPU_PFN(cuDeviceGetPCIBusId, 4010) VGPU_PFN(cuDeviceGetByPCIBusId, 4010)
VGPU_PFN(cuDevicePrimaryCtxRetain, 7000) VGPU_PFN(cuDevicePrimaryCtxRelease, 11000)
VGPU_PFN(cuDevicePrimaryCtxReset, 11000) VGPU_PFN(cuDevicePrimaryCtxSetFlags, 11000)
VGPU_PFN(cuDevicePrimaryCtxGetState, 7000) VGPU_PFN(cuCtxCreate, 12050)
VGPU_PFN(cuCtxDestroy, 4000) VGPU_PFN(cuCtxSetCurrent, 4000) VGPU_PFN(cuCtxGetCurrent, 4000)
VGPU_PFN(cuCtxPushCurrent, 4000) VGPU_PFN(cuCtxPopCurrent, 4000)
VGPU_PFN(cuCtxGetDevice, 2000) VGPU_PFN(cuCtxGetFlags, 7000)
VGPU_PFN(cuCtxGetApiVersion, 3020) VGPU_PFN(cuCtxGetStreamPriorityRange, 5050)
VGPU_PFN(cuCtxSynchronize, 2000) VGPU_PFN(cuCtxEnablePeerAccess, 4000)
VGPU_PFN(cuCtxDisablePeerAccess, 4000) VGPU_PFN(cuIpcGetMemHandle, 4010)
VGPU_PFN(cuIpcOpenMemHandle, 11000) VGPU_PFN(cuIpcCloseMemHandle, 4010)
VGPU_PFN(cuIpcGetEventHandle, 4010) VGPU_PFN(cuIpcOpenEventHandle, 4010)
VGPU_PFN(cuMemAlloc, 3020) VGPU_PFN(cuMemFree, 3020) VGPU_PFN(cuMemGetInfo, 3020)
VGPU_PFN(cuMemGetAddressRange, 3020) VGPU_PFN(cuMemAllocHost, 3020)
VGPU_PFN(cuMemFreeHost, 2000) VGPU_PFN(cuMemHostAlloc, 2020)
VGPU_PFN(cuMemHostGetDevicePointer, 3020) VGPU_PFN(cuMemHostGetFlags, 2030)
VGPU_PFN(cuPointerGetAttribute, 4000) VGPU_PFN(cuPointerGetAttributes, 7000)
VGPU_PFN(cuMemcpy, 4000) VGPU_PFN(cuMemcpyAsync, 4000) VGPU_PFN(cuMemcpyHtoD, 3020)
VGPU_PFN(cuMemcpyHtoDAsync, 3020) VGPU_PFN(cuMemcpyDtoH, 3020)
VGPU_PFN(cuMemcpyDtoHAsync, 3020) VGPU_PFN(cuMemcpyDtoD, 3020)
VGPU_PFN(cuMemcpyDtoDAsync, 3020) VGPU_PFN(cuMemcpyPeer, 4000)
VGPU_PFN(cuMemcpyPeerAsync, 4000) VGPU_PFN(cuMemsetD8, 3020) VGPU_PFN(cuMemsetD16, 3020)
VGPU_PFN(cuMemsetD32, 3020) VGPU_PFN(cuMemsetD8Async, 3020) VGPU_PFN(cuMemsetD16Async, 3020)
VGPU_PFN(cuMemsetD32Async, 3020) VGPU_PFN(cuMemGetAllocationGranularity, 10020)
VGPU_PFN(cuMemCreate, 10020) VGPU_PFN(cuMemRelease, 10020)
VGPU_PFN(cuMemGetAllocationPropertiesFromHandle, 10020)
VGPU_PFN(cuMemRetainAllocationHandle, 11000) VGPU_PFN(cuMemExportToShareableHandle, 10020)
VGPU_PFN(cuMemImportFromShareableHandle, 10020) VGPU_PFN(cuMemAddressReserve, 10020)
VGPU_PFN(cuMemAddressFree, 10020) VGPU_PFN(cuMemMap, 10020) VGPU_PFN(cuMemUnmap, 10020)
VGPU_PFN(cuMemSetAccess, 10020) VGPU_PFN(cuMemGetAccess, 10020)
VGPU_PFN(cuMemAllocAsync, 11020) VGPU_PFN(cuMemAllocFromPoolAsync, 11020)
VGPU_PFN(cuMemFreeAsync, 11020) VGPU_PFN(cuMemPoolCreate, 11020)
VGPU_PFN(cuMemPoolDestroy, 11020) VGPU_PFN(cuMemPoolTrimTo, 11020)
VGPU_PFN(cuMemPoolSetAttribute, 11020) VGPU_PFN(cuMemPoolGetAttribute, 11020)
VGPU_PFN(cuMemPoolSetAccess, 11020) VGPU_PFN(cuMemPoolGetAccess, 11020)
VGPU_PFN(cuDeviceGetDefaultMemPool, 11020) VGPU_PFN(cuDeviceGetMemPool, 11020)
VGPU_PFN(cuDeviceSetMemPool, 11020) VGPU_PFN(cuMemPoolExportToShareableHandle, 11020)
VGPU_PFN(cuMemPoolImportFromShareableHandle, 11020) VGPU_PFN(cuMemPoolExportPointer, 11020)
VGPU_PFN(cuMemPoolImportPointer, 11020) VGPU_PFN(cuStreamCreate, 2000)
VGPU_PFN(cuStreamCreateWithPriority, 5050) VGPU_PFN(cuStreamDestroy, 4000)
VGPU_PFN(cuStreamSynchronize, 2000) VGPU_PFN(cuStreamQuery, 2000)
VGPU_PFN(cuStreamWaitEvent, 3020) VGPU_PFN(cuStreamGetFlags, 5050)
VGPU_PFN(cuStreamGetPriority, 5050) VGPU_PFN(cuStreamGetId, 12000)
VGPU_PFN(cuStreamGetDevice, 12080) VGPU_PFN(cuStreamGetCtx, 9020)
VGPU_PFN(cuEventCreate, 2000) VGPU_PFN(cuEventDestroy, 4000) VGPU_PFN(cuEventRecord, 2000)
VGPU_PFN(cuEventRecordWithFlags, 11010) VGPU_PFN(cuEventSynchronize, 2000)
VGPU_PFN(cuEventQuery, 2000) VGPU_PFN(cuEventElapsedTime, 12080)
VGPU_PFN(cuKernelGetFunction, 12000) VGPU_PFN(cuKernelGetName, 12030)
VGPU_PFN(cuFuncGetName, 12030) VGPU_PFN(cuFuncGetAttribute, 2020)
VGPU_PFN(cuFuncSetAttribute, 9000) VGPU_PFN(cuOccupancyMaxActiveBlocksPerMultiprocessor, 6050)
VGPU_PFN(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, 7000)
VGPU_PFN(cuOccupancyMaxPotentialBlockSize, 6050)
VGPU_PFN(cuOccupancyMaxPotentialBlockSizeWithFlags, 7000)
VGPU_PFN(cuOccupancyAvailableDynamicSMemPerBlock, 10020) VGPU_PFN(cuLaunchKernel, 4000)
VGPU_PFN(cuLaunchCooperativeKernel, 9000) VGPU_PFN(cuModuleLoad, 2000)
VGPU_PFN(cuModuleLoadData, 2000) VGPU_PFN(cuModuleLoadDataEx, 2010)
VGPU_PFN(cuModuleLoadFatBinary, 2000) VGPU_PFN(cuModuleUnload, 2000)
VGPU_PFN(cuModuleGetFunction, 2000) VGPU_PFN(cuModuleGetGlobal, 3020)
VGPU_PFN(cuLibraryLoadData, 12000) VGPU_PFN(cuLibraryUnload, 12000)
VGPU_PFN(cuLibraryGetKernel, 12000) VGPU_PFN(cuLinkCreate, 6050)
VGPU_PFN(cuLinkAddData, 6050) VGPU_PFN(cuLinkAddFile, 6050)
VGPU_PFN(cuLinkComplete, 5050) VGPU_PFN(cuLinkDestroy, 5050) VGPU_PFN(cuMulticastCreate, 12010)
VGPU_PFN(cuMulticastAddDevice, 12010) VGPU_PFN(cuMulticastBindMem, 12010)
VGPU_PFN(cuMulticastBindAddr, 12010) VGPU_PFN(cuMulticastUnbind, 12010)
VGPU_PFN(cuMulticastGetGranularity, 12010)
/* clang-format on */

#undef VGPU_PFN

#endif
