// SPDX-License-Identifier: MIT
// kernels.cu: 100 kernels as libraries of arrays have them: ten of them, for ten types or
// functions. Clang makes PTX of it without CUDA's headers, and vgpu-cc compiles it.
#ifdef __CUDACC__
#define THREAD (int)threadIdx.x
#define BLOCK (int)blockIdx.x
#define BLOCK_THREADS (int)blockDim.x
#else
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define THREAD __nvvm_read_ptx_sreg_tid_x()
#define BLOCK __nvvm_read_ptx_sreg_ctaid_x()
#define BLOCK_THREADS __nvvm_read_ptx_sreg_ntid_x()
#endif

enum { THREADS = 256 };

__device__ inline int number()
{
    return BLOCK * BLOCK_THREADS + THREAD;
}

// ---- the ten functions; each is of a type ----

#define FUNCTION(name, type, value)                                                                \
    struct name {                                                                                  \
        typedef type number;                                                                       \
        __device__ static type of(type a, type b)                                                  \
        {                                                                                          \
            return value;                                                                          \
        }                                                                                          \
    };
FUNCTION(float_sum, float, a + b)
FUNCTION(float_product, float, a *b)
FUNCTION(float_most, float, a > b ? a : b)
FUNCTION(double_sum, double, a + b)
FUNCTION(double_quotient, double, a / (b + 1.0))
FUNCTION(int_sum, int, a + b)
FUNCTION(int_bits, int, (a & b) ^ (a << 1))
FUNCTION(wide_sum, long long, a + b)
FUNCTION(wide_least, long long, a < b ? a : b)
FUNCTION(small_sum, short, (short)(a + b))

// ---- the ten kernels ----

template <class F, class T = typename F::number>
__global__ void pairs(T *to, const T *a, const T *b, int n)
{
    int i = number();
    if (i < n)
        to[i] = F::of(a[i], b[i]);
}

template <class F, class T = typename F::number>
__global__ void scalar(T *to, const T *a, T b, int n)
{
    for (int i = number(); i < n; i += 65536)
        to[i] = F::of(a[i], b);
}

template <class F, class T = typename F::number>
__global__ void rows(T *to, const T *a, const T *b, int width, int n)
{
    int i = number();
    if (i < n)
        to[i] = F::of(a[i], b[i % width]);
}

template <class F, class T = typename F::number>
__global__ void where(T *to, const T *a, const T *b, const char *mask, int n)
{
    int i = number();
    if (i < n && mask[i])
        to[i] = F::of(a[i], b[i]);
    else if (i < n)
        to[i] = a[i];
}

template <class F, class T = typename F::number>
__global__ void gather(T *to, const T *a, const int *at, int n)
{
    int i = number();
    if (i < n)
        to[i] = F::of(to[i], a[at[i]]);
}

template <class F, class T = typename F::number> __global__ void reduce(T *to, const T *a, int n)
{
    __shared__ T part[THREADS];
    int t = THREAD, i = number();
    part[t] = i < n ? a[i] : T(0);
    for (int d = THREADS / 2; d > 0; d /= 2) {
        __syncthreads();
        if (t < d)
            part[t] = F::of(part[t], part[t + d]);
    }
    if (t == 0)
        to[BLOCK] = part[0];
}

template <class F, class T = typename F::number> __global__ void scan(T *to, const T *a, int n)
{
    __shared__ T part[THREADS];
    int t = THREAD, i = number();
    part[t] = i < n ? a[i] : T(0);
    __syncthreads();
    for (int d = 1; d < THREADS; d *= 2) {
        T other = t >= d ? part[t - d] : T(0);
        __syncthreads();
        part[t] = F::of(part[t], other);
        __syncthreads();
    }
    if (i < n)
        to[i] = part[t];
}

template <class F, class T = typename F::number>
__global__ void columns(T *to, const T *a, int width, int height)
{
    int x = number();
    if (x >= width)
        return;
    T sum = a[x];
    for (int y = 1; y < height; y++)
        sum = F::of(sum, a[y * width + x]);
    to[x] = sum;
}

template <class F, class T = typename F::number> __global__ void window(T *to, const T *a, int n)
{
    int i = number();
    if (i > 0 && i < n - 1)
        to[i] = F::of(F::of(a[i - 1], a[i]), a[i + 1]);
}

template <class F, class T = typename F::number>
__global__ void transposed(T *to, const T *a, T b, int width)
{
    __shared__ T tile[16][17];
    int t = THREAD, x = t % 16, y = t / 16, first = BLOCK * 16;
    tile[y][x] = a[y * width + first + x];
    __syncthreads();
    to[(first + y) * 16 + x] = F::of(tile[x][y], b);
}

#define ALL(F)                                                                                     \
    template __global__ void pairs<F>(F::number *, const F::number *, const F::number *, int);     \
    template __global__ void scalar<F>(F::number *, const F::number *, F::number, int);            \
    template __global__ void rows<F>(F::number *, const F::number *, const F::number *, int, int); \
    template __global__ void where<F>(F::number *, const F::number *, const F::number *,           \
                                      const char *, int);                                          \
    template __global__ void gather<F>(F::number *, const F::number *, const int *, int);          \
    template __global__ void reduce<F>(F::number *, const F::number *, int);                       \
    template __global__ void scan<F>(F::number *, const F::number *, int);                         \
    template __global__ void columns<F>(F::number *, const F::number *, int, int);                 \
    template __global__ void window<F>(F::number *, const F::number *, int);                       \
    template __global__ void transposed<F>(F::number *, const F::number *, F::number, int);
ALL(float_sum)
#ifndef TINY // ten kernels
ALL(float_product)
ALL(float_most)
ALL(double_sum)
ALL(double_quotient)
ALL(int_sum)
ALL(int_bits)
ALL(wide_sum)
ALL(wide_least)
ALL(small_sum)
#endif
