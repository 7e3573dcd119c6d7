// SPDX-License-Identifier: MIT
// legacy_default.cu: on each GPU two blocking streams, ordered by kernels in the legacy default
// stream between them; the GPUs do not meet before the host adds up.
#include "correct.h"

int main()
{
    int wrong = 0, *a[GPUS];
    cudaStream_t s[GPUS][2];
    begin();
    for (int d = 0; d < gpus; d++) {
        a[d] = zeros_on(d, N);
        for (int i = 0; i < 2; i++)
            CHECK(cudaStreamCreate(&s[d][i]));
    }
    for (int d = 0; d < gpus; d++) {
        CHECK(cudaSetDevice(d));
        fill<<<BLOCKS, BLOCK, 0, s[d][0]>>>(a[d], d);
        add<<<BLOCKS, BLOCK>>>(a[d], a[d]);
        copy_plus<<<BLOCKS, BLOCK, 0, s[d][1]>>>(a[d], a[d], 1);
        CHECK(cudaGetLastError());
    }
    sync_all();
    for (int d = 0; d < gpus; d++) {
        wrong += wrong_from(a[d], 2 * d + 1, 2);
        CHECK(cudaSetDevice(d));
        for (int i = 0; i < 2; i++)
            CHECK(cudaStreamDestroy(s[d][i]));
        CHECK(cudaFree(a[d]));
    }
    return end(wrong);
}
