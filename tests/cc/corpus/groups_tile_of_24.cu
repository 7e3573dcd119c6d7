// A tile that is no power of two.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k()
{
    cg::tiled_partition<24>(cg::this_thread_block()).sync();
}
int main()
{
    k<<<1, 64>>>();
}
