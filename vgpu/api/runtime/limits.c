/* SPDX-License-Identifier: MIT
 * limits.c: cudaDeviceGetLimit, cudaDeviceSetLimit and the cache preferences. Limits are stored and
 * have no effect: fibers have stacks of a fixed size, and printf loses no output. The initial
 * values are recorded ones.
 */
#include "runtime.h"

#define LIMITS (cudaLimitMallocHeapSize + 1)

static const size_t initial_limits[LIMITS] = {
    [cudaLimitStackSize] = 1024,
    [cudaLimitPrintfFifoSize] = 8650752,
    [cudaLimitMallocHeapSize] = 8 << 20,
};

/* The value that a program set, plus one; 0: not set. */
static _Atomic size_t limits_set[VGPU_MAX_DEVICES][LIMITS];
static _Atomic(enum cudaFuncCache) cache_config[VGPU_MAX_DEVICES];

/* Launches from device code and persisting L2 cache are not modelled; their limits are unsupported.
 */
static cudaError_t check_limit(enum cudaLimit limit)
{
    if ((int)limit < 0 || limit > cudaLimitPersistingL2CacheSize)
        return cudaErrorInvalidValue;
    return (int)limit < (int)LIMITS ? cudaSuccess : cudaErrorUnsupportedLimit;
}

void vgpu__limits_forget(int physical)
{
    for (int i = 0; i < (int)LIMITS; i++)
        atomic_store(&limits_set[physical][i], 0);
    atomic_store(&cache_config[physical], cudaFuncCachePreferNone);
}

/* Limits belong to the context, and a forked child has none. */
static cudaError_t enter_context(const char *call)
{
    cudaError_t error = vgpu__enter_call(call);
    if (error == cudaSuccess && atomic_load(&vgpu__process.forked))
        error = cudaErrorInitializationError;
    return error;
}

cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit)
{
    cudaError_t error = enter_context(__func__);
    if (error == cudaSuccess && !value)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = check_limit(limit);
    if (error != cudaSuccess)
        return vgpu__record(error);
    size_t set = atomic_load(&limits_set[vgpu__current_physical()][limit]);
    *value = set ? set - 1 : initial_limits[limit];
    return cudaSuccess;
}

cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    cudaError_t error = enter_context(__func__);
    if (error == cudaSuccess)
        error = check_limit(limit);
    if (error == cudaSuccess)
        atomic_store(&limits_set[vgpu__current_physical()][limit], value + 1);
    return vgpu__record(error);
}

static bool known_config(enum cudaFuncCache config)
{
    return (int)config >= cudaFuncCachePreferNone && (int)config <= cudaFuncCachePreferEqual;
}

cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *config)
{
    cudaError_t error = enter_context(__func__);
    if (error == cudaSuccess && !config)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        *config = atomic_load(&cache_config[vgpu__current_physical()]);
    return vgpu__record(error);
}

/* The preference has no effect: there is no cache to partition. */
cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config)
{
    cudaError_t error = enter_context(__func__);
    if (error == cudaSuccess && !known_config(config))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        atomic_store(&cache_config[vgpu__current_physical()], config);
    vgpu__used(VGPU_FEATURE_hints);
    return vgpu__record(error);
}

/* Of a kernel: a hint without effect. */
static cudaError_t hint_kernel(const char *call, const void *func, bool known)
{
    cudaError_t error = enter_context(call);
    if (error == cudaSuccess && !vgpu__find_kernel(func, NULL))
        error = func ? cudaErrorInvalidResourceHandle : cudaErrorInvalidDeviceFunction;
    if (error == cudaSuccess && !known)
        error = cudaErrorInvalidValue;
    vgpu__used(VGPU_FEATURE_hints);
    return vgpu__record(error);
}

cudaError_t cudaFuncSetCacheConfig(const void *func, enum cudaFuncCache cacheConfig)
{
    return hint_kernel(__func__, func, known_config(cacheConfig));
}

/* ---- banks of shared memory: 4 bytes wide, whatever is set
 * (tests/recorded/hgx-h200-1/shared_config.txt) ---- */

static bool known_banks(enum cudaSharedMemConfig config)
{
    return (int)config >= cudaSharedMemBankSizeDefault &&
           (int)config <= cudaSharedMemBankSizeEightByte;
}

cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *pConfig)
{
    cudaError_t error = enter_context(__func__);
    if (error == cudaSuccess && !pConfig)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        *pConfig = cudaSharedMemBankSizeFourByte;
    return vgpu__record(error);
}

cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config)
{
    cudaError_t error = enter_context(__func__);
    if (error == cudaSuccess && !known_banks(config))
        error = cudaErrorInvalidValue;
    vgpu__used(VGPU_FEATURE_hints);
    return vgpu__record(error);
}

cudaError_t cudaFuncSetSharedMemConfig(const void *func, enum cudaSharedMemConfig config)
{
    return hint_kernel(__func__, func, known_banks(config));
}
