// SPDX-License-Identifier: MIT
// callback_tells_host.cu: host functions count what is ready; the host issues the next GPU's work
// when it sees the count.
#include "correct.h"

static int ready;

static void count_up(void *data)
{
    (void)data;
    __atomic_add_fetch(&ready, 1, __ATOMIC_SEQ_CST);
}

int main()
{
    struct gpu g[GPUS];
    begin();
    for (int d = 0; d < gpus; d++)
        g[d] = make_gpu(d);
    for (int d = 0; d < gpus; d++) {
        CHECK(cudaSetDevice(d));
        if (d == 0)
            fill<<<BLOCKS, BLOCK, 0, g[d].stream>>>(g[d].a, 1);
        else
            copy_plus<<<BLOCKS, BLOCK, 0, g[d].stream>>>(g[d].a, g[d - 1].a, 5);
        CHECK(cudaGetLastError());
        CHECK(cudaLaunchHostFunc(g[d].stream, count_up, NULL));
        while (__atomic_load_n(&ready, __ATOMIC_SEQ_CST) <= d)
            ;
    }
    CHECK(cudaStreamSynchronize(g[gpus - 1].stream));
    int wrong = wrong_from(g[gpus - 1].a, 1 + 5 * (gpus - 1), 1);
    for (int d = 0; d < gpus; d++)
        free_gpu(d, &g[d]);
    return end(wrong);
}
