/* SPDX-License-Identifier: MIT
 * kernel_launch.c: launches: checked, packed and sent to the node. See kernel_launch.h.
 *
 * A configuration that hardware refuses is refused with 1 (recorded on this driver; older drivers
 * returned 9), a host function with 400, a cooperative grid that cannot be resident with 720.
 */
#include "kernel_launch.h"

#include <stdlib.h>
#include <string.h>

#include "launch_limits.h"
#include "registration.h"
#include "work.h"

/* ---- checks ---- */

static cudaError_t refuse_launch(const struct vgpu__launch *l, const char *what, size_t got,
                                 size_t most)
{
    return vgpu__refuse(cudaErrorInvalidValue, l->call, "kernel %s: %s %zu, allowed are 1 to %zu",
                        l->kernel->name, what, got, most);
}

static cudaError_t check_shape(const struct vgpu__launch *l)
{
    dim3 g = l->grid, b = l->block;
    size_t threads = (size_t)b.x * b.y * b.z;
    size_t most = (size_t)vgpu__max_threads(l->kernel);
    if (g.x == 0 || g.x > VGPU_GRID_X_MAX)
        return refuse_launch(l, "gridDim.x is", g.x, VGPU_GRID_X_MAX);
    if (g.y == 0 || g.y > VGPU_GRID_Y_MAX)
        return refuse_launch(l, "gridDim.y is", g.y, VGPU_GRID_Y_MAX);
    if (g.z == 0 || g.z > VGPU_GRID_Z_MAX)
        return refuse_launch(l, "gridDim.z is", g.z, VGPU_GRID_Z_MAX);
    if (b.x == 0 || b.x > VGPU_BLOCK_X_MAX)
        return refuse_launch(l, "blockDim.x is", b.x, VGPU_BLOCK_X_MAX);
    if (b.y == 0 || b.y > VGPU_BLOCK_Y_MAX)
        return refuse_launch(l, "blockDim.y is", b.y, VGPU_BLOCK_Y_MAX);
    if (b.z == 0 || b.z > VGPU_BLOCK_Z_MAX)
        return refuse_launch(l, "blockDim.z is", b.z, VGPU_BLOCK_Z_MAX);
    if (threads > most)
        return refuse_launch(l, "threads in a block are", threads, most);
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

static cudaError_t refuse_cluster(const struct vgpu__launch *l, const char *why)
{
    return vgpu__refuse(cudaErrorInvalidClusterSize, l->call,
                        "kernel %s: clusters of (%u,%u,%u) blocks, a grid of (%u,%u,%u): %s",
                        l->kernel->name, l->cluster.x, l->cluster.y, l->cluster.z, l->grid.x,
                        l->grid.y, l->grid.z, why);
}

/* The cluster's size is the kernel's (__cluster_dims__) or the launch attribute's, or one block. */
static cudaError_t check_cluster(struct vgpu__launch *l)
{
    const uint32_t *own = l->kernel->cluster;
    dim3 c = l->cluster;
    bool given = c.x || c.y || c.z;
    if (own[0] || own[1] || own[2]) {
        if (given && (c.x != own[0] || c.y != own[1] || c.z != own[2]))
            return refuse_cluster(l, "the kernel's __cluster_dims__ differ from these");
        l->cluster = c = (dim3){own[0], own[1], own[2]};
    } else if (!given) {
        l->cluster = (dim3){1, 1, 1};
        return cudaSuccess;
    }
    const uint32_t size[3] = {c.x, c.y, c.z}, grid[3] = {l->grid.x, l->grid.y, l->grid.z};
    uint64_t blocks = (uint64_t)c.x * c.y * c.z;
    if (blocks == 0 || !vgpu_cluster_fits(size, grid))
        return refuse_cluster(l,
                              "a cluster has at most 16 blocks, and its sizes divide the grid's");
    if (blocks > VGPU_CLUSTER_BLOCKS_PORTABLE && !vgpu__has_large_clusters(l->kernel))
        return refuse_cluster(l, "more than 8 blocks need cudaFuncSetAttribute with "
                                 "cudaFuncAttributeNonPortableClusterSizeAllowed");
    if (blocks > 1 && vgpu__device_info(vgpu__self.device)->cc_major < 9)
        return refuse_cluster(l, "this GPU has none: clusters need compute capability 9.0");
    return cudaSuccess;
}

/* ---- the launch ---- */

_Static_assert(sizeof(struct vgpu_request) + VGPU_ARGS_MAX <= VGPU_MSG_MAX, "a launch fits");

cudaError_t vgpu__launch_check(struct vgpu__launch *l, const void *func, void **args)
{
    l->kernel = vgpu__find_kernel(func, &l->module);
    if (!l->kernel)
        return vgpu__refuse_kernel(l->call, func);
    vgpu__self.unchecked.kernel = l->kernel->name;
    cudaError_t error = check_shape(l);
    if (error == cudaSuccess)
        error = check_cluster(l);
    if (error == cudaSuccess)
        error = check_resources(l);
    if (error == cudaSuccess && l->kernel->param_count > 0 && !args)
        error = vgpu__record(cudaErrorInvalidValue);
    return error;
}

/* Stores the arguments back to back, in the order of the parameters. False: they exceed
 * VGPU_ARGS_MAX. */
static bool pack_arguments(unsigned char *to, uint32_t *bytes,
                           const struct vgpu_host_kernel *kernel, void **args)
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

static cudaError_t refuse_long_arguments(const struct vgpu__launch *l)
{
    return vgpu__refuse(cudaErrorInvalidValue, l->call,
                        "kernel %s: its arguments take more than %d bytes", l->kernel->name,
                        VGPU_ARGS_MAX);
}

cudaError_t vgpu__launch_pack(struct vgpu__launch *l, void **args)
{
    size_t bytes = 1;
    for (uint32_t i = 0; i < l->kernel->param_count; i++)
        bytes += l->kernel->param_bytes[i];
    l->args = malloc(bytes);
    if (!l->args)
        return vgpu__no_memory(l->call);
    return pack_arguments(l->args, &l->args_bytes, l->kernel, args) ? cudaSuccess
                                                                    : refuse_long_arguments(l);
}

void vgpu__launch_drop(struct vgpu__launch *l)
{
    free(l->args);
    l->args = NULL;
}

/* Begins the thread's request for the launch, without arguments, in a call that vgpu__admit has let
 * pass. NULL: return vgpu__failed(). */
static struct vgpu_request *begin_launch_request(const struct vgpu__launch *l, cudaStream_t stream)
{
    uint32_t id;
    if (vgpu__load_image(l->module, l->call, &id) != cudaSuccess)
        return NULL;
    vgpu__call_named(l->kernel->name);
    struct vgpu_request *request = vgpu__new_request(l->kernel->name, VGPU_OP_LAUNCH);
    if (strncmp(l->kernel->name, "nccl_", 5) == 0)
        vgpu__used(VGPU_FEATURE_nccl);
    request->stream = vgpu__stream_id(stream);
    request->u.launch = (struct vgpu_launch){
        .module = id,
        .kernel = l->module->part->first_kernel + l->kernel->ordinal,
        .grid = {l->grid.x, l->grid.y, l->grid.z},
        .block = {l->block.x, l->block.y, l->block.z},
        .shared_bytes = l->shared,
        .param_count = l->kernel->param_count,
        .cooperative = l->cooperative,
        .cluster = {l->cluster.x, l->cluster.y, l->cluster.z},
        .collective = l->collective,
    };
    if (l->cluster.x * l->cluster.y * l->cluster.z > 1)
        vgpu__used(VGPU_FEATURE_clusters);
    return request;
}

static cudaError_t send_launch(struct vgpu_request *request)
{
    request->u.launch.args_bytes = request->data_bytes;
    return vgpu__end(NULL);
}

cudaError_t vgpu__launch_send(const struct vgpu__launch *l, cudaStream_t stream)
{
    if (!vgpu__admit(l->kernel->name, VGPU_OP_LAUNCH))
        return vgpu__failed();
    struct vgpu_request *request = begin_launch_request(l, stream);
    if (!request)
        return vgpu__failed();
    memcpy(request->data, l->args, l->args_bytes);
    request->data_bytes = l->args_bytes;
    return send_launch(request);
}

cudaError_t vgpu__launch_now(const struct vgpu__launch *l, void **args, cudaStream_t stream)
{
    struct vgpu_request *request = begin_launch_request(l, stream);
    if (!request)
        return vgpu__failed();
    return pack_arguments(request->data, &request->data_bytes, l->kernel, args)
               ? send_launch(request)
               : refuse_long_arguments(l);
}
