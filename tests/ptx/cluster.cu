// SPDX-License-Identifier: MIT
// cluster.cu: clusters of blocks: a reduction over the shared memory of all blocks of a cluster,
// and the instructions that nvcc makes only of inline PTX. Prints the same by both compilers.
#include <cooperative_groups.h>
#include <stdio.h>

namespace cg = cooperative_groups;

enum { THREADS = 64 };

// Each block adds its part; the block of rank 0 adds those of all.
__global__ void __cluster_dims__(4, 1, 1) reduce(int *out, const int *in)
{
    __shared__ int part;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0)
        part = 0;
    __syncthreads();
    atomicAdd(&part, in[blockIdx.x * blockDim.x + threadIdx.x]);
    cluster.sync();
    if (cluster.block_rank() == 0 && threadIdx.x < cluster.num_blocks())
        atomicAdd(&out[blockIdx.x / 4], *cluster.map_shared_rank(&part, (int)threadIdx.x));
    cluster.sync();
}

__device__ unsigned mapped(const void *address, unsigned rank)
{
    unsigned to, from = (unsigned)__cvta_generic_to_shared(address);
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(from), "r"(rank));
    return to;
}

// Passes a block's 16 numbers to the next block, which waits for them at an mbarrier of its own.
__global__ void __cluster_dims__(4, 1, 1) pass(int *out)
{
    __shared__ __align__(16) int mine[16], given[16];
    __shared__ __align__(8) unsigned long long arrived;
    unsigned rank = cg::this_cluster().block_rank(), done = 0;
    unsigned own = (unsigned)__cvta_generic_to_shared(&arrived);

    if (threadIdx.x == 0) {
        for (int i = 0; i < 16; i++)
            mine[i] = (int)rank * 100 + i;
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(own) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 64;" ::"r"(own) : "memory");
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    cg::this_cluster().sync();
    if (threadIdx.x == 0)
        asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes "
                     "[%0], [%1], 64, [%2];" ::"r"(mapped(given, (rank + 1) % 4)),
                     "r"((unsigned)__cvta_generic_to_shared(mine)),
                     "r"(mapped(&arrived, (rank + 1) % 4))
                     : "memory");
    while (!done)
        asm volatile("{\n\t.reg .pred p;\n\t"
                     "mbarrier.try_wait.parity.shared.b64 p, [%1], 0;\n\t"
                     "selp.u32 %0, 1, 0, p;\n\t}"
                     : "=r"(done)
                     : "r"(own)
                     : "memory");
    out[blockIdx.x * 16 + threadIdx.x] = given[threadIdx.x];
    cg::this_cluster().sync();
}

#define SPECIAL(name)                                                                              \
    ([] {                                                                                          \
        unsigned value;                                                                            \
        asm volatile("mov.u32 %0, %" name ";" : "=r"(value));                                      \
        return value;                                                                              \
    }())

// Each block writes into the next one's memory, adds to it, and reads it back.
__global__ void neighbours(unsigned *out)
{
    __shared__ unsigned mine[2];
    unsigned rank = SPECIAL("%cluster_ctarank"), ranks = SPECIAL("%cluster_nctarank");
    unsigned next = mapped(mine, (rank + 1) % ranks), old, back, owner;
    mine[0] = mine[1] = 0;
    asm volatile(
        "barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;");
    asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(next), "r"(rank + 100) : "memory");
    asm volatile("atom.shared::cluster.add.u32 %0, [%1+4], 7;" : "=r"(old) : "r"(next) : "memory");
    asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0+4], 1;" ::"r"(next) : "memory");
    asm volatile("ld.shared::cluster.u32 %0, [%1+4];" : "=r"(back) : "r"(next) : "memory");
    asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(owner) : "r"(next));
    asm volatile("barrier.cluster.arrive.relaxed;\n\tbarrier.cluster.wait;" ::: "memory");
    unsigned *to = out + 10 * ((blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x);
    to[0] = mine[0], to[1] = mine[1], to[2] = old, to[3] = back, to[4] = owner, to[5] = rank;
    to[6] = SPECIAL("%cluster_ctaid.x") + 10 * SPECIAL("%cluster_ctaid.y") +
            100 * SPECIAL("%cluster_ctaid.z");
    to[7] = SPECIAL("%cluster_nctaid.x") + 10 * SPECIAL("%cluster_nctaid.y") +
            100 * SPECIAL("%cluster_nctaid.z");
    to[8] = SPECIAL("%clusterid.x") + 10 * SPECIAL("%clusterid.y") + 100 * SPECIAL("%clusterid.z");
    to[9] =
        SPECIAL("%nclusterid.x") + 10 * SPECIAL("%nclusterid.y") + 100 * SPECIAL("%nclusterid.z");
}

static unsigned *managed(int count)
{
    unsigned *at;
    cudaMallocManaged(&at, count * sizeof *at);
    return at;
}

static void launch_neighbours(dim3 grid, dim3 cluster)
{
    int blocks = (int)(grid.x * grid.y * grid.z);
    unsigned *out = managed(10 * blocks);
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute = {};
    config.gridDim = grid;
    config.blockDim = dim3(1);
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = cluster.x;
    attribute.val.clusterDim.y = cluster.y;
    attribute.val.clusterDim.z = cluster.z;
    config.attrs = &attribute;
    config.numAttrs = 1;
    cudaError_t error = cudaLaunchKernelEx(&config, neighbours, out);
    printf("%d %d\n", (int)error, (int)cudaDeviceSynchronize());
    for (int i = 0; i < 10 * blocks; i++)
        printf("%u%c", out[i], i % 10 == 9 ? '\n' : ' ');
}

int main()
{
    enum { BLOCKS = 8 };
    int *in = (int *)managed(BLOCKS * THREADS), *out = (int *)managed(BLOCKS / 4);
    for (int i = 0; i < BLOCKS * THREADS; i++)
        in[i] = i % 37;
    for (int i = 0; i < BLOCKS / 4; i++)
        out[i] = 0;
    reduce<<<BLOCKS, THREADS>>>(out, in);
    printf("%d\n", (int)cudaDeviceSynchronize());
    for (int i = 0; i < BLOCKS / 4; i++)
        printf("%d\n", out[i]);
    pass<<<4, 16>>>(in);
    printf("%d\n", (int)cudaDeviceSynchronize());
    for (int i = 0; i < 64; i++)
        printf("%d%c", in[i], i % 16 == 15 ? '\n' : ' ');
    launch_neighbours(dim3(4, 2, 2), dim3(2, 1, 2));
    launch_neighbours(dim3(2), dim3(1));
    return 0;
}
