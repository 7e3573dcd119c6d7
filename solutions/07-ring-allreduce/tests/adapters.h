/* SPDX-License-Identifier: MIT
 * adapters.h: what the adapters of lab 07 share: around every call, and the numbers.
 */
#ifndef LAB07_ADAPTERS_H
#define LAB07_ADAPTERS_H

#include <stdlib.h>
#include <string.h>

#include "io.h"
#include "runner.h"

/* ---- around every call ---- */

static inline int gpu_count(void)
{
    int n = 0;
    if (cudaGetDeviceCount(&n) != cudaSuccess)
        n = 0;
    cudaGetLastError();
    return n;
}

static inline void before(int current)
{
    if (current < gpu_count())
        cudaSetDevice(current);
    cudaGetLastError();
}

static inline void after(struct outcome *call, int rc)
{
    int current = -1;
    call->rc = rc;
    call->error = (int32_t)cudaPeekAtLastError();
    if (cudaGetDevice(&current) != cudaSuccess)
        current = -1;
    call->current = current;
    if (gpu_count() == 0) /* then every call fails, the one that looks too */
        call->error = 0;
    cudaGetLastError();
}

/* `count` elements of the rank between guards, in pageable memory. */
static inline unsigned char *make(uint64_t seed, int rank, uint64_t count, size_t each, int type,
                                  int numbers)
{
    size_t bytes = (size_t)(count + 2 * GUARD) * each;
    unsigned char *at = malloc(bytes);
    memset(at, UNTOUCHED, bytes);
    for (uint64_t i = 0; i < count; i++) {
        unsigned char *to = at + (GUARD + i) * each;
        float real = io_real(seed, rank, i);
        if (numbers == REAL)
            memcpy(to, &real, sizeof real);
        else
            io_put(to, (enum ring_type)type, io_whole(seed, rank, i));
    }
    return at;
}

#endif
