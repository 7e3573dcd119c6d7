/* SPDX-License-Identifier: MIT
 * freed.cu: memory that is used after cudaFree, next to memory that is not.
 */
#include "cases.h"

static int *small(size_t count)
{
    int *p;
    MUST(cudaMalloc(&p, count * sizeof *p));
    MUST(cudaMemset(p, 0, count * sizeof *p));
    return p;
}

__global__ void fill(int *p)
{
    p[threadIdx.x] = 1; //! store async
}
WRONG(store, "kernels.freed")
{
    int *p = small(64);
    MUST(cudaFree(p));
    fill<<<1, 64>>>(p);
}
RIGHT(store_before)
{
    int *p = small(64);
    fill<<<1, 64>>>(p);
    MUST(cudaFree(p));
}

__global__ void copy(const int *p, int *out)
{
    out[threadIdx.x] = p[threadIdx.x]; //! load other_freed
}
WRONG(load, "kernels.freed")
{
    int *p = small(64);
    MUST(cudaFree(p));
    copy<<<1, 64>>>(p, data);
}
RIGHT(load_before)
{
    int *p = small(64);
    copy<<<1, 64>>>(p, data);
    MUST(cudaFree(p));
}

/* Freed in the stream before the kernel that uses it. */
WRONG(async, "kernels.freed")
{
    int *p = small(64);
    MUST(cudaFree(p));
    fill<<<1, 1>>>(p + 63);
}
RIGHT(again)
{
    int *p = small(64);
    MUST(cudaFree(p));
    p = small(64);
    fill<<<1, 64>>>(p);
    MUST(cudaFree(p));
}

WRONG(other_freed, "kernels.freed")
{
    int *a = small(64), *b = small(64);
    MUST(cudaFree(a));
    copy<<<1, 64>>>(a, b);
    MUST(cudaFree(b));
}
RIGHT(other_kept)
{
    int *a = small(64), *b = small(64);
    MUST(cudaFree(a));
    copy<<<1, 64>>>(b, data);
    MUST(cudaFree(b));
}

struct list {
    int *items;
};
__global__ void through(const list *l)
{
    l->items[threadIdx.x] = 2; //! through
}
static void use_list(bool keep)
{
    list host = {small(64)}, *l = (list *)small(2);
    MUST(cudaMemcpy(l, &host, sizeof host, cudaMemcpyHostToDevice));
    if (!keep)
        MUST(cudaFree(host.items));
    through<<<1, 64>>>(l);
    if (keep)
        MUST(cudaFree(host.items));
}
WRONG(through, "kernels.freed")
{
    use_list(false);
}
RIGHT(through_kept)
{
    use_list(true);
}
