/* SPDX-License-Identifier: MIT
 * huge.h: the adapters of copies of more than 2 GiB (part of runner.c). The buffers of "huge" are
 * one piece of memory mapped many times, one address behind the other, but for the piece in which
 * the copy ends. What "queued" asks for is never carried out: only what CUDA says of it is looked
 * at.
 */
#ifndef LAB03_HUGE_H
#define LAB03_HUGE_H

#include "aliased.h"

#define HUGE_PIECE ((size_t)4 << 20)
#define HUGE_PIECES (((size_t)1 << 31) / HUGE_PIECE + 1) /* in front of the last one */
#define HUGE_CHUNK (HUGE_PIECES * HUGE_PIECE)
#define HUGE_BYTES (HUGE_CHUNK + HUGE_PIECE / 2) /* half of the last piece is a guard */

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
    out->rc = stage_copy_async(&stage, dst, src, HUGE_BYTES, NULL);
    (void)stage_destroy(&stage);
    (void)cudaDeviceSynchronize();
    (void)cudaMemcpy(back, dst, sizeof back, cudaMemcpyDeviceToHost);
    out->wrong[0] = count_others(back, sizeof back, LONE_SENT);
    (void)cudaMemcpy(back, dst + HUGE_PIECES * HUGE_PIECE, sizeof back, cudaMemcpyDeviceToHost);
    out->wrong[1] = count_others(back, sizeof back / 2, (char)LONE_LATER);
    out->wrong[2] = count_others(back + sizeof back / 2, sizeof back / 2, (char)IO_RIM);
}

LAB_RUN(queued)
{
    const struct queued_in *in = lab_input(io, sizeof *in);
    struct queued_out *out = lab_result(io, sizeof *out);
    struct stage stage;
    void *dst = NULL, *src = NULL, *room = NULL;
    (void)cudaSetDevice(in->dst_dev);
    out->setup = cudaMalloc(&dst, in->bytes) != cudaSuccess;
    (void)cudaSetDevice(in->src_dev);
    out->setup = out->setup || cudaMalloc(&src, in->bytes) != cudaSuccess;
    if (!out->setup && cudaMallocHost(&room, 2 * in->chunk) != cudaSuccess) {
        (void)cudaGetLastError();
        out->setup = QUEUED_NO_MEMORY;
        return;
    }
    (void)cudaFreeHost(room);
    out->setup = out->setup || stage_create(&stage, in->dst_dev, in->src_dev, in->chunk) != LAB_OK;
    out->rc = out->setup ? 0 : stage_copy_async(&stage, dst, src, in->bytes, NULL);
}

#endif
