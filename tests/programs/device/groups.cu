/* SPDX-License-Identifier: MIT
 * groups.cu: cooperative groups whose members are known at run time: thread_group, partitions by a
 * value, prefix sums, and shuffles of structures. Tiles of several warps: barriers, reductions,
 * shuffles, votes, and tiles of them.
 */
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include "../check.h"

namespace cg = cooperative_groups;

struct pair {
    float weight;
    char name[7];
};

/* Does not care what it is given. */
__device__ unsigned sum_of(const cg::thread_group &group, unsigned *room, unsigned value)
{
    if (group.thread_rank() == 0)
        *room = 0;
    group.sync();
    atomicAdd(room, value);
    group.sync();
    return *room;
}

__global__ void groups(unsigned *out)
{
    __shared__ unsigned room[64];
    cg::thread_block block = cg::this_thread_block();
    unsigned rank = block.thread_rank(), *mine = out + 8 * rank;
    cg::thread_group eight = cg::tiled_partition(block, 8);
    auto tile = cg::tiled_partition<16>(block);

    mine[0] = sum_of(block, room, rank);
    mine[1] = sum_of(eight, room + 8 + rank / 8, rank);
    mine[2] = sum_of(cg::tiled_partition(eight, 4), room + 20 + rank / 4, 1);
    cg::coalesced_group side = cg::binary_partition(tile, rank % 3 == 0);
    mine[3] = side.num_threads() << 8 | side.thread_rank();
    mine[4] = cg::labeled_partition(tile, rank / 5).num_threads();
    mine[5] = cg::inclusive_scan(tile, rank);
    mine[6] = cg::exclusive_scan(side, 1u);
    pair own = {(float)rank, "thread"}, other;
    own.name[0] = (char)('a' + rank % 16);
    other = tile.shfl(own, 15 - tile.thread_rank());
    mine[7] = (unsigned)other.weight << 8 | (unsigned char)other.name[0];
}

/* Blocks of 320 threads: the last tile of 128 has 64 of them. */
__global__ void wide_tiles(unsigned *out)
{
    __shared__ cg::block_tile_memory<512> memory;
    __shared__ unsigned word[3];
    auto block = cg::this_thread_block(memory);
    auto tile = cg::tiled_partition<128>(block);
    auto half = cg::tiled_partition<64>(tile);
    auto warp = cg::tiled_partition<32>(half);
    unsigned rank = block.thread_rank(), *mine = out + 8 * rank;

    mine[0] = cg::reduce(tile, rank, cg::plus<unsigned>());
    mine[1] = cg::reduce(half, rank, cg::greater<unsigned>());
    for (unsigned turn = 0; turn < 2 * tile.meta_group_rank() + 2; turn++) {
        if (tile.thread_rank() == turn % 64)
            word[tile.meta_group_rank()] = turn;
        tile.sync();
        mine[2] = word[tile.meta_group_rank()];
        tile.sync();
    }
    pair own = {(float)rank, "thread"};
    mine[3] = (unsigned)tile.shfl(own, rank % 7).weight;
    mine[4] = (unsigned)(tile.any(rank == 40) << 1 | tile.all(rank != 200));
    mine[5] = tile.meta_group_rank() << 16 | tile.meta_group_size() << 8 | tile.thread_rank();
    mine[6] = half.meta_group_rank() << 16 | half.meta_group_size() << 8 | half.thread_rank();
    mine[7] = warp.meta_group_rank() << 16 | warp.meta_group_size() << 8 | warp.thread_rank();
}

static void check_wide_tiles()
{
    unsigned *out;
    enum { THREADS = 320 };

    MUST(cudaMallocManaged(&out, 8 * THREADS * sizeof *out));
    wide_tiles<<<1, THREADS>>>(out);
    MUST(cudaDeviceSynchronize());
    for (unsigned rank = 0; rank < THREADS; rank++) {
        unsigned first = rank / 128 * 128, count = THREADS - first < 128 ? THREADS - first : 128;
        const unsigned want[8] = {count * (2 * first + count - 1) / 2,
                                  rank / 64 * 64 + 63,
                                  2 * (rank / 128) + 1,
                                  first + rank % 7,
                                  (unsigned)(first == 0) << 1 | (first != 128),
                                  rank / 128 << 16 | 3u << 8 | rank % 128,
                                  rank % 128 / 64 << 16 | 2u << 8 | rank % 64,
                                  rank % 64 / 32 << 16 | 2u << 8 | rank % 32};
        for (int i = 0; i < 8; i++)
            HOLDS(out[8 * rank + i] == want[i], "wide tiles, thread %u, value %d: %u, expected %u",
                  rank, i, out[8 * rank + i], want[i]);
    }
    MUST(cudaFree(out));
}

int main()
{
    unsigned *out;

    MUST(cudaMallocManaged(&out, 8 * 64 * sizeof *out));
    groups<<<1, 64>>>(out);
    MUST(cudaDeviceSynchronize());
    for (unsigned rank = 0; rank < 64; rank++) {
        unsigned first = rank / 16 * 16, scan = 0, threes = 0, before = 0, fives = 0;
        for (unsigned r = first; r < first + 16; r++) {
            scan += r <= rank ? r : 0;
            threes += (r % 3 == 0) == (rank % 3 == 0);
            before += r < rank && (r % 3 == 0) == (rank % 3 == 0);
            fives += r / 5 == rank / 5;
        }
        unsigned opposite = first + 15 - rank % 16;
        const unsigned want[8] = {2016,   rank / 8 * 64 + 28,
                                  4,      threes << 8 | before,
                                  fives,  scan,
                                  before, opposite << 8 | ('a' + opposite % 16)};
        for (int i = 0; i < 8; i++)
            HOLDS(out[8 * rank + i] == want[i], "thread %u, value %d: %u, expected %u", rank, i,
                  out[8 * rank + i], want[i]);
    }
    MUST(cudaFree(out));
    check_wide_tiles();
    printf("PASS\n");
    return 0;
}
