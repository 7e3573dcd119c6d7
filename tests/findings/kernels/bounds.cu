/* SPDX-License-Identifier: MIT
 * bounds.cu: the last element and the one after it.
 */
#include "cases.h"

/* A small allocation among others, so that the memory around it is mapped. */
static int *small(size_t count)
{
    int *p;
    MUST(cudaMalloc(&p, count * sizeof *p));
    MUST(cudaMemset(p, 0, count * sizeof *p));
    return p;
}

__global__ void fill(int *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] = i; //! one_more
}
WRONG(one_more, "kernels.bounds")
{
    fill<<<4, 64>>>(small(200), 201);
}
RIGHT(all)
{
    fill<<<4, 64>>>(small(200), 200);
}

__global__ void unguarded(int *p)
{
    p[blockIdx.x * blockDim.x + threadIdx.x] = 1; //! no_guard
}
WRONG(no_guard, "kernels.bounds")
{
    unguarded<<<4, 64>>>(small(200));
}
RIGHT(no_guard_needed)
{
    unguarded<<<4, 64>>>(small(256));
}

__global__ void stencil(const int *p, int *out, int n)
{
    int i = threadIdx.x;
    if (i < n)
        out[i] = p[i] + p[i + 1]; //! stencil
}
WRONG(stencil, "kernels.bounds")
{
    stencil<<<1, 128>>>(small(128), data, 128);
}
RIGHT(stencil_right)
{
    stencil<<<1, 128>>>(small(129), data, 128);
}

__global__ void columns(int *p, int rows, int width)
{
    for (int r = 0; r < rows; r++)
        p[r * width + threadIdx.x] = r; //! columns
}
WRONG(columns, "kernels.bounds")
{
    columns<<<1, 32>>>(small(32 * 8), 8, 33);
}
RIGHT(columns_right)
{
    columns<<<1, 32>>>(small(32 * 8), 8, 32);
}

__global__ void wide(int4 *p)
{
    p[threadIdx.x] = make_int4(1, 2, 3, 4); //! wide
}
WRONG(wide, "kernels.bounds")
{
    wide<<<1, 32>>>((int4 *)small(126));
}
RIGHT(wide_right)
{
    wide<<<1, 32>>>((int4 *)small(128));
}
