// SPDX-License-Identifier: MIT
// ptx_words.cu: words that are their own flags, by volatile PTX; who takes one empties its place.
#include "correct.h"

__global__ void put(uint4 *board)
{
    for (int i = me(); 4 * i < N; i += BLOCKS * BLOCK)
        asm volatile("st.volatile.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(board + i),
                     "r"(12u * i + 3), "r"(12u * i + 6), "r"(12u * i + 9), "r"(12u * i + 12)
                     : "memory");
}

__global__ void take(int *to, uint4 *board)
{
    for (int i = me(); 4 * i < N; i += BLOCKS * BLOCK) {
        uint4 v;
        do
            asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                         : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                         : "l"(board + i)
                         : "memory");
        while (!v.x || !v.y || !v.z || !v.w);
        board[i] = make_uint4(0, 0, 0, 0);
        const unsigned words[] = {v.x, v.y, v.z, v.w};
        for (int k = 0; k < 4 && 4 * i + k < N; k++)
            to[4 * i + k] = (int)words[k];
    }
}

int main()
{
    struct gpu first, last;
    begin();
    first = make_gpu(0);
    last = make_gpu(gpus - 1);
    uint4 *board = (uint4 *)zeros_on(gpus - 1, N + 4);
    for (int call = 0; call < 2; call++) {
        CHECK(cudaSetDevice(gpus - 1));
        take<<<BLOCKS, BLOCK, 0, last.stream>>>(last.a, board);
        CHECK(cudaSetDevice(0));
        put<<<BLOCKS, BLOCK, 0, first.stream>>>(board);
        CHECK(cudaGetLastError());
        sync_all();
    }
    int wrong = wrong_from(last.a, 3, 3);
    free_gpu(0, &first);
    free_gpu(gpus - 1, &last);
    CHECK(cudaFree(board));
    return end(wrong);
}
