/* SPDX-License-Identifier: MIT
 * adapters.h: what the adapters of lab 07 share: around every call, and the numbers.
 */
#ifndef LAB07_ADAPTERS_H
#define LAB07_ADAPTERS_H

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

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

#define PAGE 65536 /* a multiple of every machine's */

/* A copy at the end of memory: who reads behind it is ended by a signal. */
static inline void *fenced(const void *from, size_t bytes)
{
    char *two =
        mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, (off_t)0);
    if (two == MAP_FAILED || mprotect(two + PAGE, PAGE, PROT_NONE) != 0)
        abort();
    return memcpy(two + PAGE - bytes, from, bytes);
}

static inline void unfence(void *at, size_t bytes)
{
    munmap((char *)at + bytes - PAGE, 2 * (size_t)PAGE);
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

#endif
