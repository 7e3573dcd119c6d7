// SPDX-License-Identifier: MIT
// openmp.cu: an OpenMP thread a GPU; each waits for its GPU before the barrier, behind which all
// read their neighbours.
#include "correct.h"
#include <omp.h>

#define FIVE(name) name##0 = 1, name##1 = 2, name##2 = 3, name##3 = 4, name##4 = 5
#define SUM_OF_FIVE(name) (name##0 + name##1 + name##2 + name##3 + name##4)

/* A region that shares 41 variables with the code around it. */
static int share_many()
{
    int FIVE(a), FIVE(b), FIVE(c), FIVE(d), FIVE(e), FIVE(f), FIVE(g), FIVE(h), sum = 0;
#pragma omp parallel num_threads(2)
    {
#pragma omp critical
        sum += SUM_OF_FIVE(a) + SUM_OF_FIVE(b) + SUM_OF_FIVE(c) + SUM_OF_FIVE(d) + SUM_OF_FIVE(e) +
               SUM_OF_FIVE(f) + SUM_OF_FIVE(g) + SUM_OF_FIVE(h);
    }
    return sum == 2 * 8 * 15 ? 0 : 1;
}

int main()
{
    struct gpu g[GPUS];
    int wrong = share_many();
    begin();
    for (int d = 0; d < gpus; d++)
        g[d] = make_gpu(d);
#pragma omp parallel num_threads(gpus)
    {
        int d = omp_get_thread_num(), left = (d + gpus - 1) % gpus;
        CHECK(cudaSetDevice(d));
        fill<<<BLOCKS, BLOCK, 0, g[d].stream>>>(g[d].a, 50 * d);
        CHECK(cudaGetLastError());
        CHECK(cudaStreamSynchronize(g[d].stream));
#pragma omp barrier
        copy_plus<<<BLOCKS, BLOCK, 0, g[d].stream>>>(g[d].b, g[left].a, 1);
        CHECK(cudaGetLastError());
        CHECK(cudaStreamSynchronize(g[d].stream));
    }
    for (int d = 0; d < gpus; d++)
        wrong += wrong_from(g[d].b, 50 * ((d + gpus - 1) % gpus) + 1, 1);
    for (int d = 0; d < gpus; d++)
        free_gpu(d, &g[d]);
    return end(wrong);
}
