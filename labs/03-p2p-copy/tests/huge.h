/* SPDX-License-Identifier: MIT
 * huge.h: the adapter of a copy in a chunk of more than 2 GiB and a small one (part of runner.c).
 * On the GPUs and in the host, its buffers are one piece of memory mapped many times, one address
 * behind the other, but for the piece in which the copy ends.
 */
#ifndef LAB03_HUGE_H
#define LAB03_HUGE_H

#include <sys/mman.h>

#include "aliased.h"

#define HUGE_PIECE ((size_t)4 << 20)
#define HUGE_PIECES (((size_t)1 << 31) / HUGE_PIECE + 1) /* in front of the last one */
#define HUGE_CHUNK (HUGE_PIECES * HUGE_PIECE)
#define HUGE_BYTES (HUGE_CHUNK + HUGE_PIECE / 2) /* half of the last piece is a guard */

/* A buffer for a chunk, and behind it no memory. The copy's end is in a piece of its own. */
static void *huge_chunk(void)
{
    const size_t end = (HUGE_BYTES - HUGE_CHUNK) / HUGE_PIECE * HUGE_PIECE;
    char *pieces =
        mmap(NULL, 2 * HUGE_PIECE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    char *at = mmap(NULL, HUGE_CHUNK + HUGE_PIECE, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pieces == MAP_FAILED || at == MAP_FAILED)
        return NULL;
    for (size_t i = 0; i < HUGE_CHUNK; i += HUGE_PIECE) /* of 0 bytes: the same memory once more */
        if (mremap(pieces + (i == end ? HUGE_PIECE : 0), 0, HUGE_PIECE,
                   MREMAP_MAYMOVE | MREMAP_FIXED, at + i) == MAP_FAILED)
            return NULL;
    return at;
}

/* Fills both pieces. */
static void fill_huge(char *buffer, int many, int last)
{
    (void)cudaMemset(buffer, many, HUGE_PIECE);
    (void)cudaMemset(buffer + HUGE_PIECES * HUGE_PIECE, last, HUGE_PIECE);
    (void)cudaDeviceSynchronize();
}

static int count_others(const char *at, size_t bytes, char value)
{
    int others = 0;
    for (size_t i = 0; i < bytes; i++)
        others += at[i] != value;
    return others;
}

LAB_RUN(huge)
{
    const struct huge_in *in = lab_input(io, sizeof *in);
    struct huge_out *out = lab_result(io, sizeof *out);
    static char back[HUGE_PIECE];
    struct stage stage;
    char *dst = lab_aliased(in->dst_dev, HUGE_PIECE, HUGE_PIECES, HUGE_PIECE);
    if (dst)
        fill_huge(dst, IO_RIM, IO_RIM);
    char *src = lab_aliased(in->src_dev, HUGE_PIECE, HUGE_PIECES, HUGE_PIECE);
    if (src)
        fill_huge(src, LONE_SENT, LONE_LATER);
    out->setup = !dst || !src || stage_create(&stage, in->dst_dev, in->src_dev, HUGE_PIECE);
    if (out->setup)
        return;
    const struct stage made = stage;
    stage.chunk_bytes = HUGE_CHUNK;
    for (int i = 0; i < 2; i++)
        out->setup |= !(stage.host[i] = huge_chunk());
    if (!out->setup)
        out->rc = stage_copy_async(&stage, dst, src, HUGE_BYTES, NULL);
    stage = made;
    (void)stage_destroy(&stage);
    (void)cudaDeviceSynchronize();
    (void)cudaMemcpy(back, dst, sizeof back, cudaMemcpyDeviceToHost);
    out->wrong[0] = count_others(back, sizeof back, LONE_SENT);
    (void)cudaMemcpy(back, dst + HUGE_PIECES * HUGE_PIECE, sizeof back, cudaMemcpyDeviceToHost);
    out->wrong[1] = count_others(back, sizeof back / 2, (char)LONE_LATER);
    out->wrong[2] = count_others(back + sizeof back / 2, sizeof back / 2, (char)IO_RIM);
}

#endif
