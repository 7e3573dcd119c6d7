/* SPDX-License-Identifier: MIT
 * sweeps.cu: loops of the careful form (each kernel waits for a flag) whose accesses are counted
 * and checked together, or must not be. sweeps CASE...: one kernel a case; some end in an error.
 */
#include <cstdint>
#include <cstdio>
#include <string_view>

enum { N = 4096, THREADS = 96, BLOCKS = 3 };

struct arguments {
    char *to; // N * 16 bytes each, of which the kernel may use N numbers
    const char *from;
    const int *index; // of N numbers
    int n;
};

// The kernel, and the beginning of what its threads do, of which `t` is one of `all`.
#define KERNEL(name)                                                                               \
    static __device__ void thread_of_##name(const arguments &a, int t, int all);                   \
    __global__ void name(arguments a, volatile int *flag)                                          \
    {                                                                                              \
        while (*flag == 0) {                                                                       \
        }                                                                                          \
        __syncthreads();                                                                           \
        thread_of_##name(a, blockIdx.x *blockDim.x + threadIdx.x, gridDim.x * blockDim.x);         \
    }                                                                                              \
    static __device__ void thread_of_##name(const arguments &a, int t, int all)

template <class T> __device__ T *to(const arguments &a)
{
    return (T *)a.to;
}
template <class T> __device__ const T *from(const arguments &a)
{
    return (const T *)a.from;
}

KERNEL(up)
{
    for (int i = t; i < a.n; i += all)
        to<float>(a)[i] += from<float>(a)[i];
}

KERNEL(down)
{
    for (int i = a.n - 1 - t; i >= 0; i -= all)
        to<short>(a)[i] = from<short>(a)[i] * 3;
}

KERNEL(until)
{
    for (unsigned i = t; i != t + 64u * 50; i += 64)
        to<int>(a)[i % 512] = from<int>(a)[i];
}

KERNEL(pointers)
{
    const double *end = from<double>(a) + a.n;
    double sum = 1;
    for (const double *p = from<double>(a) + t; p < end; p += all)
        sum = sum * 0.5 + *p;
    to<double>(a)[t] = sum;
}

KERNEL(quads)
{
    for (int i = t; i < a.n / 4; i += 32)
        to<uint4>(a)[i] = from<uint4>(a)[i];
}

KERNEL(gather)
{
    for (int i = t; i < a.n; i += all)
        to<int>(a)[i] = from<int>(a)[a.index[i]] + a.index[i];
}

KERNEL(shared)
{
    __shared__ int s[1024];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x)
        s[i] = from<int>(a)[i];
    __syncthreads();
    int sum = 0;
    for (int i = 0; i < 1024; i++)
        sum += s[i] ^ i;
    to<int>(a)[t] = sum;
}

// values of the last round are used behind the loop
KERNEL(last)
{
    char c = 0;
    long i = t;
    for (; i < a.n; i += all) {
        c = from<char>(a)[2 * i];
        a.to[3 * i] = c;
    }
    to<long>(a)[2 * a.n + t] = i * 256 + c;
}

// an array of its own in each thread
KERNEL(local)
{
    int own[32];
    for (int i = 0; i < 32; i++)
        own[i] = from<int>(a)[t + i];
    int sum = 0;
    for (int i = 0; i < 32; i++)
        sum += own[(i * t) & 31];
    to<int>(a)[t] = sum;
}

// each round reads what the last one has stored
KERNEL(chained)
{
    for (int i = t * 8 + 1; i < t * 8 + 1 + a.n / 512; i++)
        to<int>(a)[i] = to<int>(a)[i - 1] * 5 + 1;
}

// the index overflows in between
KERNEL(around)
{
    unsigned short i = 65500;
    for (int k = 0; k < 64; k++, i++)
        a.to[i] = a.from[i] + k;
}

// counters of unusual widths overflow, too
KERNEL(odd)
{
#pragma unroll 1
    for (unsigned _BitInt(20) i = 1048570u + a.n - (N - 5); i != 20; i++)
        to<int>(a)[t] = to<int>(a)[t] * 3 + a.index[0];
}

KERNEL(beyond)
{
    for (int i = t; i < a.n + 3 * all; i += all)
        to<int>(a)[1 << 18] = from<int>(a)[i];
}

KERNEL(crooked)
{
    int *at = (int *)(a.to + 2);
    for (int i = t; i < a.n; i += all)
        at[i] = i;
}

KERNEL(outside)
{
    for (long i = t; i < 1l << 40; i += all)
        to<int>(a)[i] = 1;
}

KERNEL(null)
{
    for (int i = t; i < a.n; i += all)
        ((int *)nullptr)[i] = i;
}

// though its variable stays below the end
KERNEL(endless)
{
    unsigned i = t;
    for (long rounds = 0; i < 0xffffffffu && rounds < a.n; i += 1u << 31, rounds++)
        to<int>(a)[i & 1023] = i;
}

static const struct {
    const char *name;
    void (*kernel)(arguments, volatile int *);
} cases[] = {
    {"up", up},          {"down", down},       {"until", until},     {"pointers", pointers},
    {"quads", quads},    {"gather", gather},   {"shared", shared},   {"last", last},
    {"local", local},    {"chained", chained}, {"around", around},   {"odd", odd},
    {"beyond", beyond},  {"crooked", crooked}, {"outside", outside}, {"null", null},
    {"endless", endless}};

int main(int count, char **name)
{
    const size_t bytes = N * 16;
    static uint32_t data[N * 4], index[N];
    int *flag, one = 1;
    arguments a = {.n = N - 5};
    for (uint32_t i = 0, x = 1; i < N * 4; i++, x = x * 1664525 + 1013904223)
        data[i] = x >> 12; // a float that is no NaN, too
    for (uint32_t i = 0; i < N; i++)
        index[i] = i * 7 % N;
    cudaMalloc((void **)&a.to, bytes);
    cudaMalloc((void **)&a.from, bytes);
    cudaMalloc((void **)&a.index, sizeof index);
    cudaMalloc((void **)&flag, sizeof one);
    cudaMemcpy((void *)a.from, data, bytes, cudaMemcpyDefault);
    cudaMemcpy((void *)a.index, index, sizeof index, cudaMemcpyDefault);
    cudaMemcpy(flag, &one, sizeof one, cudaMemcpyDefault);
    for (int i = 1; i < count; i++)
        for (const auto &c : cases)
            if (std::string_view(c.name) == name[i]) {
                cudaMemset(a.to, 0, bytes);
                c.kernel<<<BLOCKS, THREADS>>>(a, flag);
                cudaError_t error = cudaMemcpy(data, a.to, bytes, cudaMemcpyDefault);
                uint64_t hash = 14695981039346656037u;
                for (uint32_t word : data)
                    hash = (hash ^ word) * 1099511628211u;
                printf("%s: %s, %016llx\n", c.name, cudaGetErrorName(error),
                       (unsigned long long)hash);
            }
}
