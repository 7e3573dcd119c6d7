/* SPDX-License-Identifier: MIT
 * groups.cu: cooperative groups whose members are known at run time: thread_group, partitions by a
 * value, prefix sums, and shuffles of structures.
 */
#include <cooperative_groups.h>
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
    printf("PASS\n");
    return 0;
}
