// SPDX-License-Identifier: MIT
// sync_copies.cu: cudaMemcpy to pageable memory is the only wait there is, before the next GPU.
#include "correct.h"

int main()
{
    static int host[N];
    int *a[GPUS], wrong = 0;
    count_gpus();
    for (int d = 0; d < gpus; d++)
        a[d] = zeros_on(d, N);
    for (int d = 0; d < gpus; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaMemcpy(a[d], host, sizeof host, cudaMemcpyHostToDevice));
        copy_plus<<<BLOCKS, BLOCK>>>(a[d], a[d], d + 1);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(host, a[d], sizeof host, cudaMemcpyDeviceToHost));
    }
    for (int i = 0; i < N; i++)
        wrong += host[i] != gpus * (gpus + 1) / 2;
    for (int d = 0; d < gpus; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaFree(a[d]));
    }
    return wrong != 0;
}
