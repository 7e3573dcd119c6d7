// SPDX-License-Identifier: MIT
// copy_ring.cu: cudaMemcpyPeer around the ring, without peer access: the calls themselves wait.
#include "correct.h"

int main()
{
    int *a[GPUS];
    count_gpus();
    for (int d = 0; d < gpus; d++)
        a[d] = zeros_on(d, N);
    CHECK(cudaSetDevice(0));
    fill<<<BLOCKS, BLOCK>>>(a[0], 3);
    CHECK(cudaGetLastError());
    for (int d = 0; d < gpus; d++) {
        int to = (d + 1) % gpus;
        CHECK(cudaMemcpyPeer(a[to], to, a[d], d, N * sizeof(int)));
        CHECK(cudaSetDevice(to));
        copy_plus<<<BLOCKS, BLOCK>>>(a[to], a[to], 1);
        CHECK(cudaGetLastError());
    }
    CHECK(cudaDeviceSynchronize());
    int wrong = wrong_from(a[0], 3 + gpus, 1);
    for (int d = 0; d < gpus; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaFree(a[d]));
    }
    return wrong != 0;
}
