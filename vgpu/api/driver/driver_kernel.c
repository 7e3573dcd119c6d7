/* SPDX-License-Identifier: MIT
 * driver_kernel.c: kernels of the driver API, which are those that vgpu-cc compiled into the
 * program. cudaGetFuncBySymbol and cudaGetKernel return a handle, which is the address of the
 * kernel's stub.
 */
#include <stdlib.h>

#include "driver.h"
#include "registration.h"

static cudaError_t find_symbol(const char *call, void *handle, const void *symbol)
{
    if (!vgpu__find_kernel(symbol, NULL))
        return vgpu__refuse(cudaErrorInvalidDeviceFunction, call,
                            "%p is not a kernel of this program; give the name of a __global__ "
                            "function",
                            symbol);
    if (handle)
        *(const void **)handle = symbol;
    return cudaSuccess;
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t *functionPtr, const void *symbolPtr)
{
    return vgpu__begin("cudaGetFuncBySymbol", VGPU_OP_CONTEXT)
               ? find_symbol("cudaGetFuncBySymbol", functionPtr, symbolPtr)
               : vgpu__failed();
}

cudaError_t cudaGetKernel(cudaKernel_t *kernelPtr, const void *entryFuncAddr)
{
    if (!kernelPtr)
        return vgpu__record(cudaErrorInvalidValue);
    return vgpu__begin("cudaGetKernel", VGPU_OP_CONTEXT)
               ? find_symbol("cudaGetKernel", kernelPtr, entryFuncAddr)
               : vgpu__failed();
}

/* 400 if `handle` is not the handle of a kernel. */
static cudaError_t check_kernel_handle(const void *handle, const void *out)
{
    if (!vgpu__find_kernel(handle, NULL))
        return cudaErrorInvalidResourceHandle;
    return out ? cudaSuccess : cudaErrorInvalidValue;
}

static cudaError_t kernel_function(CUfunction *function, CUkernel kernel)
{
    cudaError_t error = check_kernel_handle(kernel, function);
    if (error == cudaSuccess)
        *function = (CUfunction)(void *)kernel;
    return error;
}

CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel)
{
    VGPU_DRIVER(kernel_function(function, kernel));
}

static cudaError_t kernel_name(const char **name, const void *handle)
{
    cudaError_t error = handle ? check_kernel_handle(handle, name) : cudaErrorInvalidValue;
    return error == cudaSuccess ? cudaFuncGetName(name, handle) : error;
}

CUresult cuKernelGetName(const char **name, CUkernel kernel)
{
    VGPU_DRIVER(kernel_name(name, kernel));
}

CUresult cuFuncGetName(const char **name, CUfunction function)
{
    VGPU_DRIVER(kernel_name(name, function));
}

static cudaError_t function_attribute(int *value, CUfunction_attribute which, CUfunction function)
{
    struct cudaFuncAttributes a;
    cudaError_t error = check_kernel_handle(function, value);
    if (error == cudaSuccess)
        error = cudaFuncGetAttributes(&a, function);
    if (error != cudaSuccess)
        return error;
    switch (which) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = a.maxThreadsPerBlock;
        return cudaSuccess;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *value = (int)a.sharedSizeBytes;
        return cudaSuccess;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
        *value = (int)a.constSizeBytes;
        return cudaSuccess;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        *value = (int)a.localSizeBytes;
        return cudaSuccess;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
        *value = a.numRegs;
        return cudaSuccess;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
        *value = a.ptxVersion;
        return cudaSuccess;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        *value = a.binaryVersion;
        return cudaSuccess;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = a.maxDynamicSharedSizeBytes;
        return cudaSuccess;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        *value = a.preferredShmemCarveout;
        return cudaSuccess;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        *value = 0;
        return cudaSuccess;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
        *value = a.requiredClusterWidth;
        return cudaSuccess;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
        *value = a.requiredClusterHeight;
        return cudaSuccess;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        *value = a.requiredClusterDepth;
        return cudaSuccess;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        *value = a.nonPortableClusterSizeAllowed;
        return cudaSuccess;
    default:
        return cudaErrorInvalidValue;
    }
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute which, CUfunction function)
{
    VGPU_DRIVER(function_attribute(value, which, function));
}

/* Of the current context's GPU, whichever is named: all take the same code. */
static cudaError_t kernel_attribute(int *value, CUfunction_attribute which, CUkernel kernel,
                                    CUdevice device)
{
    CUfunction function;
    if (device < 0 || device >= vgpu__process.device_count)
        return cudaErrorInvalidDevice;
    cudaError_t error = kernel_function(&function, kernel);
    return error == cudaSuccess ? function_attribute(value, which, function) : error;
}

CUresult cuKernelGetAttribute(int *value, CUfunction_attribute which, CUkernel kernel,
                              CUdevice device)
{
    VGPU_DRIVER(kernel_attribute(value, which, kernel, device));
}

static cudaError_t set_function_attribute(CUfunction function, CUfunction_attribute which,
                                          int value)
{
    cudaError_t error = check_kernel_handle(function, &value);
    return error == cudaSuccess
               ? cudaFuncSetAttribute(function, (enum cudaFuncAttribute)which, value)
               : error;
}

/* Of all GPUs, whichever is named: they take the same code. */
CUresult cuKernelSetAttribute(CUfunction_attribute which, int value, CUkernel kernel,
                              CUdevice device)
{
    VGPU_DRIVER(device < 0 || device >= vgpu__process.device_count
                    ? cudaErrorInvalidDevice
                    : set_function_attribute((CUfunction)(void *)kernel, which, value));
}

static cudaError_t parameter_info(const void *kernel, size_t index, size_t *offset, size_t *bytes)
{
    cudaError_t error = check_kernel_handle(kernel, offset);
    return error == cudaSuccess ? cudaFuncGetParamInfo(kernel, index, offset, bytes) : error;
}

CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t *offset, size_t *bytes)
{
    VGPU_DRIVER(parameter_info(kernel, index, offset, bytes));
}

CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *bytes)
{
    VGPU_DRIVER(parameter_info(function, index, offset, bytes));
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute which, int value)
{
    VGPU_DRIVER(set_function_attribute(function, which, value));
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads,
                                                     size_t shared)
{
    VGPU_DRIVER(
        check_kernel_handle(function, &threads) == cudaSuccess
            ? cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared)
            : cudaErrorInvalidResourceHandle);
}

static cudaError_t active_blocks(int *blocks, CUfunction function, int threads, size_t shared,
                                 unsigned int flags)
{
    cudaError_t error = check_kernel_handle(function, blocks);
    return error != cudaSuccess ? error
                                : cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
                                      blocks, function, threads, shared, flags);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction function,
                                                              int threads, size_t shared,
                                                              unsigned int flags)
{
    VGPU_DRIVER(active_blocks(blocks, function, threads, shared, flags));
}

struct block_question {
    CUfunction function;
    CUoccupancyB2DSize shared_of; /* may be null */
    size_t shared;
    int limit; /* 0: none */
    unsigned int flags;
};

/* Of blocks of whole warps, the largest first, the one with which most threads are active. */
static cudaError_t search_block(const struct block_question *q, int first, int *active,
                                int *threads)
{
    cudaError_t error = cudaSuccess;
    *active = *threads = 0;
    for (int n = first; n > 0 && error == cudaSuccess; n = (n - 1) / 32 * 32) {
        int here = 0;
        error = active_blocks(&here, q->function, n, q->shared_of ? q->shared_of(n) : q->shared,
                              q->flags);
        if (error == cudaSuccess && here * n > *active * *threads) {
            *active = here;
            *threads = n;
        }
    }
    return error;
}

static cudaError_t best_block(int *blocks, int *threads, struct block_question q)
{
    struct cudaFuncAttributes a;
    int device = 0, processors = 0, active;
    cudaError_t error = blocks ? check_kernel_handle(q.function, threads) : cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = cudaFuncGetAttributes(&a, q.function);
    if (error == cudaSuccess)
        error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (error != cudaSuccess)
        return error;
    bool limited = q.limit > 0 && q.limit < a.maxThreadsPerBlock;
    error = search_block(&q, limited ? q.limit : a.maxThreadsPerBlock, &active, threads);
    *blocks = active * processors;
    return error;
}

CUresult cuOccupancyMaxPotentialBlockSize(int *blocks, int *threads, CUfunction function,
                                          CUoccupancyB2DSize sharedOf, size_t shared, int limit)
{
    VGPU_DRIVER(
        best_block(blocks, threads, (struct block_question){function, sharedOf, shared, limit, 0}));
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *blocks, int *threads, CUfunction function,
                                                   CUoccupancyB2DSize sharedOf, size_t shared,
                                                   int limit, unsigned int flags)
{
    VGPU_DRIVER(best_block(blocks, threads,
                           (struct block_question){function, sharedOf, shared, limit, flags}));
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, CUfunction function, int blocks,
                                                 int threads)
{
    VGPU_DRIVER(check_kernel_handle(function, &blocks) == cudaSuccess
                    ? cudaOccupancyAvailableDynamicSMemPerBlock(bytes, function, blocks, threads)
                    : cudaErrorInvalidResourceHandle);
}

/* ---- launches ---- */

/* The argument buffer that `extra` contains; NULL if there is none. */
static char *packed_arguments(void **extra)
{
    char *buffer = NULL;
    for (; extra && extra[0] != CU_LAUNCH_PARAM_END; extra += 2)
        if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = extra[1];
    return buffer;
}

_Static_assert(sizeof(CUlaunchAttribute) == sizeof(cudaLaunchAttribute), "they are the same");

static cudaError_t launch_configured(CUfunction function, const cudaLaunchConfig_t *config,
                                     void **args)
{
    return config->numAttrs ? cudaLaunchKernelExC(config, function, args)
                            : cudaLaunchKernel(function, config->gridDim, config->blockDim, args,
                                               config->dynamicSmemBytes, config->stream);
}

/* A list of arguments in one buffer, at the offsets that cudaFuncGetParamInfo returns. The size
 * given for the buffer is ignored, as on hardware (recorded). */
static cudaError_t unpack_arguments(CUfunction function, char *buffer, void ***made)
{
    const struct vgpu_host_kernel *kernel = vgpu__find_kernel(function, NULL);
    void **args = *made = calloc(kernel->param_count + 1, sizeof *args);
    if (!args)
        return vgpu__no_memory("cuLaunchKernel");
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < kernel->param_count && error == cudaSuccess; i++) {
        size_t offset = 0;
        error = cudaFuncGetParamInfo(function, i, &offset, NULL);
        args[i] = buffer + offset;
    }
    return error;
}

cudaError_t vgpu__driver_arguments(CUfunction function, void **args, void **extra, void ***out,
                                   void ***made)
{
    *made = NULL;
    if (check_kernel_handle(function, out) != cudaSuccess)
        return cudaErrorInvalidResourceHandle;
    char *buffer = packed_arguments(extra);
    if (buffer && args)
        return cudaErrorInvalidValue;
    cudaError_t error = buffer ? unpack_arguments(function, buffer, made) : cudaSuccess;
    *out = buffer ? *made : args;
    return error;
}

static cudaError_t launch_function(CUfunction function, const cudaLaunchConfig_t *config,
                                   void **args, void **extra)
{
    void **list, **made;
    cudaError_t error = vgpu__driver_arguments(function, args, extra, &list, &made);
    if (error == cudaSuccess)
        error = launch_configured(function, config, list);
    free(made);
    return error;
}

CUresult cuLaunchKernel(CUfunction function, unsigned int gridX, unsigned int gridY,
                        unsigned int gridZ, unsigned int blockX, unsigned int blockY,
                        unsigned int blockZ, unsigned int shared, CUstream stream, void **args,
                        void **extra)
{
    const cudaLaunchConfig_t config = {.gridDim = {gridX, gridY, gridZ},
                                       .blockDim = {blockX, blockY, blockZ},
                                       .dynamicSmemBytes = shared,
                                       .stream = stream};
    VGPU_DRIVER(launch_function(function, &config, args, extra));
}

static cudaError_t take_config(const CUlaunchConfig *c, cudaLaunchConfig_t *out)
{
    if (!c || (c->numAttrs && !c->attrs))
        return cudaErrorInvalidValue;
    *out = (cudaLaunchConfig_t){.gridDim = {c->gridDimX, c->gridDimY, c->gridDimZ},
                                .blockDim = {c->blockDimX, c->blockDimY, c->blockDimZ},
                                .dynamicSmemBytes = c->sharedMemBytes,
                                .stream = c->hStream,
                                .attrs = (cudaLaunchAttribute *)(void *)c->attrs,
                                .numAttrs = c->numAttrs};
    return cudaSuccess;
}

static cudaError_t launch_by(const CUlaunchConfig *c, CUfunction function, void **args,
                             void **extra)
{
    cudaLaunchConfig_t config;
    cudaError_t error = take_config(c, &config);
    return error == cudaSuccess ? launch_function(function, &config, args, extra) : error;
}

static cudaError_t potential_cluster(int *size, CUfunction function, const CUlaunchConfig *c)
{
    cudaLaunchConfig_t config;
    cudaError_t error = check_kernel_handle(function, size);
    if (error == cudaSuccess)
        error = take_config(c, &config);
    return error == cudaSuccess ? cudaOccupancyMaxPotentialClusterSize(size, function, &config)
                                : error;
}

CUresult cuOccupancyMaxPotentialClusterSize(int *size, CUfunction function,
                                            const CUlaunchConfig *config)
{
    VGPU_DRIVER(potential_cluster(size, function, config));
}

static cudaError_t active_clusters(int *clusters, CUfunction function, const CUlaunchConfig *c)
{
    cudaLaunchConfig_t config;
    cudaError_t error = check_kernel_handle(function, clusters);
    if (error == cudaSuccess)
        error = take_config(c, &config);
    return error == cudaSuccess ? cudaOccupancyMaxActiveClusters(clusters, function, &config)
                                : error;
}

CUresult cuOccupancyMaxActiveClusters(int *clusters, CUfunction function,
                                      const CUlaunchConfig *config)
{
    VGPU_DRIVER(active_clusters(clusters, function, config));
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **args,
                          void **extra)
{
    VGPU_DRIVER(launch_by(config, function, args, extra));
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned int gridX, unsigned int gridY,
                                   unsigned int gridZ, unsigned int blockX, unsigned int blockY,
                                   unsigned int blockZ, unsigned int shared, CUstream stream,
                                   void **args)
{
    VGPU_DRIVER(check_kernel_handle(function, &shared) == cudaSuccess
                    ? cudaLaunchCooperativeKernel(function, (dim3){gridX, gridY, gridZ},
                                                  (dim3){blockX, blockY, blockZ}, args, shared,
                                                  stream)
                    : cudaErrorInvalidResourceHandle);
}
