// SPDX-License-Identifier: MIT
// clusters.cu: thread block clusters on every GPU: a histogram and a reduction over the shared
// memory of all blocks of a cluster, indices in three dimensions, sizes that are refused.
#include "check.h"

#include <cooperative_groups.h>

#include <string.h>
#include <vector>

namespace cg = cooperative_groups;

enum { BINS = 37, THREADS = 96 };

// Bin b lies in block b / a_block of the cluster, at b % a_block.
__global__ void histogram(int *bins, const int *values, int n)
{
    extern __shared__ int part[];
    cg::cluster_group cluster = cg::this_cluster();
    int a_block = (BINS + (int)cluster.num_blocks() - 1) / (int)cluster.num_blocks();
    for (int i = threadIdx.x; i < a_block; i += blockDim.x)
        part[i] = 0;
    cluster.sync();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(cluster.map_shared_rank(part, values[i] / a_block) + values[i] % a_block, 1);
    cluster.sync();
    for (int i = threadIdx.x; i < a_block; i += blockDim.x)
        if (int bin = (int)cluster.block_rank() * a_block + i; bin < BINS)
            atomicAdd(&bins[bin], part[i]);
}

// The odd blocks use their variables in another order: each has its place in every block.
__global__ void __cluster_dims__(2, 2, 1) sums(long long *sums, const int *values)
{
    __shared__ int first[64];
    __shared__ long long second;
    cg::cluster_group cluster = cg::this_cluster();
    int rank = (int)cluster.block_rank(), i = threadIdx.x;
    if (rank % 2)
        second = -1;
    first[i] = values[(blockIdx.y * gridDim.x + blockIdx.x) * 64 + i];
    __syncthreads();
    if (i == 0) {
        second = 0;
        for (int k = 0; k < 64; k++)
            second += first[k];
    }
    auto token = cluster.barrier_arrive();
    bool right =
        cluster.query_shared_rank(cluster.map_shared_rank(first, rank ^ 3)) == (unsigned)(rank ^ 3);
    cluster.barrier_wait(static_cast<decltype(token) &&>(token));
    if (i == 0) {
        long long all = 0;
        for (int k = 0; k < (int)cluster.num_blocks(); k++)
            all += *cluster.map_shared_rank(&second, k) + *cluster.map_shared_rank(&first[63], k);
        sums[blockIdx.y * gridDim.x + blockIdx.x] = right ? all : -1;
    }
    cluster.sync(); // no block ends while another reads its memory
}

// Threads that leave count as arrived.
__global__ void places(int *out)
{
    cg::cluster_group cluster = cg::this_cluster();
    dim3 at = cluster.block_index(), size = cluster.dim_blocks();
    int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    bool right = at.x == blockIdx.x % size.x && at.y == blockIdx.y % size.y &&
                 at.z == blockIdx.z % size.z &&
                 cluster.thread_rank() == cluster.block_rank() * blockDim.x + threadIdx.x &&
                 cluster.num_threads() == size.x * size.y * size.z * blockDim.x;
    if (threadIdx.x % 3 == 1)
        return;
    cluster.sync();
    if (threadIdx.x == 0)
        out[block] = right ? (int)cluster.block_rank() : -1;
}

// Mistakes: the first block reads what the second has at `mine` without meeting it again, when it
// has ended, or when it may still write.
__global__ void __cluster_dims__(2) reads(int *out, bool early)
{
    __shared__ int mine;
    cg::cluster_group cluster = cg::this_cluster();
    int *other = cluster.map_shared_rank(&mine, cluster.block_rank() ^ 1);
    if (early)
        mine = 5;
    cluster.sync();
    if (cluster.block_rank() == 0)
        *out = *other;
    else if (early)
        mine = 6;
    if (early)
        cluster.sync();
}

static int mistake(bool early)
{
    int *out;
    MUST(cudaMalloc(&out, sizeof *out));
    reads<<<2, 1>>>(out, early);
    printf("%d\n", (int)cudaDeviceSynchronize());
    return 0;
}

static cudaError_t launch_places(dim3 grid, dim3 cluster, int *out)
{
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute[1] = {};
    config.gridDim = grid;
    config.blockDim = dim3(40);
    attribute[0].id = cudaLaunchAttributeClusterDimension;
    attribute[0].val.clusterDim.x = cluster.x;
    attribute[0].val.clusterDim.y = cluster.y;
    attribute[0].val.clusterDim.z = cluster.z;
    config.attrs = attribute;
    config.numAttrs = 1;
    cudaError_t error = cudaLaunchKernelEx(&config, places, out);
    cudaGetLastError();
    return error;
}

static void histograms()
{
    enum { N = 10007 };
    std::vector<int> values(N), expected(BINS), got(BINS);
    int *device, *bins;
    for (int i = 0; i < N; i++)
        expected[values[i] = i * 31 % 1009 % BINS]++;
    MUST(cudaMalloc(&device, N * sizeof(int)));
    MUST(cudaMalloc(&bins, BINS * sizeof(int)));
    MUST(cudaMemcpy(device, values.data(), N * sizeof(int), cudaMemcpyHostToDevice));
    for (unsigned blocks : {1, 2, 4, 8}) {
        cudaLaunchConfig_t config = {};
        cudaLaunchAttribute attribute[1] = {};
        config.gridDim = dim3(24);
        config.blockDim = dim3(THREADS);
        config.dynamicSmemBytes = (BINS + blocks - 1) / blocks * sizeof(int);
        attribute[0].id = cudaLaunchAttributeClusterDimension;
        attribute[0].val.clusterDim.x = blocks;
        attribute[0].val.clusterDim.y = attribute[0].val.clusterDim.z = 1;
        config.attrs = attribute;
        config.numAttrs = 1;
        MUST(cudaMemset(bins, 0, BINS * sizeof(int)));
        MUST(cudaLaunchKernelEx(&config, histogram, bins, (const int *)device, (int)N));
        MUST(cudaMemcpy(got.data(), bins, BINS * sizeof(int), cudaMemcpyDeviceToHost));
        for (int i = 0; i < BINS; i++)
            HOLDS(got[i] == expected[i], "clusters of %u: bin %d has %d, not %d", blocks, i, got[i],
                  expected[i]);
    }
    MUST(cudaFree(device));
    MUST(cudaFree(bins));
}

static void reductions()
{
    enum { X = 6, Y = 4 };
    int values[X * Y * 64], *device;
    long long got[X * Y], *to;
    for (int i = 0; i < X * Y * 64; i++)
        values[i] = i * 7 % 1001;
    MUST(cudaMalloc(&device, sizeof values));
    MUST(cudaMalloc(&to, sizeof got));
    MUST(cudaMemcpy(device, values, sizeof values, cudaMemcpyHostToDevice));
    sums<<<dim3(X, Y), 64>>>(to, device);
    MUST(cudaMemcpy(got, to, sizeof got, cudaMemcpyDeviceToHost));
    for (int b = 0; b < X * Y; b++) {
        long long expected = 0;
        for (int k = 0; k < 4; k++) {
            int block = (b / X / 2 * 2 + k / 2) * X + b % X / 2 * 2 + k % 2;
            for (int i = 0; i < 64; i++)
                expected += values[block * 64 + i];
            expected += values[block * 64 + 63];
        }
        HOLDS(got[b] == expected, "block %d has %lld, not %lld", b, got[b], expected);
    }
    sums<<<dim3(X, 3), 64>>>(to, device);
    cudaError_t error = cudaGetLastError();
    HOLDS(error == cudaErrorInvalidClusterSize, "3 rows of clusters of 2: %d", error);
    cudaFuncAttributes a;
    MUST(cudaFuncGetAttributes(&a, sums));
    HOLDS(a.requiredClusterWidth == 2 && a.requiredClusterHeight == 2 &&
              a.requiredClusterDepth == 1,
          "required: %d %d %d", a.requiredClusterWidth, a.requiredClusterHeight,
          a.requiredClusterDepth);
    MUST(cudaFree(device));
    MUST(cudaFree(to));
}

static void shapes()
{
    const dim3 grid(4, 6, 4), possible[] = {dim3(1, 1, 1), dim3(2, 1, 1), dim3(1, 3, 1),
                                            dim3(1, 1, 4), dim3(2, 2, 2), dim3(4, 2, 1)};
    const dim3 wrong[] = {dim3(3, 1, 1), dim3(1, 4, 1), dim3(4, 2, 2), dim3(8, 1, 1),
                          dim3(2, 0, 1)};
    int got[96], *out;
    MUST(cudaMalloc(&out, sizeof got));
    for (dim3 c : possible) {
        MUST(launch_places(grid, c, out));
        MUST(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
        for (unsigned i = 0; i < 96; i++) {
            unsigned x = i % 4 % c.x, y = i / 4 % 6 % c.y, z = i / 24 % c.z;
            HOLDS(got[i] == (int)((z * c.y + y) * c.x + x), "block %u has rank %d", i, got[i]);
        }
    }
    for (dim3 c : wrong) {
        cudaError_t error = launch_places(grid, c, out);
        HOLDS(error == cudaErrorInvalidClusterSize, "(%u,%u,%u): %d", c.x, c.y, c.z, error);
    }
    MUST(cudaFuncSetAttribute(places, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    MUST(launch_places(grid, dim3(4, 2, 2), out)); // 16 blocks
    HOLDS(launch_places(dim3(32), dim3(32), out) == cudaErrorInvalidClusterSize, "32 blocks");
    MUST(cudaDeviceSynchronize());
    MUST(cudaFree(out));
}

__global__ void __cluster_dims__(2, 1, 1) pairs(int *out)
{
    out[blockIdx.x] = blockIdx.x;
}

__global__ void single(int *out)
{
    out[blockIdx.x] = blockIdx.x;
}

static int active(unsigned int blocks, size_t shared, cudaError_t wanted)
{
    int clusters = -1;
    cudaLaunchAttribute attribute;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(256);
    config.dynamicSmemBytes = shared;
    config.attrs = &attribute;
    config.numAttrs = blocks ? 1 : 0;
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = blocks;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    cudaError_t error = cudaOccupancyMaxActiveClusters(&clusters, single, &config);
    HOLDS(error == wanted, "clusters of %u: %d, not %d", blocks, error, wanted);
    return clusters;
}

// A block with so much shared memory has an SM for itself; a cluster lies in a GPC of 16 or 18 SMs.
static void occupancy(void)
{
    int size, got;
    cudaDeviceProp prop;
    cudaLaunchAttribute attribute = {};
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(2);
    config.blockDim = dim3(256);
    MUST(cudaGetDevice(&got));
    MUST(cudaGetDeviceProperties(&prop, got));
    size_t most = prop.sharedMemPerBlockOptin;
    MUST(cudaFuncSetAttribute(single, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)most));
    MUST(cudaOccupancyMaxPotentialClusterSize(&size, single, &config));
    HOLDS(size == 8, "at most %d", size);
    MUST(cudaOccupancyMaxPotentialClusterSize(&size, pairs, &config));
    HOLDS(size == 2, "required are %d", size);
    MUST(cudaOccupancyMaxActiveClusters(&got, pairs, &config));
    HOLDS(got == 8 * prop.multiProcessorCount / 2, "%d pairs", got);
    config.attrs = &attribute;
    config.numAttrs = 1;
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = 4;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    HOLDS(cudaOccupancyMaxActiveClusters(&got, pairs, &config) == cudaErrorInvalidClusterSize,
          "another size than the required one");
    int one = active(1, most, cudaSuccess), eight = active(8, most, cudaSuccess);
    HOLDS(one == prop.multiProcessorCount, "%d blocks", one);
    if (prop.multiProcessorCount == 132)
        HOLDS(eight == 16 && active(4, most, cudaSuccess) == 32, "%d of 8", eight);
    HOLDS(active(8, 0, cudaSuccess) == one, "%d of 8 small blocks", active(8, 0, cudaSuccess));
    active(0, 0, cudaErrorInvalidClusterSize);
    active(9, 0, cudaErrorInvalidClusterSize);
    active(1u << 31, 0, cudaErrorInvalidClusterSize);
    active(2, most + 1, cudaErrorInvalidValue);
    MUST(cudaFuncSetAttribute(single, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    MUST(cudaOccupancyMaxPotentialClusterSize(&size, single, &config));
    HOLDS(size == 16, "at most %d", size);
    if (prop.multiProcessorCount == 132)
        HOLDS(active(16, most, cudaSuccess) == 8, "%d of 16", active(16, most, cudaSuccess));
    HOLDS(cudaOccupancyMaxActiveClusters(&got, single, nullptr) == cudaErrorInvalidValue, "null");
    HOLDS(cudaOccupancyMaxPotentialClusterSize(nullptr, single, &config) == cudaErrorInvalidValue,
          "null");
    cudaGetLastError();
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return mistake(strcmp(argv[1], "early") == 0);
    int gpus;
    MUST(cudaGetDeviceCount(&gpus));
    for (int g = 0; g < gpus; g++) {
        int launch;
        MUST(cudaSetDevice(g));
        MUST(cudaDeviceGetAttribute(&launch, cudaDevAttrClusterLaunch, g));
        if (!launch) {
            cudaError_t error = launch_places(dim3(4), dim3(2), nullptr);
            HOLDS(error == cudaErrorInvalidClusterSize, "no clusters here: %d", error);
            active(2, 0, cudaErrorInvalidClusterSize);
            cudaGetLastError();
            continue;
        }
        histograms();
        reductions();
        shapes();
        occupancy();
    }
    printf("clusters on %d GPUs: right\n", gpus);
    return 0;
}
