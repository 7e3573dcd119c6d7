/* SPDX-License-Identifier: MIT
 * device_prop.h: what cudaGetDeviceProperties fills in: CUDA 13's fields by name, and those of CUDA
 * 12 that 13 dropped, whose use the compiler warns about. These lie where CUDA 13 has reserved
 * room: programs that nvcc compiled get the same structure.
 */
#ifndef VGPU_DEVICE_PROP_H
#define VGPU_DEVICE_PROP_H

#include <stddef.h>

/* What CUDA 13 has no more works, with a warning that says what takes its place. */
#define VGPU_UNTIL_12(instead)                                                                     \
    __attribute__((deprecated("CUDA 13 has dropped this; there it is " instead)))

#ifndef CU_UUID_HAS_BEEN_DEFINED
#define CU_UUID_HAS_BEEN_DEFINED
struct CUuuid_st {
    char bytes[16];
};
typedef struct CUuuid_st CUuuid;
#endif
typedef struct CUuuid_st cudaUUID_t;

struct cudaDeviceProp {
    char name[256];
    cudaUUID_t uuid;
    char luid[8];
    unsigned int luidDeviceNodeMask;
    size_t totalGlobalMem;
    size_t sharedMemPerBlock;
    int regsPerBlock;
    int warpSize;
    size_t memPitch;
    int maxThreadsPerBlock;
    int maxThreadsDim[3];
    int maxGridSize[3];
    size_t totalConstMem;
    int major;
    int minor;
    size_t textureAlignment;
    size_t texturePitchAlignment;
    int multiProcessorCount;
    int integrated;
    int canMapHostMemory;
    int maxTexture1D;
    int maxTexture1DMipmap;
    int maxTexture2D[2];
    int maxTexture2DMipmap[2];
    int maxTexture2DLinear[3];
    int maxTexture2DGather[2];
    int maxTexture3D[3];
    int maxTexture3DAlt[3];
    int maxTextureCubemap;
    int maxTexture1DLayered[2];
    int maxTexture2DLayered[3];
    int maxTextureCubemapLayered[2];
    int maxSurface1D;
    int maxSurface2D[2];
    int maxSurface3D[3];
    int maxSurface1DLayered[2];
    int maxSurface2DLayered[3];
    int maxSurfaceCubemap;
    int maxSurfaceCubemapLayered[2];
    size_t surfaceAlignment;
    int concurrentKernels;
    int ECCEnabled;
    int pciBusID;
    int pciDeviceID;
    int pciDomainID;
    int tccDriver;
    int asyncEngineCount;
    int unifiedAddressing;
    int memoryBusWidth;
    int l2CacheSize;
    int persistingL2CacheMaxSize;
    int maxThreadsPerMultiProcessor;
    int streamPrioritiesSupported;
    int globalL1CacheSupported;
    int localL1CacheSupported;
    size_t sharedMemPerMultiprocessor;
    int regsPerMultiprocessor;
    int managedMemory;
    int isMultiGpuBoard;
    int multiGpuBoardGroupID;
    int hostNativeAtomicSupported;
    int pageableMemoryAccess;
    int concurrentManagedAccess;
    int computePreemptionSupported;
    int canUseHostPointerForRegisteredMem;
    int cooperativeLaunch;
    size_t sharedMemPerBlockOptin;
    int pageableMemoryAccessUsesHostPageTables;
    int directManagedMemAccessFromHost;
    int maxBlocksPerMultiProcessor;
    int accessPolicyMaxWindowSize;
    size_t reservedSharedMemPerBlock;
    int hostRegisterSupported;
    int sparseCudaArraySupported;
    int hostRegisterReadOnlySupported;
    int timelineSemaphoreInteropSupported;
    int memoryPoolsSupported;
    int gpuDirectRDMASupported;
    unsigned int gpuDirectRDMAFlushWritesOptions;
    int gpuDirectRDMAWritesOrdering;
    unsigned int memoryPoolSupportedHandleTypes;
    int deferredMappingCudaArraySupported;
    int ipcEventSupported;
    int clusterLaunch;
    int unifiedFunctionPointers;
    int deviceNumaConfig;
    int deviceNumaId;
    int mpsEnabled;
    int hostNumaId;
    unsigned int gpuPciDeviceID;
    unsigned int gpuPciSubsystemID;
    int hostNumaMultinodeIpcSupported;
    int clockRate VGPU_UNTIL_12("cudaDeviceGetAttribute with cudaDevAttrClockRate");
    int memoryClockRate VGPU_UNTIL_12("cudaDeviceGetAttribute with cudaDevAttrMemoryClockRate");
    int computeMode VGPU_UNTIL_12("cudaDeviceGetAttribute with cudaDevAttrComputeMode");
    int deviceOverlap VGPU_UNTIL_12("asyncEngineCount");
    int kernelExecTimeoutEnabled
        VGPU_UNTIL_12("cudaDeviceGetAttribute with cudaDevAttrKernelExecTimeout");
    int maxTexture1DLinear
        VGPU_UNTIL_12("cudaDeviceGetAttribute with cudaDevAttrMaxTexture1DLinearWidth");
    int singleToDoublePrecisionPerfRatio
        VGPU_UNTIL_12("cudaDeviceGetAttribute with cudaDevAttrSingleToDoublePrecisionPerfRatio");
    int cooperativeMultiDeviceLaunch VGPU_UNTIL_12("cooperativeLaunch");
    int reserved[48];
};

#endif
