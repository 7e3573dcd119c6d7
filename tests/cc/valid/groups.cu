// SPDX-License-Identifier: MIT
// Cooperative groups: what each member and each collective gives, as a number over all threads. The
// same as with CUDA's own headers: sums of float show in which order values are combined.
// clang-format off
// prints: warps: 46c40 271e68 7fff80 8080 7c860 8e878420 4d812a78 f303d1fc cd0716b6 2070a0 8080 199ad00 2c5acdc 5179a6 605154 45065c6 114c56e6 daf240d8 f628341a 25db24 78c40
// prints: partitions: 250840 8de00 dc3180 156a80
// prints: many warps: dc52c940 3b6ac480 a0a65c3a f3a6cf42 247584 149080 10e7f000 26a680
// prints: grid: 7e6ff500 a6a40 300340 10100 d5d500
// clang-format on
#include <stdio.h>
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

enum { BLOCKS = 2, THREADS = 128, ROWS = 48 };

static __device__ unsigned bits(float x)
{
    return __float_as_uint(x);
}

/* One value a thread in each row. */
struct table {
    unsigned *words;
    int row;
    template <class T> __device__ void operator()(T value)
    {
        const auto rank = cg::this_grid().thread_rank();
        words[row++ * BLOCKS * THREADS + rank] = (unsigned)value;
    }
};

static __device__ float number(unsigned rank)
{
    return 1.0f / (float)(3 * rank + 1);
}

__global__ void of_warps(unsigned *words)
{
    table put{words, 0};
    const auto block = cg::this_thread_block();
    const auto tile = cg::tiled_partition<32>(block);
    const auto eight = cg::tiled_partition<8>(tile);
    const unsigned rank = block.thread_rank();
    int all = -1;

    put(cg::invoke_one_broadcast(tile, [&] { return block.thread_rank() / 32 + 7; }));
    put(eight.match_any(rank / 3));
    put(eight.match_all(rank / 8, all));
    put(all);
    put(tile.match_all(rank / 40, all) + 100 * all);
    put(bits(cg::reduce(tile, number(rank), cg::plus<float>())));
    put(bits(cg::reduce(eight, number(rank), cg::plus<float>())));
    put(bits(cg::inclusive_scan(tile, number(rank))));
    put(bits(cg::exclusive_scan(eight, number(rank))));
    put(cg::exclusive_scan(eight, (int)rank, cg::greater<int>()));
    put(cg::this_thread().size() + 10 * cg::this_thread().meta_group_rank());
    put(cg::thread_rank(tile) + 100 * cg::group_size(eight));
    if (rank % 3 != 1) {
        const auto some = cg::coalesced_threads();
        const auto parts = cg::labeled_partition(some, (int)rank % 5);
        const auto fours = cg::tiled_partition(some, 4);
        put(some.size() * 100 + some.thread_rank());
        put(parts.meta_group_rank() * 100 + parts.meta_group_size() * 10 + parts.size());
        put(fours.meta_group_rank() * 100 + fours.meta_group_size() * 10 + fours.thread_rank());
        put(some.match_any(rank / 7));
        put(some.match_all(rank / 64, all) + 1000u * all);
        put(bits(cg::reduce(some, number(rank), cg::plus<float>())));
        put(bits(cg::inclusive_scan(some, number(rank))));
        put(cg::exclusive_scan(parts, rank));
        put(cg::reduce(parts, rank, cg::bit_xor<unsigned>()));
    }
}

__global__ void of_partitions(unsigned *words)
{
    table put{words, 0};
    const auto block = cg::this_thread_block();
    const auto tile = cg::tiled_partition<16>(block);
    const unsigned rank = block.thread_rank();
    const auto odd = cg::binary_partition(tile, rank % 2 == 1);
    const auto none = cg::binary_partition(tile, rank > 1000);
    const auto pairs = cg::labeled_partition(tile, (long long)rank / 2 << 40);

    put(odd.meta_group_rank() * 100 + odd.meta_group_size() * 10 + odd.thread_rank());
    put(none.meta_group_rank() * 100 + none.meta_group_size() * 10 + none.thread_rank());
    put(pairs.meta_group_rank() * 100 + pairs.meta_group_size() * 10 + pairs.thread_rank());
    put(odd.ballot(rank % 4 == 1));
}

__global__ void of_many_warps(unsigned *words, const unsigned *from)
{
    __shared__ cg::block_tile_memory<THREADS> memory;
    __shared__ unsigned copied[THREADS], stored[2];
    table put{words, 0};
    auto block = cg::this_thread_block(memory);
    auto tile = cg::tiled_partition<64>(block);
    auto whole = cg::tiled_partition<THREADS>(block);
    const unsigned rank = block.thread_rank();

    put(bits(cg::reduce(tile, number(rank), cg::plus<float>())));
    put(bits(cg::reduce(whole, number(rank), cg::plus<float>())));
    put(bits(cg::inclusive_scan(whole, number(rank))));
    put(bits(cg::exclusive_scan(whole, number(rank))));
    put(cg::exclusive_scan(tile, rank, cg::greater<unsigned>()));
    put(cg::invoke_one_broadcast(
        tile, [](unsigned x) { return x + 1; }, rank));
    cg::reduce_store_async(tile, stored + tile.meta_group_rank(), rank, cg::plus<unsigned>());
    cg::memcpy_async(block, copied, from, sizeof copied);
    cg::wait(block);
    put(copied[THREADS - 1 - rank] + stored[rank / 64]);
    auto token = block.barrier_arrive();
    block.barrier_wait(static_cast<cg::thread_block::arrival_token &&>(token));
    cg::invoke_one(block, [&] { copied[0] = 77; });
    block.sync();
    put(copied[0]);
}

__global__ void of_the_grid(unsigned *words)
{
    table put{words, 0};
    const auto grid = cg::this_grid();
    const dim3 at = grid.thread_index(), threads = grid.dim_threads(), blocks = grid.dim_blocks();

    put(at.x + 1000 * threads.x + 100000 * blocks.x);
    put(grid.block_rank() + 10 * grid.num_blocks());
    put(grid.cluster_rank() + 10 * grid.num_clusters() + 100 * grid.cluster_index().x);
    put(grid.dim_clusters().x);
    put(cg::group_size(grid) + cg::thread_rank(grid));
}

static void print_rows(const char *name, const unsigned *words)
{
    printf("%s:", name);
    for (int row = 0; row < ROWS; row++) {
        unsigned sum = 0;
        for (unsigned i = 0; i < BLOCKS * THREADS; i++)
            sum += (i + 1) * words[row * BLOCKS * THREADS + i];
        if (sum != 0)
            printf(" %x", sum);
    }
    printf("\n");
}

template <class Launch> static void look_at(const char *name, unsigned *words, Launch launch)
{
    cudaMemset(words, 0, ROWS * BLOCKS * THREADS * sizeof *words);
    launch();
    const cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess)
        printf("%s: %s\n", name, cudaGetErrorString(err));
    print_rows(name, words);
}

int main()
{
    unsigned *words, *from;

    cudaMallocManaged(&words, ROWS * BLOCKS * THREADS * sizeof *words);
    cudaMallocManaged(&from, THREADS * sizeof *from);
    for (unsigned i = 0; i < THREADS; i++)
        from[i] = i * i;
    look_at("warps", words, [=] { of_warps<<<BLOCKS, THREADS>>>(words); });
    look_at("partitions", words, [=] { of_partitions<<<BLOCKS, THREADS>>>(words); });
    look_at("many warps", words, [=] { of_many_warps<<<BLOCKS, THREADS>>>(words, from); });
    look_at("grid", words, [=] { of_the_grid<<<BLOCKS, THREADS>>>(words); });
    cudaFree(from);
    cudaFree(words);
    return 0;
}
