// SPDX-License-Identifier: MIT
// Thread block clusters are not modelled: each use is told so, at its line.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void meets(int *out)
{
    __shared__ int mine;
    mine = threadIdx.x;
    cg::cluster_group cluster = cg::this_cluster(); //! thread block clusters are not modelled
    cluster.sync(); //! thread block clusters are not modelled
    *out = *cluster.map_shared_rank(&mine, 1); //! thread block clusters are not modelled
}

int main()
{
    int *out = nullptr;
    meets<<<2, 1>>>(out);
}
