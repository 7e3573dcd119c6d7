/* SPDX-License-Identifier: MIT
 * function.c: attributes of kernels: limits of dynamic shared memory on each device, and the number
 * of blocks that an SM holds.
 *
 * Registers are not modelled, since kernels are native code of the host: numRegs is 0 and never
 * limits occupancy.
 */
#include "work.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "occupancy.h"
#include "registration.h"

/* Values set by cudaFuncSetAttribute; -1: not set. */
struct allowance {
    const struct vgpu_host_kernel *kernel;
    _Atomic int dynamic_bytes[VGPU_MAX_DEVICES], carveout[VGPU_MAX_DEVICES];
    _Atomic int large_clusters[VGPU_MAX_DEVICES]; /* 1: allowed */
    struct allowance *next;
};

static pthread_mutex_t allowances_lock = PTHREAD_MUTEX_INITIALIZER;
static struct allowance *allowances; /* guarded by allowances_lock; entries are never removed */

static struct allowance *find_allowance(const struct vgpu_host_kernel *kernel, bool make)
{
    pthread_mutex_lock(&allowances_lock);
    struct allowance *a = allowances;
    while (a && a->kernel != kernel)
        a = a->next;
    if (!a && make && (a = malloc(sizeof *a)) != NULL) {
        a->kernel = kernel;
        for (int d = 0; d < VGPU_MAX_DEVICES; d++)
            a->dynamic_bytes[d] = a->carveout[d] = a->large_clusters[d] = -1;
        a->next = allowances;
        allowances = a;
    }
    pthread_mutex_unlock(&allowances_lock);
    return a;
}

void vgpu__functions_forget(int physical)
{
    pthread_mutex_lock(&allowances_lock);
    for (struct allowance *a = allowances; a; a = a->next)
        a->dynamic_bytes[physical] = a->carveout[physical] = a->large_clusters[physical] = -1;
    pthread_mutex_unlock(&allowances_lock);
}

bool vgpu__has_large_clusters(const struct vgpu_host_kernel *kernel)
{
    struct allowance *a = find_allowance(kernel, false);
    return a && atomic_load(&a->large_clusters[vgpu__current_physical()]) == 1;
}

size_t vgpu__dynamic_limit(const struct vgpu_host_kernel *kernel)
{
    size_t per_block = vgpu__device_info(vgpu__self.device)->shared_per_block;
    struct allowance *a = find_allowance(kernel, false);
    int set = a ? atomic_load(&a->dynamic_bytes[vgpu__current_physical()]) : -1;
    if (set >= 0)
        return (size_t)set;
    return per_block > kernel->static_shared_bytes ? per_block - kernel->static_shared_bytes : 0;
}

/* ---- attributes ---- */

static cudaError_t find_function(const char *call, const void *func,
                                 const struct vgpu_host_kernel **kernel)
{
    cudaError_t error = vgpu__enter_call(call);
    if (error == cudaSuccess && atomic_load(&vgpu__process.forked))
        error = cudaErrorInitializationError;
    if (error != cudaSuccess)
        return vgpu__record(error);
    *kernel = vgpu__find_kernel(func, NULL);
    if (*kernel)
        return cudaSuccess;
    return vgpu__refuse_kernel(call, func);
}

int vgpu__max_threads(const struct vgpu_host_kernel *kernel)
{
    uint32_t own = kernel->max_threads; /* __launch_bounds__ */
    return own && own < VGPU_BLOCK_THREADS_MAX ? (int)own : VGPU_BLOCK_THREADS_MAX;
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attr, const void *func)
{
    const struct vgpu_host_kernel *kernel;
    cudaError_t error = find_function("cudaFuncGetAttributes", func, &kernel);
    if (error == cudaSuccess && !attr)
        error = vgpu__record(cudaErrorInvalidValue);
    if (error != cudaSuccess)
        return error;
    const struct vgpu_device_info *d = vgpu__device_info(vgpu__self.device);
    const struct allowance *a = find_allowance(kernel, false);
    memset(attr, 0, sizeof *attr);
    attr->sharedSizeBytes = kernel->static_shared_bytes;
    attr->maxThreadsPerBlock = vgpu__max_threads(kernel);
    attr->ptxVersion = 90; /* vgpu-cc's __CUDA_ARCH__, whatever the GPU */
    attr->binaryVersion = d->cc_major * 10 + d->cc_minor;
    attr->maxDynamicSharedSizeBytes = (int)vgpu__dynamic_limit(kernel);
    attr->requiredClusterWidth = (int)kernel->cluster[0];
    attr->requiredClusterHeight = (int)kernel->cluster[1];
    attr->requiredClusterDepth = (int)kernel->cluster[2];
    attr->nonPortableClusterSizeAllowed = vgpu__has_large_clusters(kernel);
    attr->preferredShmemCarveout =
        a ? a->carveout[vgpu__current_physical()] : cudaSharedmemCarveoutDefault;
    return cudaSuccess;
}

static cudaError_t set_dynamic_limit(const struct vgpu_host_kernel *kernel, int value)
{
    const struct vgpu_device_info *d = vgpu__device_info(vgpu__self.device);
    size_t most = d->shared_per_block_optin - kernel->static_shared_bytes;
    if (value < 0 || kernel->static_shared_bytes > d->shared_per_block_optin ||
        (size_t)value > most)
        return vgpu__refuse(cudaErrorInvalidValue, "cudaFuncSetAttribute",
                            "kernel %s: %d bytes of dynamic shared memory, possible are 0 to %zu",
                            kernel->name, value, most);
    struct allowance *a = find_allowance(kernel, true);
    if (!a)
        return vgpu__no_memory("cudaFuncSetAttribute");
    atomic_store(&a->dynamic_bytes[vgpu__current_physical()], value);
    return cudaSuccess;
}

/* A preference without effect: there is no cache to partition. */
static cudaError_t set_carveout(const struct vgpu_host_kernel *kernel, int value)
{
    struct allowance *a = find_allowance(kernel, true);
    if (!a || value < -1 || value > 100)
        return a ? vgpu__record(cudaErrorInvalidValue) : vgpu__no_memory("cudaFuncSetAttribute");
    atomic_store(&a->carveout[vgpu__current_physical()], value);
    return cudaSuccess;
}

static cudaError_t allow_large_clusters(const struct vgpu_host_kernel *kernel, int value)
{
    struct allowance *a = find_allowance(kernel, true);
    if (!a || value < 0 || value > 1)
        return a ? vgpu__record(cudaErrorInvalidValue) : vgpu__no_memory("cudaFuncSetAttribute");
    atomic_store(&a->large_clusters[vgpu__current_physical()], value);
    return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void *func, enum cudaFuncAttribute attr, int value)
{
    const struct vgpu_host_kernel *kernel;
    cudaError_t error = find_function("cudaFuncSetAttribute", func, &kernel);
    if (error != cudaSuccess)
        return error;
    if (attr == cudaFuncAttributeMaxDynamicSharedMemorySize)
        return set_dynamic_limit(kernel, value);
    if (attr == cudaFuncAttributePreferredSharedMemoryCarveout)
        return set_carveout(kernel, value);
    if (attr == cudaFuncAttributeNonPortableClusterSizeAllowed)
        return allow_large_clusters(kernel, value);
    if ((int)attr > cudaFuncAttributePreferredSharedMemoryCarveout && attr < cudaFuncAttributeMax)
        return vgpu__refuse(
            cudaErrorNotSupported, "cudaFuncSetAttribute",
            "attribute %d: the size of a kernel's clusters is set by __cluster_dims__ or "
            "cudaLaunchAttributeClusterDimension only",
            (int)attr);
    return vgpu__record(cudaErrorInvalidValue);
}

cudaError_t cudaFuncGetName(const char **name, const void *func)
{
    const struct vgpu_host_kernel *kernel;
    cudaError_t error = find_function("cudaFuncGetName", func, &kernel);
    if (error == cudaSuccess && !name)
        error = vgpu__record(cudaErrorInvalidValue);
    if (error == cudaSuccess)
        *name = kernel->name;
    return error;
}

/* Sizes come from the kernel's table. Each parameter begins at a multiple of the largest power of
 * two that divides its size, 16 at most, which is where compilers put a parameter without an
 * alignment of its own. */
cudaError_t cudaFuncGetParamInfo(const void *func, size_t paramIndex, size_t *paramOffset,
                                 size_t *paramSize)
{
    const struct vgpu_host_kernel *kernel;
    cudaError_t error = find_function("cudaFuncGetParamInfo", func, &kernel);
    if (error != cudaSuccess)
        return error;
    if (!paramOffset || paramIndex >= kernel->param_count)
        return vgpu__record(cudaErrorInvalidValue);
    size_t at = 0;
    for (size_t i = 0; i <= paramIndex; i++) {
        size_t bytes = kernel->param_bytes[i], align = bytes & -bytes;
        align = align > 16 ? 16 : align;
        at = (at + align - 1) / align * align;
        *paramOffset = at;
        at += bytes;
    }
    if (paramSize)
        *paramSize = kernel->param_bytes[paramIndex];
    return cudaSuccess;
}

/* ---- occupancy ---- */

int vgpu__blocks_per_sm(const struct vgpu_host_kernel *kernel, size_t threads, size_t dynamic_bytes)
{
    const struct vgpu_device_info *d = vgpu__device_info(vgpu__self.device);
    const struct vgpu_sm sm = {(uint64_t)d->max_threads_per_sm, (uint64_t)d->max_blocks_per_sm,
                               d->shared_per_sm, d->cc_major};
    if (threads == 0 || threads > (size_t)vgpu__max_threads(kernel) ||
        dynamic_bytes > vgpu__dynamic_limit(kernel))
        return 0;
    return (int)vgpu_blocks_per_sm(&sm, threads, kernel->static_shared_bytes + dynamic_bytes);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, const void *func,
                                                                   int blockSize,
                                                                   size_t dynamicSMemSize,
                                                                   unsigned int flags)
{
    const struct vgpu_host_kernel *kernel;
    cudaError_t error =
        find_function("cudaOccupancyMaxActiveBlocksPerMultiprocessor", func, &kernel);
    if (error != cudaSuccess)
        return error;
    if (!numBlocks || blockSize <= 0 || (flags & ~(unsigned)cudaOccupancyDisableCachingOverride))
        return vgpu__record(cudaErrorInvalidValue);
    vgpu__used(VGPU_FEATURE_occupancy);
    *numBlocks = vgpu__blocks_per_sm(kernel, (size_t)blockSize, dynamicSMemSize);
    return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, const void *func,
                                                          int blockSize, size_t dynamicSMemSize)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        numBlocks, func, blockSize, dynamicSMemSize, cudaOccupancyDefault);
}

/* With `numBlocks` blocks on an SM, the shared memory left for each, up to the kernel's limit
 * (cudaFuncSetAttribute). */
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, const void *func,
                                                      int numBlocks, int blockSize)
{
    static const char call[] = "cudaOccupancyAvailableDynamicSMemPerBlock";
    const struct vgpu_host_kernel *kernel;
    cudaError_t error = find_function(call, func, &kernel);
    if (error != cudaSuccess)
        return error;
    if (!dynamicSmemSize || numBlocks <= 0 || blockSize <= 0)
        return vgpu__record(cudaErrorInvalidValue);
    if (vgpu__blocks_per_sm(kernel, (size_t)blockSize, 0) < numBlocks)
        return vgpu__refuse(cudaErrorInvalidValue, call,
                            "kernel %s: %d blocks of %d threads do not fit on an SM", kernel->name,
                            numBlocks, blockSize);
    const struct vgpu_device_info *d = vgpu__device_info(vgpu__self.device);
    size_t used = kernel->static_shared_bytes + vgpu_shared_reserved(d->cc_major);
    size_t share = d->shared_per_sm / (size_t)numBlocks / 128 * 128;
    size_t most = vgpu__dynamic_limit(kernel);
    size_t left = share > used ? share - used : 0;
    *dynamicSmemSize = left < most ? left : most;
    return cudaSuccess;
}
