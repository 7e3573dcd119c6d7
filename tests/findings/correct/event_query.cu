// SPDX-License-Identifier: MIT
// event_query.cu: the host asks for an event until it is over, and only then goes on elsewhere.
#include "correct.h"

int main()
{
    struct gpu g[GPUS];
    begin();
    for (int d = 0; d < gpus; d++)
        g[d] = make_gpu(d);
    for (int d = 0; d < gpus; d++) {
        cudaError_t state;
        CHECK(cudaSetDevice(d));
        if (d == 0)
            fill<<<BLOCKS, BLOCK, 0, g[d].stream>>>(g[d].a, 9);
        else
            copy_plus<<<BLOCKS, BLOCK, 0, g[d].stream>>>(g[d].a, g[d - 1].a, 3);
        CHECK(cudaGetLastError());
        CHECK(cudaEventRecord(g[d].done, g[d].stream));
        while ((state = cudaEventQuery(g[d].done)) == cudaErrorNotReady)
            cudaGetLastError(); // "not ready" counts as an error that was made
        CHECK(state);
    }
    int wrong = wrong_from(g[gpus - 1].a, 9 + 3 * (gpus - 1), 1);
    for (int d = 0; d < gpus; d++)
        free_gpu(d, &g[d]);
    return end(wrong);
}
