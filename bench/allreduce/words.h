/* SPDX-License-Identifier: MIT
 * words.h: messages between GPUs whose every word is its own flag.
 *
 * A receiver's board is filled with AR_NOTHING. The sender stores data there, in vectors of four
 * words; the receiver reads a vector again and again until none of its words is AR_NOTHING, takes
 * it and writes AR_NOTHING back. No fence, no flag and no barrier: half a round trip is saved where
 * a fence would wait for the stores to arrive, and no word relies on the order of any other.
 * AR_NOTHING is a NaN that arithmetic never gives; a sender that has it in its data sends another
 * NaN.
 *
 * Why the words may be sent without asking whether the board is free: calls use its two halves in
 * turn. A rank that sends in call k has ended call k - 1, so it has got words of call k - 1 from
 * every other rank; they sent those after they had ended call k - 2, in which they emptied this
 * half.
 */
#ifndef AR_WORDS_H
#define AR_WORDS_H

#include "device.h"

#define AR_NOTHING 0xffffffffu
#define AR_OTHER_NAN 0x7fffffffu

/* Relaxed at the scope of the system, word by word. */
__device__ __forceinline__ void words_put(uint4 *to, uint4 v)
{
    asm volatile("st.volatile.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(v.x), "r"(v.y),
                 "r"(v.z), "r"(v.w)
                 : "memory");
}

__device__ __forceinline__ uint4 words_get(const uint4 *from)
{
    uint4 v;
    asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(from)
                 : "memory");
    return v;
}

__device__ __forceinline__ bool words_here(uint4 v)
{
    return v.x != AR_NOTHING && v.y != AR_NOTHING && v.z != AR_NOTHING && v.w != AR_NOTHING;
}

__device__ __forceinline__ unsigned word_to_send(unsigned word)
{
    return word == AR_NOTHING ? AR_OTHER_NAN : word;
}

__device__ __forceinline__ uint4 words_to_send(uint4 v)
{
    return make_uint4(word_to_send(v.x), word_to_send(v.y), word_to_send(v.z), word_to_send(v.w));
}

__device__ __forceinline__ uint4 words_nothing(void)
{
    return make_uint4(AR_NOTHING, AR_NOTHING, AR_NOTHING, AR_NOTHING);
}

/* Rank me's board for what `source` sends, in the half of call `call`. Vector i of it is data[i].
 */
__device__ __forceinline__ uint4 *words_board(const struct ar_device &d, int rank, unsigned call,
                                              int area, int source)
{
    size_t slot = ((size_t)((call & 1) * 2 + area) * d.n + source) * d.slot;
    return d.board[rank] + slot;
}

/* Waits for vector i of every other rank, empties the board there, and puts `mine` in rank me's
 * place: v[0 .. N-1] is in the order of ranks. `from`: this rank's board for source 0. */
template <int N>
__device__ __forceinline__ void words_take(const struct ar_device &d, uint4 *from, uint4 mine,
                                           uint4 v[N])
{
    bool all;

    do {
        all = true;
#pragma unroll
        for (int r = 0; r < N; r++) {
            v[r] = r == d.me ? mine : words_get(from + r * d.slot);
            all = all && (r == d.me || words_here(v[r]));
        }
    } while (!all);
#pragma unroll
    for (int r = 0; r < N; r++)
        if (r != d.me)
            from[r * d.slot] = words_nothing();
}

#endif
