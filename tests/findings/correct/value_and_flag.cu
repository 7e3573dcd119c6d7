// SPDX-License-Identifier: MIT
// value_and_flag.cu: value and flag in one volatile word of eight bytes: nothing to order.
#include "correct.h"

typedef unsigned long long word;

__global__ void send(word *to)
{
    if (me() < N)
        ((volatile word *)to)[me()] = (word)1 << 32 | (word)(6 * me());
}

__global__ void receive(int *to, const word *from)
{
    word got = 0;
    while (me() < N && got >> 32 == 0)
        got = ((const volatile word *)from)[me()];
    if (me() < N)
        to[me()] = (int)got;
}

int main()
{
    struct gpu first, last;
    begin();
    first = make_gpu(0);
    last = make_gpu(gpus - 1);
    word *inbox = (word *)zeros_on(gpus - 1, 2 * N);
    receive<<<BLOCKS, BLOCK, 0, last.stream>>>(last.a, inbox);
    CHECK(cudaSetDevice(0));
    send<<<BLOCKS, BLOCK, 0, first.stream>>>(inbox);
    CHECK(cudaGetLastError());
    sync_all();
    int wrong = wrong_from(last.a, 0, 6);
    free_gpu(0, &first);
    free_gpu(gpus - 1, &last);
    CHECK(cudaFree(inbox));
    return end(wrong);
}
