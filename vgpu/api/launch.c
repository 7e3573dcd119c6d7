/* SPDX-License-Identifier: MIT
 * launch.c: kernel launches. k<<<grid, block, shared, stream>>>(...) pushes its configuration, the
 * stub of k pops it and calls cudaLaunchKernel with its own address, and that finds the kernel by
 * it.
 *
 * Every configuration that hardware refuses is refused with 1 (recorded on this driver, where older
 * ones said 9), a host function with 400, a cooperative grid that cannot be resident with 720.
 */
#define _GNU_SOURCE
#include "runtime.h"

#include <stdio.h>
#include <string.h>

#include "registration.h"

#define PENDING_MAX 64 /* launches inside arguments of launches */

struct configuration {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
};

static _Thread_local struct configuration pending[PENDING_MAX];
static _Thread_local int pending_count;

unsigned int vgpu_push_call(dim3 grid, dim3 block, size_t shared, cudaStream_t stream)
{
    if (pending_count == PENDING_MAX)
        return vgpu__refuse(cudaErrorLaunchOutOfResources, "kernel launch",
                            "%d launches are nested in each other's arguments", PENDING_MAX);
    pending[pending_count++] = (struct configuration){grid, block, shared, stream};
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
    return cudaSuccess;
}

/* ---- checks ---- */

struct launch {
    const char *call;
    const struct vgpu_host_kernel *kernel;
    struct configuration c;
    bool cooperative;
};

static cudaError_t refuse(const struct launch *l, const char *what, size_t got, size_t most)
{
    return vgpu__refuse(cudaErrorInvalidValue, l->call, "kernel %s: %s %zu, allowed are 1 to %zu",
                        l->kernel->name, what, got, most);
}

static cudaError_t check_shape(const struct launch *l)
{
    dim3 g = l->c.grid, b = l->c.block;
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

static cudaError_t check_resources(const struct launch *l)
{
    size_t limit = vgpu__dynamic_limit(l->kernel);
    if (l->c.shared > limit)
        return vgpu__refuse(
            cudaErrorInvalidValue, l->call,
            "kernel %s: %zu bytes of dynamic shared memory, allowed are %zu beside its own %u; "
            "cudaFuncSetAttribute with cudaFuncAttributeMaxDynamicSharedMemorySize allows more, up "
            "to what the device has",
            l->kernel->name, l->c.shared, limit, l->kernel->static_shared_bytes);
    if (!l->cooperative)
        return cudaSuccess;
    size_t threads = (size_t)l->c.block.x * l->c.block.y * l->c.block.z;
    size_t blocks = (size_t)l->c.grid.x * l->c.grid.y * l->c.grid.z;
    size_t room = (size_t)vgpu__blocks_per_sm(l->kernel, threads, l->c.shared) *
                  (size_t)vgpu__device_info(vgpu__self.device)->sm_count;
    if (blocks > room)
        return vgpu__refuse(
            cudaErrorCooperativeLaunchTooLarge, l->call,
            "kernel %s: %zu blocks of %zu threads, but the device holds %zu at once",
            l->kernel->name, blocks, threads, room);
    return cudaSuccess;
}

/* ---- the launch ---- */

/* Arguments back to back, in table order. False: they are more than a launch can carry. */
static bool pack(struct vgpu_request *request, const struct vgpu_host_kernel *kernel, void **args)
{
    size_t at = 0;
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        if (kernel->param_bytes[i] > VGPU_ARGS_MAX - at)
            return false;
        memcpy(request->data + at, args[i], kernel->param_bytes[i]);
        at += kernel->param_bytes[i];
    }
    request->data_bytes = (uint32_t)at;
    return true;
}

static cudaError_t send(const struct launch *l, uint32_t module, void **args)
{
    struct vgpu_request *request = vgpu__begin(l->kernel->name, VGPU_OP_LAUNCH);
    if (!request)
        return vgpu__failed();
    if (!pack(request, l->kernel, args))
        return vgpu__refuse(cudaErrorInvalidValue, l->call,
                            "kernel %s: its arguments take more than %d bytes", l->kernel->name,
                            VGPU_ARGS_MAX);
    const struct configuration *c = &l->c;
    request->stream = vgpu__stream_id(c->stream);
    request->u.launch = (struct vgpu_launch){
        .module = module,
        .kernel = l->kernel->ordinal,
        .grid = {c->grid.x, c->grid.y, c->grid.z},
        .block = {c->block.x, c->block.y, c->block.z},
        .shared_bytes = c->shared,
        .param_count = l->kernel->param_count,
        .args_bytes = request->data_bytes,
        .cooperative = l->cooperative,
    };
    return vgpu__end(NULL);
}

static cudaError_t launch(struct launch *l, const void *func, void **args)
{
    struct vgpu_host_module *module;
    uint32_t id;
    if (!vgpu__begin(l->call, VGPU_OP_LAUNCH))
        return vgpu__failed();
    l->kernel = vgpu__find_kernel(func, &module);
    if (!l->kernel)
        return vgpu__refuse(
            func ? cudaErrorInvalidResourceHandle : cudaErrorInvalidDeviceFunction, l->call,
            "%p is no kernel of this program; give the name of a __global__ function", func);
    cudaError_t error = check_shape(l);
    if (error == cudaSuccess)
        error = check_resources(l);
    if (error == cudaSuccess && l->kernel->param_count > 0 && !args)
        error = vgpu__record(cudaErrorInvalidValue);
    if (error == cudaSuccess)
        error = vgpu__load_module(module, l->call, &id);
    return error == cudaSuccess ? send(l, id, args) : error;
}

cudaError_t cudaLaunchKernel(const void *func, dim3 gridDim, dim3 blockDim, void **args,
                             size_t sharedMem, cudaStream_t stream)
{
    struct launch l = {"cudaLaunchKernel", NULL, {gridDim, blockDim, sharedMem, stream}, false};
    return launch(&l, func, args);
}

cudaError_t cudaLaunchCooperativeKernel(const void *func, dim3 gridDim, dim3 blockDim, void **args,
                                        size_t sharedMem, cudaStream_t stream)
{
    struct launch l = {
        "cudaLaunchCooperativeKernel", NULL, {gridDim, blockDim, sharedMem, stream}, true};
    return launch(&l, func, args);
}
