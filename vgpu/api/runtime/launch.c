/* SPDX-License-Identifier: MIT
 * launch.c: kernel launches. k<<<grid, block, shared, stream>>>(...) pushes its configuration; the
 * stub of k pops it and calls cudaLaunchKernel with the stub's own address, by which the kernel is
 * found.
 *
 * A configuration that hardware refuses is refused with 1 (recorded on this driver; older drivers
 * returned 9), a host function with 400, a cooperative grid that cannot be resident with 720.
 */
#include "runtime.h"

#include "registration.h"

/* The greatest depth of launches in arguments of other launches. */
#define PENDING_MAX 64

struct configuration {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
    uint64_t at; /* return address of the <<<>>> call */
};

static _Thread_local struct configuration pending_launches[PENDING_MAX];
static _Thread_local int pending_count;
/* Clang's stubs launch even so; that of nvcc does not. */
static _Thread_local bool called_like_function;

unsigned int vgpu_push_call(dim3 grid, dim3 block, size_t shared, cudaStream_t stream)
{
    if (pending_count == PENDING_MAX)
        return vgpu__refuse(cudaErrorLaunchOutOfResources, "kernel launch",
                            "%d launches are nested in each other's arguments", PENDING_MAX);
    pending_launches[pending_count++] =
        (struct configuration){grid, block, shared, stream, vgpu__caller()};
    return cudaSuccess;
}

cudaError_t vgpu_pop_call(dim3 *grid, dim3 *block, size_t *shared, cudaStream_t *stream)
{
    called_like_function = pending_count == 0;
    if (called_like_function) {
        *grid = *block = (dim3){0, 0, 0};
        *shared = 0;
        *stream = NULL;
        return vgpu__refuse(
            cudaErrorMissingConfiguration, "kernel launch",
            "a kernel was called like a function; launch it with <<<grid, block>>>");
    }
    const struct configuration *top = &pending_launches[--pending_count];
    *grid = top->grid;
    *block = top->block;
    *shared = top->shared;
    *stream = top->stream;
    vgpu__self.launched_at = top->at;
    return cudaSuccess;
}

static cudaError_t launch_symbol(struct vgpu__launch *l, const void *func, void **args,
                                 cudaStream_t stream)
{
    if (!vgpu__admit(l->call, VGPU_OP_LAUNCH))
        return vgpu__failed();
    l->collective = vgpu__self.collective;
    vgpu__self.collective = (struct vgpu_collective){0};
    vgpu__self.unchecked.launches++;
    vgpu__self.unchecked.kernel = NULL; /* unknown until vgpu__launch_check has found it */
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
        error = vgpu__launch_pack(&node->u.kernel, args);
        if (error != cudaSuccess)
            vgpu__capture_spoil(stream);
        return error;
    }
    return vgpu__launch_now(l, args, stream);
}

cudaError_t cudaLaunchKernel(const void *func, dim3 gridDim, dim3 blockDim, void **args,
                             size_t sharedMem, cudaStream_t stream)
{
    if (called_like_function && gridDim.x == 0)
        return cudaErrorMissingConfiguration;
    struct vgpu__launch l = {
        .call = "cudaLaunchKernel", .grid = gridDim, .block = blockDim, .shared = sharedMem};
    cudaError_t error = launch_symbol(&l, func, args, stream);
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
    return launch_symbol(&l, func, args, stream);
}

/* ---- launches with a configuration structure ---- */

/* Applies a launch attribute to `l`. Hints are ignored; attributes that are not modelled are
 * refused. */
cudaError_t vgpu__launch_attribute(struct vgpu__launch *l, const cudaLaunchAttribute *a)
{
    const cudaLaunchAttributeValue *v = &a->val;
    switch (a->id) {
    case cudaLaunchAttributeCooperative:
        l->cooperative = v->cooperative != 0;
        return cudaSuccess;
    case cudaLaunchAttributeClusterDimension:
        l->cluster = (dim3){v->clusterDim.x, v->clusterDim.y, v->clusterDim.z};
        return cudaSuccess;
    case cudaLaunchAttributeProgrammaticEvent:
    case cudaLaunchAttributeLaunchCompletionEvent:
    case cudaLaunchAttributeDeviceUpdatableKernelNode:
        break;
    /* Includes programmatic stream serialization: it permits an earlier start but does not demand
     * it. */
    default:
        if ((int)a->id >= cudaLaunchAttributeIgnore &&
            a->id <= cudaLaunchAttributeNvlinkUtilCentricScheduling)
            return cudaSuccess;
        return vgpu__refuse(cudaErrorInvalidValue, l->call, "there is no launch attribute %d",
                            (int)a->id);
    }
    return vgpu__refuse(cudaErrorNotSupported, l->call,
                        "launch attribute %d (programmatic events) is not modelled", (int)a->id);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *func, void **args)
{
    struct vgpu__launch l = {.call = "cudaLaunchKernelExC"};
    cudaError_t error = cudaSuccess;
    /* An error in `func` takes precedence over errors in the attributes. */
    bool is_kernel = func && vgpu__find_kernel(func, NULL);
    if (!config || (is_kernel && config->numAttrs && !config->attrs))
        return vgpu__refuse(cudaErrorInvalidValue, l.call,
                            "the configuration, or the list of its attributes, is a null pointer");
    l.grid = config->gridDim;
    l.block = config->blockDim;
    l.shared = config->dynamicSmemBytes;
    for (unsigned int i = 0; is_kernel && error == cudaSuccess && i < config->numAttrs; i++)
        error = vgpu__launch_attribute(&l, &config->attrs[i]);
    return error == cudaSuccess ? launch_symbol(&l, func, args, config->stream) : error;
}
