// SPDX-License-Identifier: MIT
// ptx_release.cu: st.release.sys and ld.acquire.sys between running kernels of two GPUs.
#include "correct.h"

__global__ void produce(int *data, int *flag)
{
    for (int i = 0; i < N; i++)
        data[i] = 8 + i;
    asm volatile("st.release.sys.global.s32 [%0], %1;" ::"l"(flag), "r"(1) : "memory");
}

__global__ void consume(int *to, const int *data, int *flag)
{
    int seen = 0;
    while (seen == 0)
        asm volatile("ld.acquire.sys.global.s32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
    for (int i = 0; i < N; i++)
        to[i] = 2 * data[i];
}

int main()
{
    struct gpu first, last;
    begin();
    first = make_gpu(0);
    last = make_gpu(gpus - 1);
    consume<<<1, 1, 0, last.stream>>>(last.b, last.a, first.b);
    CHECK(cudaSetDevice(0));
    produce<<<1, 1, 0, first.stream>>>(last.a, first.b);
    CHECK(cudaGetLastError());
    sync_all();
    int wrong = wrong_from(last.b, 16, 2);
    free_gpu(0, &first);
    free_gpu(gpus - 1, &last);
    return end(wrong);
}
