// SPDX-License-Identifier: MIT
// managed.cu: managed memory that GPUs write in turn, the host waiting between, and all then read.
#include "correct.h"

int main()
{
    struct gpu g[GPUS];
    int wrong = 0, *m;
    begin();
    CHECK(cudaMallocManaged((void **)&m, N * sizeof(int), cudaMemAttachGlobal));
    for (int i = 0; i < N; i++)
        m[i] = 0;
    for (int d = 0; d < gpus; d++)
        g[d] = make_gpu(d);
    for (int d = 0; d < gpus; d++) {
        CHECK(cudaSetDevice(d));
        copy_plus<<<BLOCKS, BLOCK, 0, g[d].stream>>>(m, m, d + 1);
        CHECK(cudaGetLastError());
        CHECK(cudaStreamSynchronize(g[d].stream));
    }
    for (int i = 0; i < N; i++)
        wrong += m[i] != gpus * (gpus + 1) / 2;
    for (int d = 0; d < gpus; d++) {
        CHECK(cudaSetDevice(d));
        copy_plus<<<BLOCKS, BLOCK, 0, g[d].stream>>>(g[d].a, m, 0);
        CHECK(cudaGetLastError());
    }
    sync_all();
    for (int d = 0; d < gpus; d++)
        wrong += wrong_from(g[d].a, gpus * (gpus + 1) / 2, 0);
    for (int d = 0; d < gpus; d++)
        free_gpu(d, &g[d]);
    CHECK(cudaFree(m));
    return end(wrong);
}
