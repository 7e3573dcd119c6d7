// SPDX-License-Identifier: MIT
// with: twin_b.cu twin_c.c twin_d.cpp
// Two files with a kernel, a device function and a variable of the same static names; a C file and
// a C++ file beside them.
// prints: 1 2 3 4
#include <stdio.h>

static __device__ int value = 1;
static __device__ int get() { return value; }
static __global__ void kernel(int *out) { *out = get(); }
template <typename T> __global__ void shared_template(T *out) { *out = 3; }

extern "C" int run_b(int *out);
extern "C" int run_c(void);
int run_d();

int main()
{
    int *out, host = 0;

    cudaMalloc(&out, 4);
    kernel<<<1, 1>>>(out);
    cudaMemcpy(&host, out, 4, cudaMemcpyDeviceToHost);
    printf("%d ", host);
    printf("%d ", run_b(out));
    shared_template<<<1, 1>>>(out);
    cudaMemcpy(&host, out, 4, cudaMemcpyDeviceToHost);
    printf("%d %d\n", host, run_c() + run_d());
    return 0;
}
