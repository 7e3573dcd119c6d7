/* SPDX-License-Identifier: MIT
 * launch.c: kernel launches. k<<<grid, block, shared, stream>>>(...) pushes its configuration, the
 * stub of k pops it and calls cudaLaunchKernel with its own address, and that finds the kernel by
 * it.
 *
 * Every configuration that hardware refuses is refused with 1 (recorded on this driver, where older
 * ones said 9), a host function with 400, a cooperative grid that cannot be resident with 720.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph.h"

#include "registration.h"

#define PENDING_MAX 64 /* launches inside arguments of launches */

struct configuration {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
    uint64_t at; /* the line with <<<>>> */
};

static _Thread_local struct configuration pending[PENDING_MAX];
static _Thread_local int pending_count;

unsigned int vgpu_push_call(dim3 grid, dim3 block, size_t shared, cudaStream_t stream)
{
    if (pending_count == PENDING_MAX)
        return vgpu__refuse(cudaErrorLaunchOutOfResources, "kernel launch",
                            "%d launches are nested in each other's arguments", PENDING_MAX);
    pending[pending_count++] = (struct configuration){
        grid, block, shared, stream, (uint64_t)(uintptr_t)__builtin_return_address(0)};
    return cudaSuccess;
}

cudaError_t vgpu_pop_call(dim3 *grid, dim3 *block, size_t *shared, cudaStream_t *stream)
{
    if (pending_count == 0)
        return vgpu__refuse(
            cudaErrorMissingConfiguration, "kernel launch",
            "a kernel was called like a function; launch it with <<<grid, block>>>");
    const struct configuration *top = &pending[--pending_count];
    *grid = top->grid;
    *block = top->block;
    *shared = top->shared;
    *stream = top->stream;
    vgpu__self.launched_at = top->at;
    return cudaSuccess;
}

/* ---- checks ---- */

static cudaError_t refuse(const struct vgpu__launch *l, const char *what, size_t got, size_t most)
{
    return vgpu__refuse(cudaErrorInvalidValue, l->call, "kernel %s: %s %zu, allowed are 1 to %zu",
                        l->kernel->name, what, got, most);
}

static cudaError_t check_shape(const struct vgpu__launch *l)
{
    dim3 g = l->grid, b = l->block;
    size_t threads = (size_t)b.x * b.y * b.z;
    size_t most =
        l->kernel->max_threads && l->kernel->max_threads < 1024 ? l->kernel->max_threads : 1024;
    if (g.x == 0 || g.x > 2147483647u)
        return refuse(l, "gridDim.x is", g.x, 2147483647u);
    if (g.y == 0 || g.y > 65535)
        return refuse(l, "gridDim.y is", g.y, 65535);
    if (g.z == 0 || g.z > 65535)
        return refuse(l, "gridDim.z is", g.z, 65535);
    if (b.x == 0 || b.x > 1024)
        return refuse(l, "blockDim.x is", b.x, 1024);
    if (b.y == 0 || b.y > 1024)
        return refuse(l, "blockDim.y is", b.y, 1024);
    if (b.z == 0 || b.z > 64)
        return refuse(l, "blockDim.z is", b.z, 64);
    if (threads > most)
        return refuse(l, "threads in a block are", threads, most);
    return cudaSuccess;
}

static cudaError_t check_resources(const struct vgpu__launch *l)
{
    size_t limit = vgpu__dynamic_limit(l->kernel);
    if (l->shared > limit)
        return vgpu__refuse(
            cudaErrorInvalidValue, l->call,
            "kernel %s: %zu bytes of dynamic shared memory, allowed are %zu beside its own %u; "
            "cudaFuncSetAttribute with cudaFuncAttributeMaxDynamicSharedMemorySize allows more, up "
            "to what the device has",
            l->kernel->name, l->shared, limit, l->kernel->static_shared_bytes);
    if (!l->cooperative)
        return cudaSuccess;
    size_t threads = (size_t)l->block.x * l->block.y * l->block.z;
    size_t blocks = (size_t)l->grid.x * l->grid.y * l->grid.z;
    size_t room = (size_t)vgpu__blocks_per_sm(l->kernel, threads, l->shared) *
                  (size_t)vgpu__device_info(vgpu__self.device)->sm_count;
    if (blocks > room)
        return vgpu__refuse(
            cudaErrorCooperativeLaunchTooLarge, l->call,
            "kernel %s: %zu blocks of %zu threads, but the device holds %zu at once",
            l->kernel->name, blocks, threads, room);
    return cudaSuccess;
}

/* ---- the launch ---- */

cudaError_t vgpu__launch_check(struct vgpu__launch *l, const void *func, void **args)
{
    l->kernel = vgpu__find_kernel(func, &l->module);
    if (!l->kernel)
        return vgpu__refuse(
            func ? cudaErrorInvalidResourceHandle : cudaErrorInvalidDeviceFunction, l->call,
            "%p is no kernel of this program; give the name of a __global__ function", func);
    cudaError_t error = check_shape(l);
    if (error == cudaSuccess)
        error = check_resources(l);
    if (error == cudaSuccess && l->kernel->param_count > 0 && !args)
        error = vgpu__record(cudaErrorInvalidValue);
    return error;
}

/* Arguments back to back, in table order. False: they are more than a launch can carry. */
static bool pack(unsigned char *to, uint32_t *bytes, const struct vgpu_host_kernel *kernel,
                 void **args)
{
    size_t at = 0;
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        if (kernel->param_bytes[i] > VGPU_ARGS_MAX - at)
            return false;
        memcpy(to + at, args[i], kernel->param_bytes[i]);
        at += kernel->param_bytes[i];
    }
    *bytes = (uint32_t)at;
    return true;
}

static cudaError_t too_long(const struct vgpu__launch *l)
{
    return vgpu__refuse(cudaErrorInvalidValue, l->call,
                        "kernel %s: its arguments take more than %d bytes", l->kernel->name,
                        VGPU_ARGS_MAX);
}

cudaError_t vgpu__launch_pack(struct vgpu__launch *l, void **args)
{
    l->args = malloc(VGPU_ARGS_MAX);
    if (!l->args)
        return vgpu__record(cudaErrorMemoryAllocation);
    return pack(l->args, &l->args_bytes, l->kernel, args) ? cudaSuccess : too_long(l);
}

void vgpu__launch_drop(struct vgpu__launch *l)
{
    free(l->args);
    l->args = NULL;
}

/* The thread's request for the launch; its arguments are still missing. NULL: see vgpu__failed. */
static struct vgpu_request *request_of(const struct vgpu__launch *l, cudaStream_t stream)
{
    uint32_t id;
    if (vgpu__load_image(l->module, l->call, &id) != cudaSuccess)
        return NULL;
    struct vgpu_request *request = vgpu__begin(l->kernel->name, VGPU_OP_LAUNCH);
    if (!request)
        return NULL;
    request->stream = vgpu__stream_id(stream);
    request->u.launch = (struct vgpu_launch){
        .module = id,
        .kernel = l->module->part->first_kernel + l->kernel->ordinal,
        .grid = {l->grid.x, l->grid.y, l->grid.z},
        .block = {l->block.x, l->block.y, l->block.z},
        .shared_bytes = l->shared,
        .param_count = l->kernel->param_count,
        .cooperative = l->cooperative,
    };
    return request;
}

static cudaError_t send(struct vgpu_request *request)
{
    request->u.launch.args_bytes = request->data_bytes;
    return vgpu__end(NULL);
}

cudaError_t vgpu__launch_send(const struct vgpu__launch *l, cudaStream_t stream)
{
    struct vgpu_request *request = request_of(l, stream);
    if (!request)
        return vgpu__failed();
    memcpy(request->data, l->args, l->args_bytes);
    request->data_bytes = l->args_bytes;
    return send(request);
}

static cudaError_t launch(struct vgpu__launch *l, const void *func, void **args,
                          cudaStream_t stream)
{
    if (!vgpu__begin(l->call, VGPU_OP_LAUNCH))
        return vgpu__failed();
    vgpu__self.blame.launches++;
    cudaError_t error = vgpu__launch_check(l, func, args);
    if (error != cudaSuccess) {
        vgpu__capture_spoil(stream);
        return error;
    }
    struct CUgraphNode_st *node = vgpu__capture(l->call, stream, cudaGraphNodeTypeKernel, &error);
    if (error != cudaSuccess)
        return error;
    if (node) {
        node->u.kernel = *l;
        return vgpu__launch_pack(&node->u.kernel, args);
    }
    struct vgpu_request *request = request_of(l, stream);
    if (!request)
        return vgpu__failed();
    return pack(request->data, &request->data_bytes, l->kernel, args) ? send(request) : too_long(l);
}

cudaError_t cudaLaunchKernel(const void *func, dim3 gridDim, dim3 blockDim, void **args,
                             size_t sharedMem, cudaStream_t stream)
{
    struct vgpu__launch l = {
        .call = "cudaLaunchKernel", .grid = gridDim, .block = blockDim, .shared = sharedMem};
    cudaError_t error = launch(&l, func, args, stream);
    vgpu__self.launched_at = 0;
    return error;
}

cudaError_t cudaLaunchCooperativeKernel(const void *func, dim3 gridDim, dim3 blockDim, void **args,
                                        size_t sharedMem, cudaStream_t stream)
{
    struct vgpu__launch l = {.call = "cudaLaunchCooperativeKernel",
                             .grid = gridDim,
                             .block = blockDim,
                             .shared = sharedMem,
                             .cooperative = true};
    return launch(&l, func, args, stream);
}

/* ---- by a configuration ---- */

/* What the attribute asks for: the launch itself, nothing (hints), or what is not modelled. */
static cudaError_t take(struct vgpu__launch *l, const cudaLaunchAttribute *a)
{
    const cudaLaunchAttributeValue *v = &a->val;
    switch (a->id) {
    case cudaLaunchAttributeCooperative:
        l->cooperative = v->cooperative != 0;
        return cudaSuccess;
    case cudaLaunchAttributeClusterDimension:
        if (v->clusterDim.x * v->clusterDim.y * v->clusterDim.z <= 1)
            return cudaSuccess;
        break;
    case cudaLaunchAttributeProgrammaticEvent:
    case cudaLaunchAttributeLaunchCompletionEvent:
    case cudaLaunchAttributeDeviceUpdatableKernelNode:
        break;
    default: /* an earlier start than the stream's order allows is a hint, too */
        if ((int)a->id >= cudaLaunchAttributeIgnore &&
            a->id <= cudaLaunchAttributeNvlinkUtilCentricScheduling)
            return cudaSuccess;
        return vgpu__refuse(cudaErrorInvalidValue, l->call, "there is no launch attribute %d",
                            (int)a->id);
    }
    return vgpu__refuse(cudaErrorNotSupported, l->call,
                        "launch attribute %d (clusters, programmatic events) is not modelled",
                        (int)a->id);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *func, void **args)
{
    struct vgpu__launch l = {.call = "cudaLaunchKernelExC"};
    cudaError_t error = cudaSuccess;
    bool is_kernel = func && vgpu__find_kernel(func, NULL); /* what it is not counts first */
    if (!config || (is_kernel && config->numAttrs && !config->attrs))
        return vgpu__refuse(cudaErrorInvalidValue, l.call, "no configuration, or no attributes");
    l.grid = config->gridDim;
    l.block = config->blockDim;
    l.shared = config->dynamicSmemBytes;
    for (unsigned int i = 0; is_kernel && error == cudaSuccess && i < config->numAttrs; i++)
        error = take(&l, &config->attrs[i]);
    return error == cudaSuccess ? launch(&l, func, args, config->stream) : error;
}
