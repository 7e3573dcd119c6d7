/* SPDX-License-Identifier: MIT
 * language.cu: what else device code is written with: many variables, lambdas from the host and
 * nested ones, launch bounds, constant parameters, parameters of 32,764 bytes in all, functions
 * that call themselves, clocks, device printf and assert.
 */
#include <assert.h>

#include "../check.h"

#define EIGHT(name, from)                                                                          \
    __device__ int name##0 = from, name##1 = from + 1, name##2 = from + 2, name##3 = from + 3;     \
    __device__ int name##4 = from + 4, name##5 = from + 5, name##6 = from + 6, name##7 = from + 7;
#define SUM(name) (name##0 + name##1 + name##2 + name##3 + name##4 + name##5 + name##6 + name##7)
#define ALL(of, separator)                                                                         \
    of(a, 0) separator of(b, 8) separator of(c, 16) separator of(d, 24) separator of(e, 32)        \
        separator                                                                                  \
        of(f, 40) separator                                                                        \
        of(g, 48) separator                                                                        \
        of(h, 56) separator                                                                        \
        of(i, 64) separator                                                                        \
        of(k, 72)
#define SUM_OF(name, from) SUM(name)
#define NOTHING

/* 80 of them: more than one message of the node's holds */
ALL(EIGHT, NOTHING)

__global__ void add_all(int *out)
{
    out[0] = ALL(SUM_OF, +);
    a0 = 1000;
    k7 = 2000;
}

template <int N>
__global__ void __launch_bounds__(N, 2) bounded(const __grid_constant__ int4 p, int *out)
{
    if (threadIdx.x == N - 1)
        out[0] = p.x + 10 * p.w;
}

struct many {
    int word[8188];
};

/* 32,764 bytes: the most */
__global__ void add_parameters(const __grid_constant__ many p, int *out, int last)
{
    int sum = last;
    for (int word : p.word)
        sum += word;
    out[0] = sum;
}

static void check_parameters(int *out)
{
    static many p;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    for (int i = 0; i < 8188; i++)
        p.word[i] = i;
    MUST(cudaStreamCreate(&stream));
    add_parameters<<<1, 1, 0, stream>>>(p, out, 5);
    MUST(cudaStreamSynchronize(stream));
    HOLDS(out[0] == 8187 * 4094 + 5, "%d", out[0]);
    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    add_parameters<<<1, 1, 0, stream>>>(p, out, 7);
    MUST(cudaStreamEndCapture(stream, &graph));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    MUST(cudaGraphLaunch(exec, stream));
    MUST(cudaStreamSynchronize(stream));
    HOLDS(out[0] == 8187 * 4094 + 7, "%d", out[0]);
    MUST(cudaGraphExecDestroy(exec));
    MUST(cudaGraphDestroy(graph));
    MUST(cudaStreamDestroy(stream));
}

__device__ __noinline__ int fibonacci(int n)
{
    return n <= 1 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

/* What ends the loop comes from a function that calls itself. */
__global__ void count_up(int *out, int least)
{
    int n = 1;
    while (fibonacci(n) < least)
        n++;
    out[0] = n;
}

template <class F> __global__ void apply(int *out, F f)
{
    out[threadIdx.x] = f(out[threadIdx.x]);
}

struct square {
    __device__ int operator()(int x) const
    {
        return x * x;
    }
};

__global__ void nested(int *out)
{
    auto twice = [](int x) { return 2 * x; };
    auto add = [&](int x) {
        auto inner = [=](int y) { return x + y + twice(y); };
        return inner(x) + out[31];
    };
    out[threadIdx.x] = add((int)threadIdx.x);
}

__global__ void time_and_print(int *out)
{
    const long long before = clock64();
    const clock_t also = clock();
    __nanosleep(100);
    assert(clock64() > before && clock() > also);
    out[0] = printf("%d %5.2f %s %c %lld %x\n", 1, 2.5, "text", 'c', 1ll << 40, 255u);
}

int main(int argc, char **)
{
    int *out, value, factor = argc + 2;
    MUST(cudaMallocManaged(&out, 32 * sizeof *out));
    add_all<<<1, 1>>>(out);
    MUST(cudaDeviceSynchronize());
    HOLDS(out[0] == 79 * 40, "%d", out[0]);
    MUST(cudaMemcpyFromSymbol(&value, a0, sizeof value));
    HOLDS(value == 1000, "%d", value);
    MUST(cudaMemcpyFromSymbol(&value, k7, sizeof value));
    HOLDS(value == 2000, "%d", value);

    bounded<64><<<1, 64>>>(make_int4(1, 2, 3, 4), out);
    MUST(cudaDeviceSynchronize());
    HOLDS(out[0] == 41, "%d", out[0]);

    for (int i = 0; i < 32; i++)
        out[i] = i;
    apply<<<1, 32>>>(out, square());
    apply<<<1, 32>>>(out, [=] __device__(int x) { return factor * x + 1; });
    apply<<<1, 32>>>(out, [] __host__ __device__(int x) { return -x; });
    MUST(cudaDeviceSynchronize());
    for (int i = 0; i < 32; i++)
        HOLDS(out[i] == -(3 * i * i + 1), "%d: %d", i, out[i]);
    out[31] = 5;
    nested<<<1, 8>>>(out);
    MUST(cudaDeviceSynchronize());
    HOLDS(out[7] == 33, "%d", out[7]);
    check_parameters(out);
    count_up<<<1, 1>>>(out, 50);
    MUST(cudaDeviceSynchronize());
    HOLDS(out[0] == 10, "%d", out[0]);
    time_and_print<<<1, 1>>>(out);
    MUST(cudaDeviceSynchronize());
    HOLDS(out[0] == 6 || out[0] == 30, "printf returned %d", out[0]);
    printf("PASS\n");
    return 0;
}
