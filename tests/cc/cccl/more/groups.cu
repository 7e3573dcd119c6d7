// SPDX-License-Identifier: MIT
// Cooperative groups with libcu++: reductions and prefix sums that go into an atomic, and a copy
// whose alignment is a type.
// prints: groups and atomics
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/atomic>
#include <cuda/barrier>

#include "../check.h"

namespace cg = cooperative_groups;
enum { THREADS = 128 };

__global__ void kernel(int *sums, int *mine, const int *from)
{
    __shared__ int copied[THREADS];
    const auto block = cg::this_thread_block();
    const auto warp = cg::tiled_partition<32>(block);
    const auto wide = cg::tiled_partition<64>(block);
    const int rank = (int)block.thread_rank();
    cuda::atomic_ref<int, cuda::thread_scope_block> sum(sums[0]), most(sums[1]), ranks(sums[2]),
        after(sums[4]);

    cg::reduce_update_async(warp, sum, rank, cg::plus<int>());
    cg::reduce_update_async(wide, most, rank, cg::greater<int>());
    cg::reduce_store_async(wide, sums + 5 + rank / 64, rank, cg::plus<int>());
    if (rank >= 96)
        cg::reduce_store_async(warp, ranks, rank, cg::plus<int>());
    cg::memcpy_async(block, copied, from, cuda::aligned_size_t<16>(sizeof copied));
    cg::wait(block);
    mine[rank] = copied[THREADS - 1 - rank];
    /* Whichever group comes first: what it adds, each thread gets once. */
    mine[THREADS + rank] = cg::exclusive_scan_update(warp, sum, 1, cg::plus<int>());
    mine[2 * THREADS + rank] = cg::inclusive_scan_update(wide, after, 1);
}

int main()
{
    int *sums, *mine, *from;

    DO(cudaMallocManaged(&sums, 8 * sizeof *sums));
    DO(cudaMallocManaged(&mine, 3 * THREADS * sizeof *mine));
    DO(cudaMallocManaged(&from, THREADS * sizeof *from));
    for (int i = 0; i < THREADS; i++)
        from[i] = 1000 + i;
    kernel<<<1, THREADS>>>(sums, mine, from);
    DO(cudaDeviceSynchronize());
    CHECK(sums[0] == THREADS * (THREADS - 1) / 2 + THREADS);
    CHECK(sums[1] == THREADS - 1 && sums[2] == (96 + 127) * 16 && sums[4] == THREADS);
    CHECK(sums[5] == 63 * 32 && sums[6] == (64 + 127) * 32);
    std::vector<int> once(2 * THREADS);
    for (int i = 0; i < THREADS; i++) {
        CHECK(mine[i] == 1000 + THREADS - 1 - i);
        once[mine[THREADS + i] - THREADS * (THREADS - 1) / 2]++;
        once[THREADS + mine[2 * THREADS + i] - 1]++;
    }
    for (int times : once)
        CHECK(times == 1);
    puts("groups and atomics");
    return 0;
}
