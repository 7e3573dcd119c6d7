// Cooperative groups: a block, tiles of it, a sum.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void k(int *p)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
    int sum = cg::reduce(tile, (int)tile.thread_rank(), cg::plus<int>());
    block.sync();
    if (tile.thread_rank() == 0)
        p[tile.meta_group_rank()] = sum;
}
int main()
{
    k<<<1, 64>>>(nullptr);
}
