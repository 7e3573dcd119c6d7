/* SPDX-License-Identifier: MIT
 * unwritten.cu: kernels that read what nobody wrote.
 */
#include "cases.h"

static int *fresh(size_t count)
{
    int *p;
    MUST(cudaMalloc(&p, count * sizeof *p));
    return p;
}

__global__ void add(int *sum, const int *d)
{
    atomicAdd(sum, d[threadIdx.x]); //! no_memset
}
WRONG(no_memset, "kernels.unwritten")
{
    int *sum = fresh(1);
    add<<<1, 64>>>(sum, data);
    MUST(cudaFree(sum));
}

RIGHT(with_memset)
{
    int *sum = fresh(1);
    MUST(cudaMemset(sum, 0, sizeof *sum));
    add<<<1, 64>>>(sum, data);
    MUST(cudaFree(sum));
}

/* Half of the array was copied. */
__global__ void twice(int *out, const int *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = 2 * in[i]; //! half_copied copied_fresh again
}
WRONG(half_copied, "kernels.unwritten")
{
    int *in = fresh(256);
    MUST(cudaMemcpy(in, data, 128 * sizeof *in, cudaMemcpyDeviceToDevice));
    twice<<<4, 64>>>(data, in);
    MUST(cudaFree(in));
}

RIGHT(all_copied)
{
    int *in = fresh(256);
    MUST(cudaMemcpy(in, data, 256 * sizeof *in, cudaMemcpyDeviceToDevice));
    twice<<<4, 64>>>(data, in);
    MUST(cudaFree(in));
}

/* A copy of what nobody wrote is no better. */
WRONG(copied_fresh, "kernels.unwritten")
{
    int *in = fresh(256), *copy = fresh(256);
    MUST(cudaMemcpy(copy, in, 256 * sizeof *in, cudaMemcpyDeviceToDevice));
    twice<<<4, 64>>>(data, copy);
    MUST(cudaFree(in));
    MUST(cudaFree(copy));
}

/* Copying alone is fine. */
RIGHT(only_copied)
{
    int *in = fresh(256), *copy = fresh(256), host[256];
    MUST(cudaMemcpy(copy, in, 256 * sizeof *in, cudaMemcpyDeviceToDevice));
    MUST(cudaMemcpy(host, copy, sizeof host, cudaMemcpyDeviceToHost));
    MUST(cudaFree(in));
    MUST(cudaFree(copy));
}

/* Memory that is used again is fresh again. */
WRONG(again, "kernels.unwritten")
{
    for (int k = 0; k < 2; k++) {
        int *in = fresh(256);
        if (k == 0)
            MUST(cudaMemset(in, 0, 256 * sizeof *in));
        twice<<<4, 64>>>(data, in);
        MUST(cudaDeviceSynchronize());
        MUST(cudaFree(in));
    }
}

/* A tile whose border nobody fills. */
__global__ void border(int *d)
{
    __shared__ int tile[66];
    int t = threadIdx.x;
    tile[t + 1] = d[t];
    __syncthreads();
    d[t] = tile[t] + tile[t + 2]; //! border
}
WRONG(border, "kernels.unwritten")
{
    border<<<1, 64>>>(data);
}

__global__ void border_right(int *d)
{
    __shared__ int tile[66];
    int t = threadIdx.x;
    tile[t + 1] = d[t];
    if (t < 2)
        tile[t * 65] = 0;
    __syncthreads();
    d[t] = tile[t] + tile[t + 2];
}
RIGHT(border_right)
{
    border_right<<<1, 64>>>(data);
}

/* The grid is too small: the tail of the result was never made. */
__global__ void squares(int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = i * i;
}
__global__ void sum_all(const int *in, int n, int *out)
{
    int sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        sum += in[i]; //! short_grid
    out[threadIdx.x] = sum;
}
WRONG(short_grid, "kernels.unwritten")
{
    int *made = fresh(1000);
    squares<<<1000 / 64, 64>>>(made);
    sum_all<<<1, 64>>>(made, 1000, data);
    MUST(cudaFree(made));
}

RIGHT(whole_grid)
{
    int *made = fresh(1024);
    squares<<<(1000 + 63) / 64, 64>>>(made);
    sum_all<<<1, 64>>>(made, 1000, data);
    MUST(cudaFree(made));
}

/* A structure has holes that nobody writes, and is copied whole. */
struct record {
    char kind;
    double value;
    int last;
};
__global__ void copy_records(record *to, const record *from)
{
    to[threadIdx.x] = from[threadIdx.x];
}
__global__ void make_records(record *to)
{
    record *r = &to[threadIdx.x];
    r->kind = 1;
    r->value = threadIdx.x;
    r->last = 3;
}
RIGHT(holes)
{
    record *made = (record *)fresh(1024);
    make_records<<<1, 64>>>(made);
    copy_records<<<1, 64>>>((record *)data, made);
    MUST(cudaFree(made));
}

/* A kernel that stores just this value. */
__global__ void same_bits(int *p)
{
    p[threadIdx.x] = (int)0xcbcbcbcb;
    p[threadIdx.x] = p[threadIdx.x] + 1;
}
RIGHT(stored_poison)
{
    int *p = fresh(64);
    same_bits<<<1, 64>>>(p);
    MUST(cudaFree(p));
}
