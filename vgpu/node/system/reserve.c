/* SPDX-License-Identifier: MIT
 * reserve.c: see reserve.h. Pieces of the reserve are adjacent, each with its size; the first free
 * one that is large enough is used. There are few, since the reserve is used only while memory has
 * run out.
 */
#include "reserve.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNED 16

struct piece {
    uint32_t bytes; /* size of the whole piece; 0: end of the pieces made so far */
    uint32_t used;
    uint8_t padding[ALIGNED - 2 * sizeof(uint32_t)];
    uint8_t memory[];
};

static _Alignas(ALIGNED) uint8_t reserve[RESERVE_BYTES]; /* no pages until it is used */
static size_t used_bytes, made_bytes;

static bool is_reserve(const void *memory)
{
    return (const uint8_t *)memory >= reserve && (const uint8_t *)memory < reserve + RESERVE_BYTES;
}

static struct piece *piece_at(size_t at)
{
    return (struct piece *)(void *)(reserve + at);
}

/* Merges the piece at `at` with free pieces after it. */
static void join_free(size_t at)
{
    struct piece *piece = piece_at(at);
    while (at + piece->bytes < made_bytes && !piece_at(at + piece->bytes)->used)
        piece->bytes += piece_at(at + piece->bytes)->bytes;
}

static void split_piece(struct piece *piece, uint32_t bytes)
{
    if (piece->bytes - bytes < 2 * sizeof *piece)
        return;
    size_t rest = (size_t)((uint8_t *)piece - reserve) + bytes;
    *piece_at(rest) = (struct piece){.bytes = piece->bytes - bytes};
    piece->bytes = bytes;
}

/* NULL: the reserve is exhausted. */
static void *take_piece(size_t wanted)
{
    size_t bytes = (wanted + sizeof(struct piece) + ALIGNED - 1) / ALIGNED * ALIGNED, at = 0;
    if (wanted > RESERVE_BYTES / 2)
        return NULL;
    for (; at < made_bytes; at += piece_at(at)->bytes) {
        if (piece_at(at)->used)
            continue;
        join_free(at);
        if (piece_at(at)->bytes >= bytes)
            break;
    }
    if (at == made_bytes && bytes > RESERVE_BYTES - made_bytes)
        return NULL;
    struct piece *piece = piece_at(at);
    if (at == made_bytes) {
        piece->bytes = (uint32_t)bytes;
        made_bytes += bytes;
    }
    split_piece(piece, (uint32_t)bytes);
    piece->used = 1;
    used_bytes += piece->bytes;
    return piece->memory;
}

static void *take_reserve(size_t bytes)
{
    void *memory = take_piece(bytes);
    if (!memory) {
        fprintf(stderr, "vgpu-node: no memory left for %zu bytes, nor in the reserve\n", bytes);
        abort();
    }
    return memory;
}

void *reserve_take(size_t bytes)
{
    void *memory = calloc(1, bytes);
    return memory ? memory : memset(take_reserve(bytes), 0, bytes);
}

void *reserve_grow(void *old, size_t old_bytes, size_t bytes)
{
    void *memory = is_reserve(old) ? malloc(bytes) : realloc(old, bytes);
    if (memory && !is_reserve(old))
        return memory;
    if (!memory)
        memory = take_reserve(bytes);
    if (old)
        memcpy(memory, old, old_bytes);
    reserve_give(old);
    return memory;
}

void reserve_give(void *memory)
{
    if (!is_reserve(memory)) {
        free(memory);
        return;
    }
    struct piece *piece = (struct piece *)(void *)((uint8_t *)memory - sizeof *piece);
    piece->used = 0;
    used_bytes -= piece->bytes;
}

bool reserve_is_low(void)
{
    return used_bytes > RESERVE_BYTES / 2;
}
