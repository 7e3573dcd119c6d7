// SPDX-License-Identifier: MIT
// with: b.cu c.cu
// prints: scaled 30 2.5 plain 7 both 9 9 nested 11
// prints: kernel of b 1 2 3 4
// prints: total 14 weights 5 6 7 8
// prints: statics 1 2 3
// prints: shared 10 11 12 13 and 23 22 21 20 and 3 2 1 0
// prints: counter 8 pointer 40 then 103
// prints: template 0 2 4 6 and 0 2 4 6
#include "common.h"

static __device__ int mine = 1; // one of this name in each file
static __device__ int hidden()
{
    return mine;
}
static __global__ void report(int *out)
{
    out[0] = hidden();
}

__device__ int exchange_a(int value)
{
    __shared__ int row[32];
    row[threadIdx.x] = value;
    __syncthreads();
    return row[threadIdx.x];
}
__device__ int exchange_b(int value);

__global__ void calls(int *out)
{
    out[0] = scaled(10);
    ((float *)out)[1] = scaled(1.25f);
    out[2] = plain_c(6);
    out[3] = both_sides(8);
    out[4] = deep::er::nested(10);
}

__global__ void sums()
{
    for (int i = 0; i < 4; i++)
        total += i + 2;
}

__global__ void shares(int *out)
{
    int first = exchange_a(10 + threadIdx.x); // each has memory of its own, of the same name
    int second = exchange_b(20 + threadIdx.x);
    out[threadIdx.x] = exchange_a(first);
    out[4 + threadIdx.x] = second;
    out[8 + threadIdx.x] = in_header(threadIdx.x);
}

__global__ void objects(int *out)
{
    Counter counter(5);
    out[0] = counter.next(3);
    out[1] = chosen(4);
}

static void show(const char *what, const int *out, int from, int count)
{
    int host[16];

    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    printf("%s", what);
    for (int i = from; i < from + count; i++)
        printf(" %d", host[i]);
}

int main()
{
    int *out, host[4] = {5, 6, 7, 8}, value = 0;
    float real;

    cudaMalloc(&out, 64);
    calls<<<1, 1>>>(out);
    cudaMemcpy(&real, out + 1, 4, cudaMemcpyDeviceToHost);
    show("scaled", out, 0, 1);
    printf(" %g", real);
    show(" plain", out, 2, 1);
    show(" both", out, 3, 1);
    printf(" %d", both_sides(8));
    show(" nested", out, 4, 1);
    kernel_of_b<<<1, 4>>>(out);
    show("\nkernel of b", out, 0, 4);
    sums<<<1, 1>>>();
    cudaMemcpyFromSymbol(&value, total, sizeof value);
    cudaMemcpyToSymbol(weights, host, sizeof weights);
    printf("\ntotal %d", value);
    run_b(out);
    show(" weights", out, 0, 4);
    report<<<1, 1>>>(out);
    run_c(out);
    show("\nstatics", out, 0, 3);
    shares<<<1, 4>>>(out);
    show("\nshared", out, 0, 4);
    show(" and", out, 4, 4);
    show(" and", out, 8, 4);
    objects<<<1, 1>>>(out);
    show("\ncounter", out, 0, 1);
    show(" pointer", out, 1, 1);
    transform other = nullptr;
    cudaMemcpyToSymbol(total, &host[0], sizeof host[0]);
    cudaMemcpyFromSymbol(&other, chosen, sizeof other);
    kernel_of_b<<<1, 1>>>(nullptr); // takes the other function
    objects<<<1, 1>>>(out);
    show(" then", out, 1, 1);
    print_template<int>(out);
    show("\ntemplate", out, 0, 4);
    void print_in_b(int *);
    print_in_b(out);
    show(" and", out, 0, 4);
    printf("\n");
    return cudaDeviceSynchronize();
}
