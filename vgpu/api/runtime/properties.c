/* SPDX-License-Identifier: MIT
 * properties.c: cudaGetDeviceProperties and cudaDeviceGetAttribute. Values that differ between GPU
 * models come from the node's description; values that the compute capability fixes (7.0 and later)
 * are constants here. An attribute is read from the property's field where there is one.
 */
#include "occupancy.h"
#include "runtime.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* for the fields of CUDA 12 */

#include <stdio.h>
#include <string.h>

/* ---- properties ---- */

static void fill_identity(struct cudaDeviceProp *p, const struct vgpu_device_info *d, int device)
{
    snprintf(p->name, sizeof p->name, "%s", d->name);
    memcpy(p->uuid.bytes, d->uuid, sizeof p->uuid.bytes);
    p->major = d->cc_major;
    p->minor = d->cc_minor;
    p->pciDomainID = d->pci_domain;
    p->pciBusID = d->pci_bus;
    p->pciDeviceID = d->pci_device;
    p->multiGpuBoardGroupID = device;
    p->hostNumaId = d->numa_node;
    p->deviceNumaId = -1;
}

static void fill_compute(struct cudaDeviceProp *p, const struct vgpu_device_info *d)
{
    p->multiProcessorCount = d->sm_count;
    p->warpSize = 32;
    p->maxThreadsPerBlock = VGPU_BLOCK_THREADS_MAX;
    p->maxThreadsDim[0] = VGPU_BLOCK_X_MAX;
    p->maxThreadsDim[1] = VGPU_BLOCK_Y_MAX;
    p->maxThreadsDim[2] = VGPU_BLOCK_Z_MAX;
    p->maxGridSize[0] = VGPU_GRID_X_MAX;
    p->maxGridSize[1] = VGPU_GRID_Y_MAX;
    p->maxGridSize[2] = VGPU_GRID_Z_MAX;
    p->maxThreadsPerMultiProcessor = d->max_threads_per_sm;
    p->maxBlocksPerMultiProcessor = d->max_blocks_per_sm;
    p->regsPerBlock = d->regs_per_block;
    p->regsPerMultiprocessor = d->regs_per_sm;
    p->sharedMemPerBlock = d->shared_per_block;
    p->sharedMemPerBlockOptin = d->shared_per_block_optin;
    p->sharedMemPerMultiprocessor = d->shared_per_sm;
    p->reservedSharedMemPerBlock = vgpu_shared_reserved(d->cc_major);
    p->concurrentKernels = d->concurrent_kernels;
    p->cooperativeLaunch = d->cooperative;
    p->clusterLaunch = d->cc_major >= 9;
    p->computePreemptionSupported = 1;
    p->streamPrioritiesSupported = 1;
    p->asyncEngineCount = d->async_engines;
}

static void fill_memory(struct cudaDeviceProp *p, const struct vgpu_device_info *d)
{
    p->totalGlobalMem = d->total_bytes;
    p->totalConstMem = d->constant_bytes;
    p->l2CacheSize = (int)d->l2_bytes;
    p->memoryBusWidth = d->memory_bus_bits;
    p->ECCEnabled = d->ecc;
    p->memPitch = 2147483647;
    p->unifiedAddressing = 1;
    p->canMapHostMemory = 1;
    p->managedMemory = 1;
    p->concurrentManagedAccess = 1;
    p->canUseHostPointerForRegisteredMem = 1;
    p->hostRegisterSupported = 1;
    p->globalL1CacheSupported = 1;
    p->localL1CacheSupported = 1;
    p->memoryPoolsSupported = 1;
    p->memoryPoolSupportedHandleTypes = cudaMemHandleTypePosixFileDescriptor;
    p->ipcEventSupported = 1;
    p->timelineSemaphoreInteropSupported = 1;
}

static void set_pair(int *v, int x, int y)
{
    v[0] = x;
    v[1] = y;
}

static void set_triple(int *v, int x, int y, int z)
{
    set_pair(v, x, y);
    v[2] = z;
}

/* The compute capability's limits. */
static void fill_textures(struct cudaDeviceProp *p)
{
    p->textureAlignment = p->surfaceAlignment = 512;
    p->texturePitchAlignment = 32;
    p->maxTexture1D = 131072;
    p->maxTexture1DMipmap = 32768;
    set_pair(p->maxTexture2D, 131072, 65536);
    set_pair(p->maxTexture2DMipmap, 32768, 32768);
    set_triple(p->maxTexture2DLinear, 131072, 65000, 2097120);
    set_pair(p->maxTexture2DGather, 32768, 32768);
    set_triple(p->maxTexture3D, 16384, 16384, 16384);
    set_triple(p->maxTexture3DAlt, 8192, 8192, 32768);
    p->maxTextureCubemap = 32768;
    set_pair(p->maxTexture1DLayered, 32768, 2048);
    set_triple(p->maxTexture2DLayered, 32768, 32768, 2048);
    set_pair(p->maxTextureCubemapLayered, 32768, 2046);
    p->maxSurface1D = 32768;
    set_pair(p->maxSurface2D, 131072, 65536);
    set_triple(p->maxSurface3D, 16384, 16384, 16384);
    set_pair(p->maxSurface1DLayered, 32768, 2048);
    set_triple(p->maxSurface2DLayered, 32768, 32768, 2048);
    p->maxSurfaceCubemap = 32768;
    set_pair(p->maxSurfaceCubemapLayered, 32768, 2046);
}

/* Fields that CUDA 13 has replaced by attributes. */
static void fill_older(struct cudaDeviceProp *p, const struct vgpu_device_info *d)
{
    p->clockRate = d->clock_khz;
    p->memoryClockRate = d->memory_clock_khz;
    p->deviceOverlap = d->async_engines > 0;
    p->computeMode = cudaComputeModeDefault;
    p->maxTexture1DLinear = 268435456;
    p->singleToDoublePrecisionPerfRatio = d->cc_minor == 0 ? 2 : d->cc_major >= 8 ? 64 : 32;
}

static void fill_properties(struct cudaDeviceProp *p, int device)
{
    const struct vgpu_device_info *d = vgpu__device_info(device);
    memset(p, 0, sizeof *p);
    fill_identity(p, d, device);
    fill_compute(p, d);
    fill_memory(p, d);
    fill_textures(p);
    fill_older(p, d);
}

static cudaError_t check_properties(const char *call, const void *out, int device)
{
    cudaError_t error = vgpu__enter_call(call);
    if (error == cudaSuccess && !out)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess && (device < 0 || device >= vgpu__process.device_count))
        error = cudaErrorInvalidDevice;
    return error;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device)
{
    cudaError_t error = check_properties("cudaGetDeviceProperties", prop, device);
    if (error == cudaSuccess)
        fill_properties(prop, device);
    return vgpu__record(error);
}

/* ---- attributes ---- */

struct field {
    enum cudaDeviceAttr attr;
    unsigned short offset, bytes;
};

#define FIELD(attr, field)                                                                         \
    {                                                                                              \
        cudaDevAttr##attr, offsetof(struct cudaDeviceProp, field),                                 \
            sizeof(((struct cudaDeviceProp *)0)->field)                                            \
    }

static const struct field property_fields[] = {
    FIELD(MaxThreadsPerBlock, maxThreadsPerBlock),
    FIELD(MaxBlockDimX, maxThreadsDim[0]),
    FIELD(MaxBlockDimY, maxThreadsDim[1]),
    FIELD(MaxBlockDimZ, maxThreadsDim[2]),
    FIELD(MaxGridDimX, maxGridSize[0]),
    FIELD(MaxGridDimY, maxGridSize[1]),
    FIELD(MaxGridDimZ, maxGridSize[2]),
    FIELD(MaxSharedMemoryPerBlock, sharedMemPerBlock),
    FIELD(TotalConstantMemory, totalConstMem),
    FIELD(WarpSize, warpSize),
    FIELD(MaxPitch, memPitch),
    FIELD(MaxRegistersPerBlock, regsPerBlock),
    FIELD(TextureAlignment, textureAlignment),
    FIELD(MultiProcessorCount, multiProcessorCount),
    FIELD(Integrated, integrated),
    FIELD(CanMapHostMemory, canMapHostMemory),
    FIELD(MaxTexture1DWidth, maxTexture1D),
    FIELD(MaxTexture2DWidth, maxTexture2D[0]),
    FIELD(MaxTexture2DHeight, maxTexture2D[1]),
    FIELD(MaxTexture3DWidth, maxTexture3D[0]),
    FIELD(MaxTexture3DHeight, maxTexture3D[1]),
    FIELD(MaxTexture3DDepth, maxTexture3D[2]),
    FIELD(MaxTexture2DLayeredWidth, maxTexture2DLayered[0]),
    FIELD(MaxTexture2DLayeredHeight, maxTexture2DLayered[1]),
    FIELD(MaxTexture2DLayeredLayers, maxTexture2DLayered[2]),
    FIELD(SurfaceAlignment, surfaceAlignment),
    FIELD(ConcurrentKernels, concurrentKernels),
    FIELD(EccEnabled, ECCEnabled),
    FIELD(PciBusId, pciBusID),
    FIELD(PciDeviceId, pciDeviceID),
    FIELD(TccDriver, tccDriver),
    FIELD(GlobalMemoryBusWidth, memoryBusWidth),
    FIELD(L2CacheSize, l2CacheSize),
    FIELD(MaxThreadsPerMultiProcessor, maxThreadsPerMultiProcessor),
    FIELD(AsyncEngineCount, asyncEngineCount),
    FIELD(UnifiedAddressing, unifiedAddressing),
    FIELD(MaxTexture1DLayeredWidth, maxTexture1DLayered[0]),
    FIELD(MaxTexture1DLayeredLayers, maxTexture1DLayered[1]),
    FIELD(MaxTexture2DGatherWidth, maxTexture2DGather[0]),
    FIELD(MaxTexture2DGatherHeight, maxTexture2DGather[1]),
    FIELD(MaxTexture3DWidthAlt, maxTexture3DAlt[0]),
    FIELD(MaxTexture3DHeightAlt, maxTexture3DAlt[1]),
    FIELD(MaxTexture3DDepthAlt, maxTexture3DAlt[2]),
    FIELD(PciDomainId, pciDomainID),
    FIELD(TexturePitchAlignment, texturePitchAlignment),
    FIELD(MaxTextureCubemapWidth, maxTextureCubemap),
    FIELD(MaxTextureCubemapLayeredWidth, maxTextureCubemapLayered[0]),
    FIELD(MaxTextureCubemapLayeredLayers, maxTextureCubemapLayered[1]),
    FIELD(MaxSurface1DWidth, maxSurface1D),
    FIELD(MaxSurface2DWidth, maxSurface2D[0]),
    FIELD(MaxSurface2DHeight, maxSurface2D[1]),
    FIELD(MaxSurface3DWidth, maxSurface3D[0]),
    FIELD(MaxSurface3DHeight, maxSurface3D[1]),
    FIELD(MaxSurface3DDepth, maxSurface3D[2]),
    FIELD(MaxSurface1DLayeredWidth, maxSurface1DLayered[0]),
    FIELD(MaxSurface1DLayeredLayers, maxSurface1DLayered[1]),
    FIELD(MaxSurface2DLayeredWidth, maxSurface2DLayered[0]),
    FIELD(MaxSurface2DLayeredHeight, maxSurface2DLayered[1]),
    FIELD(MaxSurface2DLayeredLayers, maxSurface2DLayered[2]),
    FIELD(MaxSurfaceCubemapWidth, maxSurfaceCubemap),
    FIELD(MaxSurfaceCubemapLayeredWidth, maxSurfaceCubemapLayered[0]),
    FIELD(MaxSurfaceCubemapLayeredLayers, maxSurfaceCubemapLayered[1]),
    FIELD(MaxTexture2DLinearWidth, maxTexture2DLinear[0]),
    FIELD(MaxTexture2DLinearHeight, maxTexture2DLinear[1]),
    FIELD(MaxTexture2DLinearPitch, maxTexture2DLinear[2]),
    FIELD(MaxTexture2DMipmappedWidth, maxTexture2DMipmap[0]),
    FIELD(MaxTexture2DMipmappedHeight, maxTexture2DMipmap[1]),
    FIELD(ComputeCapabilityMajor, major),
    FIELD(ComputeCapabilityMinor, minor),
    FIELD(MaxTexture1DMipmappedWidth, maxTexture1DMipmap),
    FIELD(StreamPrioritiesSupported, streamPrioritiesSupported),
    FIELD(GlobalL1CacheSupported, globalL1CacheSupported),
    FIELD(LocalL1CacheSupported, localL1CacheSupported),
    FIELD(MaxSharedMemoryPerMultiprocessor, sharedMemPerMultiprocessor),
    FIELD(MaxRegistersPerMultiprocessor, regsPerMultiprocessor),
    FIELD(ManagedMemory, managedMemory),
    FIELD(IsMultiGpuBoard, isMultiGpuBoard),
    FIELD(MultiGpuBoardGroupID, multiGpuBoardGroupID),
    FIELD(HostNativeAtomicSupported, hostNativeAtomicSupported),
    FIELD(PageableMemoryAccess, pageableMemoryAccess),
    FIELD(ConcurrentManagedAccess, concurrentManagedAccess),
    FIELD(ComputePreemptionSupported, computePreemptionSupported),
    FIELD(CanUseHostPointerForRegisteredMem, canUseHostPointerForRegisteredMem),
    FIELD(CooperativeLaunch, cooperativeLaunch),
    FIELD(MaxSharedMemoryPerBlockOptin, sharedMemPerBlockOptin),
    FIELD(HostRegisterSupported, hostRegisterSupported),
    FIELD(PageableMemoryAccessUsesHostPageTables, pageableMemoryAccessUsesHostPageTables),
    FIELD(DirectManagedMemAccessFromHost, directManagedMemAccessFromHost),
    FIELD(MaxBlocksPerMultiprocessor, maxBlocksPerMultiProcessor),
    FIELD(MaxPersistingL2CacheSize, persistingL2CacheMaxSize),
    FIELD(MaxAccessPolicyWindowSize, accessPolicyMaxWindowSize),
    FIELD(ReservedSharedMemoryPerBlock, reservedSharedMemPerBlock),
    FIELD(SparseCudaArraySupported, sparseCudaArraySupported),
    FIELD(HostRegisterReadOnlySupported, hostRegisterReadOnlySupported),
    FIELD(TimelineSemaphoreInteropSupported, timelineSemaphoreInteropSupported),
    FIELD(MemoryPoolsSupported, memoryPoolsSupported),
    FIELD(GPUDirectRDMASupported, gpuDirectRDMASupported),
    FIELD(GPUDirectRDMAFlushWritesOptions, gpuDirectRDMAFlushWritesOptions),
    FIELD(GPUDirectRDMAWritesOrdering, gpuDirectRDMAWritesOrdering),
    FIELD(MemoryPoolSupportedHandleTypes, memoryPoolSupportedHandleTypes),
    FIELD(ClusterLaunch, clusterLaunch),
    FIELD(DeferredMappingCudaArraySupported, deferredMappingCudaArraySupported),
    FIELD(IpcEventSupport, ipcEventSupported),
    FIELD(NumaConfig, deviceNumaConfig),
    FIELD(NumaId, deviceNumaId),
    FIELD(MpsEnabled, mpsEnabled),
    FIELD(HostNumaId, hostNumaId),
    FIELD(HostNumaMultinodeIpcSupported, hostNumaMultinodeIpcSupported),
    FIELD(ClockRate, clockRate),
    FIELD(MemoryClockRate, memoryClockRate),
    FIELD(GpuOverlap, deviceOverlap),
    FIELD(KernelExecTimeout, kernelExecTimeoutEnabled),
    FIELD(ComputeMode, computeMode),
    FIELD(MaxTexture1DLinearWidth, maxTexture1DLinear),
    FIELD(SingleToDoublePrecisionPerfRatio, singleToDoublePrecisionPerfRatio),
};

/* Attributes without a field in cudaDeviceProp; all are 0. */
static bool is_fieldless_attribute(enum cudaDeviceAttr attr)
{
    return attr == cudaDevAttrOnlyPartialHostNativeAtomicSupported ||
           attr == cudaDevAttrCanFlushRemoteWrites;
}

static bool read_property_field(int device, enum cudaDeviceAttr attr, int *value)
{
    struct cudaDeviceProp prop;
    for (size_t i = 0; i < sizeof property_fields / sizeof property_fields[0]; i++) {
        const char *at = (const char *)&prop + property_fields[i].offset;
        if (property_fields[i].attr != attr)
            continue;
        fill_properties(&prop, device);
        *value = property_fields[i].bytes == sizeof(size_t) ? (int)*(const size_t *)(const void *)at
                                                            : *(const int *)(const void *)at;
        return true;
    }
    return false;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attr, int device)
{
    cudaError_t error = check_properties("cudaDeviceGetAttribute", value, device);
    if (error == cudaSuccess && is_fieldless_attribute(attr))
        *value = 0;
    else if (error == cudaSuccess && !read_property_field(device, attr, value))
        error = cudaErrorInvalidValue;
    return vgpu__record(error);
}
