// SPDX-License-Identifier: MIT
// last_one.cu: every GPU leaves a part and takes a ticket; whoever takes the last adds all up.
#include "correct.h"

__global__ void sum(int *part, int *ticket, int *result, int mine, int all)
{
    part[mine] = 100 + mine;
    __threadfence_system();
    if (atomicAdd_system(ticket, 1) != all - 1)
        return;
    __threadfence_system();
    int total = 0;
    for (int i = 0; i < all; i++)
        total += part[i];
    *result = total;
}

int main()
{
    struct gpu g[GPUS];
    int result;
    begin();
    for (int d = 0; d < gpus; d++)
        g[d] = make_gpu(d);
    for (int d = 0; d < gpus; d++) {
        CHECK(cudaSetDevice(d));
        sum<<<1, 1, 0, g[d].stream>>>(g[0].a, g[0].b, g[0].b + 1, d, gpus);
        CHECK(cudaGetLastError());
    }
    sync_all();
    CHECK(cudaMemcpy(&result, g[0].b + 1, sizeof result, cudaMemcpyDeviceToHost));
    int wrong = result != 100 * gpus + gpus * (gpus - 1) / 2;
    for (int d = 0; d < gpus; d++)
        free_gpu(d, &g[d]);
    return end(wrong);
}
