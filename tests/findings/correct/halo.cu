// SPDX-License-Identifier: MIT
// halo.cu: each GPU owns a stretch of cells with a halo cell at both ends; kernels store the edges
// into the neighbours' halos, double-buffered, an event a step.
#include "correct.h"

enum { CELLS = 64, STEPS = 6 };

/* Cell i of the new stretch is the sum of its neighbours in the old one, modulo 1000. */
__global__ void advance(int *now, const int *old, int *left_halo, int *right_halo)
{
    int i = threadIdx.x + 1, value = (old[i - 1] + old[i + 1]) % 1000;
    now[i] = value;
    if (i == 1 && left_halo)
        *left_halo = value;
    if (i == CELLS && right_halo)
        *right_halo = value;
}

static int wrong_cells(struct gpu *g)
{
    int cells = gpus * CELLS, wrong = 0, got[CELLS];
    static int a[GPUS * CELLS + 2], b[GPUS * CELLS + 2];
    for (int i = 1; i <= cells; i++)
        a[i] = (i - 1) % CELLS + 1;
    for (int s = 0; s < STEPS; s++) {
        for (int i = 1; i <= cells; i++)
            b[i] = (a[i - 1] + a[i + 1]) % 1000;
        for (int i = 1; i <= cells; i++)
            a[i] = b[i];
    }
    for (int d = 0; d < gpus; d++) {
        CHECK(cudaMemcpy(got, g[d].a + 1, sizeof got, cudaMemcpyDeviceToHost));
        for (int i = 0; i < CELLS; i++)
            wrong += got[i] != a[d * CELLS + i + 1];
    }
    return wrong;
}

int main()
{
    struct gpu g[GPUS];
    cudaEvent_t done[GPUS][2];
    int first[CELLS + 2];
    begin();
    for (int d = 0; d < gpus; d++) {
        g[d] = make_gpu(d);
        done[d][0] = event_on(d);
        done[d][1] = event_on(d);
        for (int i = 0; i < CELLS + 2; i++)
            first[i] = i;
        first[0] = d > 0 ? CELLS : 0;
        first[CELLS + 1] = d + 1 < gpus ? 1 : 0;
        CHECK(cudaMemcpy(g[d].a, first, sizeof first, cudaMemcpyHostToDevice));
    }
    for (int s = 0; s < STEPS; s++)
        for (int d = 0; d < gpus; d++) {
            int *old = s % 2 ? g[d].b : g[d].a, *now = s % 2 ? g[d].a : g[d].b;
            int *left = d == 0 ? NULL : s % 2 ? g[d - 1].a : g[d - 1].b;
            int *right = d + 1 == gpus ? NULL : s % 2 ? g[d + 1].a : g[d + 1].b;
            CHECK(cudaSetDevice(d));
            for (int p = d - 1; s > 0 && p <= d + 1; p += 2)
                if (p >= 0 && p < gpus)
                    CHECK(cudaStreamWaitEvent(g[d].stream, done[p][(s - 1) % 2], 0));
            advance<<<1, CELLS, 0, g[d].stream>>>(now, old, left ? left + CELLS + 1 : NULL, right);
            CHECK(cudaGetLastError());
            CHECK(cudaEventRecord(done[d][s % 2], g[d].stream));
        }
    sync_all();
    int wrong = wrong_cells(g);
    for (int d = 0; d < gpus; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaEventDestroy(done[d][0]));
        CHECK(cudaEventDestroy(done[d][1]));
        free_gpu(d, &g[d]);
    }
    return end(wrong);
}
