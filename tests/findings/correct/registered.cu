// SPDX-License-Identifier: MIT
// registered.cu: the program's own pages, registered; all GPUs write parts of them by copies, and
// the host reads when all events are over.
#include "correct.h"

int main()
{
    struct gpu g[GPUS];
    int wrong = 0, *pages = (int *)aligned_alloc(4096, 8 * 4096);
    if (!pages)
        return 2;
    count_gpus();
    CHECK(cudaHostRegister(pages, 8 * 4096, cudaHostRegisterPortable));
    for (int d = 0; d < gpus; d++) {
        g[d] = make_gpu(d);
        fill<<<BLOCKS, BLOCK, 0, g[d].stream>>>(g[d].a, 1 + d);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpyAsync(pages + d * N, g[d].a, N * sizeof(int), cudaMemcpyDeviceToHost,
                              g[d].stream));
        CHECK(cudaEventRecord(g[d].done, g[d].stream));
    }
    for (int d = 0; d < gpus; d++) {
        CHECK(cudaEventSynchronize(g[d].done));
        for (int i = 0; i < N; i++)
            wrong += pages[d * N + i] != 1 + d + i;
        free_gpu(d, &g[d]);
    }
    CHECK(cudaHostUnregister(pages));
    free(pages);
    return wrong != 0;
}
