/* SPDX-License-Identifier: MIT
 * one_shot.cu: every rank sends all it has to every other rank, and adds up what came.
 *
 * One hop, and (n - 1) * bytes out of every GPU: for messages so small that a hop costs more.
 */
#include "kernels.h"
#include "words.h"

template <int N>
static __global__ void __launch_bounds__(512)
    one_shot(struct ar_device d, const float *send, float *recv, size_t count)
{
    AR_START_EARLY();
    const unsigned call = ar_call(d);
    const unsigned vectors = (unsigned)((count + 3) / 4);
    const unsigned each = (vectors + gridDim.x - 1) / gridDim.x, first = blockIdx.x * each;
    const unsigned end = first + each < vectors ? first + each : vectors;

    for (unsigned i = first + threadIdx.x; i < end; i += blockDim.x) {
        uint4 v = words_to_send(ar_load(send, i, count));
#pragma unroll
        for (int k = 1; k < N; k++)
            words_put(words_board(d, (d.me + k) % N, call, AR_AREA_REDUCE, d.me) + i, v);
    }
    uint4 *board = words_board(d, d.me, call, AR_AREA_REDUCE, 0);
    for (unsigned i = first + threadIdx.x; i < end; i += blockDim.x) {
        uint4 v[N];
        words_take<N>(d, board + i, ar_load(send, i, count), v);
        ar_store(recv, i, count, ar_sum<N>(v));
    }
    ar_count(d, call);
}

const void *ar_one_shot_kernel(int n)
{
    AR_KERNEL_OF(one_shot, n);
}
