// SPDX-License-Identifier: MIT
// Kernels of every kind.
// prints: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
#include <stdio.h>
#include <cuda_runtime.h>
#include "kernels.h"

#define KERNEL extern "C" __global__ void __launch_bounds__(64, 2)

struct node {
    int value;
};

KERNEL c_name(int *out)
{
    *out += 2;
}

namespace a {
__global__ void k(int *out, int n);
namespace {
__global__ void hidden(int *out, int = 4) { *out += 3; }
}
inline namespace v1 {
__global__ void versioned(int *out) { *out += 4; }
}
void launch_hidden(int *out)
{
    hidden<<<1, 1>>>(out);
}
}

__global__ void a::k(int *out, int n)
{
    *out += n;
}

__global__ void overloaded(int *out, int n) { *out += n; }
__global__ void overloaded(int *out, double n) { *out += (int)(n * 10); }
void __global__ late_word(int *out) { *out += 8; }

// A parameter named like its type, a type named like the kernel's parameter, an unnamed one.
__global__ void shadow(struct node node, int *out, float) { *out += node.value; }

MAKE_KERNEL(made_by_macro, 10)

template <typename T> __global__ void generic(T *out, T n)
{
    *out += n;
}
template <> __global__ void generic<double>(double *out, double n)
{
    *out += n + 1;
}
template <int N, typename... T> __global__ void many(int *out, T... n)
{
    int all[] = {n...};
    for (int i = 0; i < N; i++)
        *out += all[i];
}
template <typename T = int, int N = 3, template <typename> class C>
static __global__ void nested(T *out, C<T> n)
{
    *out += n.value + N;
}
template <typename T> struct holder {
    T value;
};
struct holder<int> make_holder(int n)
{
    holder<int> h = {n};
    return h;
}
namespace a { namespace {
struct local {
    int n;
};
template <typename T> __global__ void of_local(T t, int *out) { *out += t.n; }
} }
template __global__ void generic<long>(long *out, long n);

struct big {
    char bytes[100];
    int n;
};
__global__ void large(int *out, struct big b, const int (*matrix)[4], void (*unused)(int))
{
    *out += b.n + (matrix != nullptr) + (unused != nullptr);
}

static int next(int *out)
{
    int host = 0;

    if (cudaGetLastError() != cudaSuccess)
        printf("launch failed: ");
    cudaMemcpy(&host, out, sizeof host, cudaMemcpyDeviceToHost);
    cudaMemset(out, 0, sizeof host);
    return host;
}

int main()
{
    int *out;
    double *wide, d = 0;

    cudaMalloc(&out, 64);
    cudaMalloc(&wide, 8);
    cudaMemset(out, 0, 64);
    cudaMemset(wide, 0, 8);
    launch_from_header(out);
    printf("%d ", next(out));
    c_name<<<1, 1>>>(out);
    printf("%d ", next(out));
    a::launch_hidden(out);
    printf("%d ", next(out));
    a::versioned<<<1, 1>>>(out);
    printf("%d ", next(out));
    a::k<<<1, 1>>>(out, 5);
    printf("%d ", next(out));
    overloaded<<<1, 1>>>(out, 6);
    printf("%d ", next(out));
    overloaded<<<1, 1>>>(out, 0.7);
    printf("%d ", next(out));
    late_word<<<1, 1>>>(out);
    printf("%d ", next(out));
    shadow<<<1, 1>>>(node{9}, out, 0.0f);
    printf("%d ", next(out));
    made_by_macro<<<1, 1>>>(out);
    printf("%d ", next(out));
    generic<<<1, 1>>>(out, 11);
    printf("%d ", next(out));
    generic<<<1, 1>>>(wide, 11.0);
    cudaMemcpy(&d, wide, 8, cudaMemcpyDeviceToHost);
    printf("%g ", d);
    many<3><<<1, 1>>>(out, 6, 4, 3);
    printf("%d ", next(out));
    nested<<<1, 1>>>(out, make_holder(11));
    printf("%d ", next(out));
    a::of_local<<<1, 1>>>(a::local{15}, out);
    printf("%d ", next(out));
    big b = {{}, 16};
    large<<<1, 1>>>(out, b, nullptr, nullptr);
    printf("%d\n", next(out));
    return 0;
}
