// SPDX-License-Identifier: MIT
// wraps.cu: lengths so great that the end comes before the beginning, or nearly so. What is taken
// faults later, so each is a case of its own.
#include "ask.h"

static char *memory(void)
{
    void *p = NULL;
    OK(cudaMalloc(&p, 65536));
    OK(cudaMemset(p, 5, 65536));
    OK(cudaDeviceSynchronize());
    return (char *)p;
}

static void after(void)
{
    R(cudaDeviceSynchronize());
    R(cudaGetLastError());
}

CASE(wrap_fill)
{
    char *p = memory();
    R(cudaMemset(p, 1, (size_t)-1));
    after();
}

CASE(wrap_fill_inside)
{
    char *p = memory();
    R(cudaMemset(p + 4096, 1, (size_t)-4096));
    after();
}

CASE(wrap_fill_page)
{
    char *p = memory();
    R(cudaMemset(p, 1, (size_t)-4096));
    after();
}

CASE(wrap_fill_zero)
{
    char *p = memory();
    R(cudaMemset(p, 1, (size_t)0 - (size_t)p));
    after();
}

CASE(wrap_fill_not)
{
    char *p = memory();
    R(cudaMemset(p, 1, (size_t)0 - (size_t)p - 1));
    R(cudaMemset(p, 1, (size_t)1 << 62));
    R(cudaMemset(p, 1, 65537));
    after();
}

CASE(wrap_fill_async)
{
    char *p = memory();
    R(cudaMemsetAsync(p, 1, (size_t)-1, 0));
    after();
}

CASE(wrap_fill_words)
{
    char *p = memory();
    D(cuMemsetD32Async((CUdeviceptr)p, 1, (size_t)-1 / 4, 0));
    after();
}

CASE(wrap_fill_bytes)
{
    char *p = memory();
    D(cuMemsetD8((CUdeviceptr)p, 1, (size_t)-1));
    after();
}

CASE(wrap_copy)
{
    char *p = memory(), *q = memory();
    R(cudaMemcpy(p, q, (size_t)-1, cudaMemcpyDeviceToDevice));
    after();
}

CASE(wrap_copy_peer)
{
    char *p = memory(), *q = memory();
    R(cudaMemcpyPeer(p, 0, q, 0, (size_t)-1));
    after();
}
