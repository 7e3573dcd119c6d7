/* SPDX-License-Identifier: MIT
 * cluster_occupancy.c: how large clusters of blocks can be, and how many of them a GPU holds. A
 * cluster lies in one GPC. Descriptions of nodes have no GPCs: they follow from the number of SMs
 * here, which are in pairs (TPCs), as many GPCs as are needed for all, as equal as pairs permit.
 */
#include "registration.h"
#include "runtime.h"

/* The most SMs in a GPC: 18 of Hopper's (an H100 of 132 SMs has six GPCs of 16 and two of 18), 20
 * of later ones. */
static int gpc_room(int major)
{
    return major == 9 ? 18 : 20;
}

/* As many clusters as all GPCs together hold. */
static int clusters_of(const struct vgpu_device_info *d, int blocks_per_sm, int size)
{
    int room = gpc_room(d->cc_major), gpcs = (d->sm_count + room - 1) / room, clusters = 0;
    int pairs = d->sm_count / 2;
    for (int gpc = 0; gpc < gpcs; gpc++) {
        int sms = 2 * (pairs / gpcs + (gpc < pairs % gpcs)) + (gpc == 0 ? d->sm_count % 2 : 0);
        clusters += sms * blocks_per_sm / size;
    }
    return clusters;
}

/* ---- a question ---- */

struct question {
    const char *call;
    struct vgpu__launch launch;
    int blocks_per_sm; /* at least 1 */
    int size;          /* blocks of a cluster; 0: not given */
};

static cudaError_t refuse_size(const struct question *q, const char *why)
{
    return vgpu__refuse(cudaErrorInvalidClusterSize, q->call, "kernel %s: %s",
                        q->launch.kernel->name, why);
}

static cudaError_t take_configuration(struct question *q, const cudaLaunchConfig_t *config)
{
    struct vgpu__launch *l = &q->launch;
    cudaError_t error = cudaSuccess;
    for (unsigned int i = 0; error == cudaSuccess && i < config->numAttrs; i++)
        error = vgpu__launch_attribute(l, &config->attrs[i]);
    size_t threads = (size_t)config->blockDim.x * config->blockDim.y * config->blockDim.z;
    q->blocks_per_sm = vgpu__blocks_per_sm(l->kernel, threads, config->dynamicSmemBytes);
    if (error == cudaSuccess && q->blocks_per_sm == 0)
        error = vgpu__refuse(cudaErrorInvalidValue, q->call,
                             "kernel %s: an SM cannot hold a block of %zu threads with %zu bytes "
                             "of dynamic shared memory",
                             l->kernel->name, threads, config->dynamicSmemBytes);
    uint64_t size = (uint64_t)l->cluster.x * l->cluster.y;
    size = size > VGPU_CLUSTER_BLOCKS_MAX ? size : size * l->cluster.z;
    q->size = size > VGPU_CLUSTER_BLOCKS_MAX ? VGPU_CLUSTER_BLOCKS_MAX + 1 : (int)size;
    return error;
}

static cudaError_t ask_occupancy(const char *call, const int *out, const void *func,
                                 const cudaLaunchConfig_t *config, struct question *q)
{
    if (!vgpu__admit(call, VGPU_OP_CONTEXT))
        return vgpu__failed();
    *q = (struct question){.call = call, .launch = {.call = call}};
    q->launch.kernel = vgpu__find_kernel(func, NULL);
    if (!q->launch.kernel)
        return vgpu__refuse_kernel(call, func);
    if (!out || !config || (config->numAttrs && !config->attrs))
        return vgpu__refuse_value(call, "a null pointer");
    return take_configuration(q, config);
}

static bool is_required(const struct vgpu_host_kernel *kernel)
{
    return kernel->cluster[0] || kernel->cluster[1] || kernel->cluster[2];
}

static int required_size(const struct vgpu_host_kernel *kernel)
{
    return (int)(kernel->cluster[0] * kernel->cluster[1] * kernel->cluster[2]);
}

static int greatest_size(const struct vgpu_host_kernel *kernel)
{
    if (vgpu__device_info(vgpu__self.device)->cc_major < 9)
        return 1;
    return vgpu__has_large_clusters(kernel) ? VGPU_CLUSTER_BLOCKS_MAX
                                            : VGPU_CLUSTER_BLOCKS_PORTABLE;
}

/* ---- calls ---- */

/* The dimensions of clusters in the configuration are ignored, as documented. */
cudaError_t cudaOccupancyMaxPotentialClusterSize(int *clusterSize, const void *func,
                                                 const cudaLaunchConfig_t *launchConfig)
{
    struct question q;
    cudaError_t error =
        ask_occupancy("cudaOccupancyMaxPotentialClusterSize", clusterSize, func, launchConfig, &q);
    if (error != cudaSuccess)
        return error;
    *clusterSize = is_required(q.launch.kernel) ? required_size(q.launch.kernel)
                                                : greatest_size(q.launch.kernel);
    return cudaSuccess;
}

static cudaError_t take_size(struct question *q)
{
    const struct vgpu_host_kernel *kernel = q->launch.kernel;
    const dim3 given = q->launch.cluster;
    const uint32_t *own = kernel->cluster;
    if (is_required(kernel)) {
        if (q->size && (given.x != own[0] || given.y != own[1] || given.z != own[2]))
            return refuse_size(q, "the configuration's clusters are not its __cluster_dims__");
        q->size = required_size(kernel);
    }
    if (q->size == 0)
        return refuse_size(q, "the configuration gives no size of clusters "
                              "(cudaLaunchAttributeClusterDimension)");
    if (q->size > greatest_size(kernel))
        return refuse_size(q, "clusters have at most 8 blocks, 16 with "
                              "cudaFuncAttributeNonPortableClusterSizeAllowed, and need a GPU of "
                              "compute capability 9.0");
    return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveClusters(int *numClusters, const void *func,
                                           const cudaLaunchConfig_t *launchConfig)
{
    struct question q;
    cudaError_t error =
        ask_occupancy("cudaOccupancyMaxActiveClusters", numClusters, func, launchConfig, &q);
    if (error == cudaSuccess)
        error = take_size(&q);
    if (error == cudaSuccess)
        *numClusters = clusters_of(vgpu__device_info(vgpu__self.device), q.blocks_per_sm, q.size);
    return error;
}
