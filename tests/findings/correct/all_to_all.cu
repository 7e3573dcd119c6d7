// SPDX-License-Identifier: MIT
// all_to_all.cu: every GPU stores a part into every other's buffer at the same time; the parts are
// disjoint, so nothing need order them.
#include "correct.h"

enum { PART = N / GPUS };

struct buffers {
    int *of[GPUS];
};

__global__ void scatter(struct buffers to, int mine, int all)
{
    for (int d = 0; d < all; d++)
        to.of[d][mine * PART + threadIdx.x] = 1000 * mine + d;
}

int main()
{
    struct gpu g[GPUS];
    struct buffers to;
    int wrong = 0, got[N];
    begin();
    for (int d = 0; d < gpus; d++) {
        g[d] = make_gpu(d);
        to.of[d] = g[d].a;
    }
    for (int d = 0; d < gpus; d++) {
        CHECK(cudaSetDevice(d));
        scatter<<<1, PART, 0, g[d].stream>>>(to, d, gpus);
        CHECK(cudaGetLastError());
    }
    sync_all();
    for (int d = 0; d < gpus; d++) {
        CHECK(cudaMemcpy(got, g[d].a, sizeof got, cudaMemcpyDeviceToHost));
        for (int i = 0; i < gpus * PART; i++)
            wrong += got[i] != 1000 * (i / PART) + d;
        free_gpu(d, &g[d]);
    }
    return end(wrong);
}
