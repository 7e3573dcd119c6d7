// SPDX-License-Identifier: MIT
// stream_query.cu: the host asks each GPU's stream until all are idle; then the sums are taken.
#include "correct.h"

int main()
{
    struct gpu g[GPUS];
    begin();
    for (int d = 0; d < gpus; d++)
        g[d] = make_gpu(d);
    for (int d = 0; d < gpus; d++) {
        CHECK(cudaSetDevice(d));
        fill<<<BLOCKS, BLOCK, 0, g[d].stream>>>(g[d].a, 2 * d);
        CHECK(cudaGetLastError());
    }
    for (int d = 0; d < gpus; d++) {
        cudaError_t state;
        while ((state = cudaStreamQuery(g[d].stream)) == cudaErrorNotReady)
            cudaGetLastError(); // "not ready" counts as an error that was made
        CHECK(state);
    }
    CHECK(cudaSetDevice(gpus - 1));
    for (int d = 0; d < gpus; d++)
        add<<<BLOCKS, BLOCK, 0, g[gpus - 1].stream>>>(g[gpus - 1].b, g[d].a);
    CHECK(cudaGetLastError());
    CHECK(cudaStreamSynchronize(g[gpus - 1].stream));
    int wrong = wrong_from(g[gpus - 1].b, gpus * (gpus - 1), gpus);
    for (int d = 0; d < gpus; d++)
        free_gpu(d, &g[d]);
    return end(wrong);
}
