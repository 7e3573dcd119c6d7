/* SPDX-License-Identifier: MIT
 * half.cu: half and bfloat16, on the host and on the device: every value converted there and back,
 * every midpoint rounded in four ways, arithmetic against a reference of its own.
 */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <math.h>

#include "../check.h"

/* What the bits mean: by the definition of the format. */
__host__ __device__ static double meaning(unsigned bits, int mantissa)
{
    int exponent = (int)(bits & 0x7fff) >> mantissa, bias = (1 << (14 - mantissa)) - 1;
    int part = (int)(bits & ((1u << mantissa) - 1));
    double value = exponent == 0
                       ? ldexp((double)part, 1 - bias - mantissa)
                       : ldexp((double)(part + (1 << mantissa)), exponent - bias - mantissa);
    if (exponent == 2 * bias + 1)
        value = part ? NAN : INFINITY;
    return bits >> 15 ? -value : value;
}

struct as_half {
    typedef __half type;
    static constexpr int mantissa = 10;
    static __host__ __device__ __half of(unsigned bits)
    {
        return __ushort_as_half((unsigned short)bits);
    }
    static __host__ __device__ unsigned bits(__half a)
    {
        return __half_as_ushort(a);
    }
    static __host__ __device__ __half rounded(float a, int how)
    {
        return how == 0   ? __float2half_rn(a)
               : how == 1 ? __float2half_rz(a)
               : how == 2 ? __float2half_rd(a)
                          : __float2half_ru(a);
    }
};

struct as_bfloat16 {
    typedef __nv_bfloat16 type;
    static constexpr int mantissa = 7;
    static __host__ __device__ __nv_bfloat16 of(unsigned bits)
    {
        return __ushort_as_bfloat16((unsigned short)bits);
    }
    static __host__ __device__ unsigned bits(__nv_bfloat16 a)
    {
        return __bfloat16_as_ushort(a);
    }
    static __host__ __device__ __nv_bfloat16 rounded(float a, int how)
    {
        return how == 0   ? __float2bfloat16_rn(a)
               : how == 1 ? __float2bfloat16_rz(a)
               : how == 2 ? __float2bfloat16_rd(a)
                          : __float2bfloat16_ru(a);
    }
};

/* A value, and what lies between it and the next larger magnitude. */
template <class F> __host__ __device__ int check_value(unsigned bits)
{
    const double value = meaning(bits, F::mantissa);
    const unsigned infinity = 0x7fffu >> F::mantissa << F::mantissa;
    const unsigned next = bits + 1, size = bits & 0x7fff, sign = bits >> 15;
    int bad = 0;
    if (value != value)
        return !((float)F::of(bits) != (float)F::of(bits)) +
               (F::bits(F::rounded((float)value, 0)) != 0x7fff) + !__hisnan(F::of(bits));
    bad += (float)F::of(bits) != (float)value;
    for (int how = 0; how < 4; how++)
        bad += F::bits(F::rounded((float)value, how)) != bits;
    bad += (__hisinf(F::of(bits)) != 0) != (size == infinity);
    if (size >= infinity - 1)
        return bad;
    const double above = meaning(next, F::mantissa), middle = (value + above) / 2;
    const double near = value + (above - value) / 1024;
    const unsigned even = bits & 1 ? next : bits, away = sign ? next : bits;
    bad += F::bits(F::rounded((float)middle, 0)) != even;
    bad += F::bits(typename F::type(middle)) != even;
    bad += F::bits(F::rounded((float)near, 0)) != bits;
    bad += F::bits(F::rounded((float)near, 1)) != bits;
    bad += F::bits(F::rounded((float)near, 2)) != away;
    bad += F::bits(F::rounded((float)near, 3)) != (sign ? bits : next);
    return bad;
}

/* The nearest of the format to an exact (or nearly exact) double, by search. */
template <class F> __host__ __device__ unsigned nearest(double value)
{
    if (value != value)
        return 0x7fff;
    const unsigned sign = signbit(value) ? 0x8000 : 0;
    const unsigned infinity = 0x7fffu >> F::mantissa << F::mantissa;
    unsigned low = 0, high = infinity;
    const double size = fabs(value);
    while (high - low > 1) {
        unsigned middle = (low + high) / 2;
        (meaning(middle, F::mantissa) <= size ? low : high) = middle;
    }
    if (size == meaning(high, F::mantissa))
        return sign | high;
    const double lowest = meaning(low, F::mantissa);
    const double step = lowest - meaning(low > 0 ? low - 1 : 0, F::mantissa);
    const double top = high == infinity ? lowest + step : meaning(high, F::mantissa);
    const double rest = size - lowest, half = (top - lowest) / 2;
    return sign | (rest > half || (rest == half && (low & 1)) ? high : low);
}

template <class F> __host__ __device__ int check_pair(unsigned left, unsigned right)
{
    typename F::type a = F::of(left), b = F::of(right);
    const double x = meaning(left, F::mantissa), y = meaning(right, F::mantissa);
    int bad = 0;
    bad += F::bits(a + b) != nearest<F>(x + y) && x + y == x + y;
    bad += F::bits(a - b) != nearest<F>(x - y) && x - y == x - y;
    bad += F::bits(a * b) != nearest<F>(x * y) && x * y == x * y;
    bad += F::bits(a / b) != nearest<F>(x / y) && x / y == x / y;
    bad +=
        (a < b) != (x < y) || (a == b) != (x == y) || (a != b) != (x != y) || (a >= b) != (x >= y);
    bad += __hltu(a, b) != !(x >= y) || __hne(a, b) != (x < y || x > y);
    bad += (float)__hmax(a, b) != (float)fmax(x, y) && x == x && y == y;
    return bad;
}

template <class F> __host__ __device__ int check_some(unsigned i)
{
    unsigned random = i * 2654435761u;
    random ^= random >> 15;
    random *= 2246822519u;
    random ^= random >> 13;
    return check_value<F>(i) + check_pair<F>(i, random & 0xffff);
}

template <class F> __global__ void check_all(int *bad)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (int here = check_some<F>(i))
        atomicAdd(bad, here);
}

template <class F> static void check_format(const char *name)
{
    int *bad, host = 0;
    for (unsigned i = 0; i < 65536; i++)
        host += check_some<F>(i);
    HOLDS(host == 0, "%s on the host: %d wrong", name, host);
    MUST(cudaMallocManaged(&bad, sizeof *bad));
    *bad = 0;
    check_all<F><<<256, 256>>>(bad);
    MUST(cudaDeviceSynchronize());
    HOLDS(*bad == 0, "%s on the device: %d wrong", name, *bad);
}

/* Fused: where rounding twice would be wrong; integers; pairs; functions; shuffles and atomics. */
__global__ void rest(float *out, half *sum, __half2 *pair)
{
    const int i = (int)threadIdx.x;
    const half one = 1, tiny = __ushort_as_half(1);
    half total = __int2half_rn(i);
    for (int d = 16; d > 0; d /= 2)
        total = __hadd(total, __shfl_xor_sync(0xffffffffu, total, d));
    atomicAdd(sum, __float2half(0.25f));
    atomicAdd(pair, __floats2half2_rn(1.0f, 2.0f));
    const half2 two =
        __hfma2(__float2half2_rn(2.0f), __floats2half2_rn((float)i, 1.0f), __half2half2(one));
    if (i == 3) {
        out[0] = total;
        out[1] = __low2float(two) + __high2float(two);
        /* (1 + 2^-10) (1 + 2^-1) ends in a tie; the tiny addend decides */
        const half a = __ushort_as_half(0x3c01), b = __ushort_as_half(0x3e00);
        out[2] = (float)(__half_as_ushort(__hfma(a, b, tiny)) ==
                         __half_as_ushort(__hmul(a, b)) + (__half_as_ushort(__hmul(a, b)) & 1));
        out[3] = (float)(__half2int_rn(half(2.5f)) * 100 + __half2int_ru(half(2.1f)) * 10 +
                         __half2int_rd(half(-0.5f)));
        out[4] = hsqrt(half(9.0f)) + hexp2(half(3.0f)) + hrcp(half(0.5f));
        out[5] = (float)__hadd_sat(one, one) + (float)__hfma_relu(one, __hneg(one), tiny);
        out[6] = (float)(__hbeq2(two, two) && !__hblt2(two, two) && __heq2_mask(two, two) == ~0u);
        const __nv_bfloat162 wide = __floats2bfloat162_rn(3.0f, 1e38f);
        out[7] = __high2float(wide) > 9e37f && (float)(wide.x * wide.x) == 9.0f;
    }
}

int main()
{
    float *out;
    half *sum;
    __half2 *pair;
    check_format<as_half>("half");
    check_format<as_bfloat16>("bfloat16");
    MUST(cudaMallocManaged(&out, 8 * sizeof *out));
    MUST(cudaMallocManaged(&sum, sizeof *sum));
    MUST(cudaMallocManaged(&pair, sizeof *pair));
    *sum = __float2half(1.0f);
    *pair = __floats2half2_rn(0.0f, 0.5f);
    rest<<<1, 32>>>(out, sum, pair);
    MUST(cudaDeviceSynchronize());
    const float expected[] = {496, 10, 1, 229, 13, 1, 1, 1};
    for (int i = 0; i < 8; i++)
        HOLDS(out[i] == expected[i], "%d is %g, not %g", i, out[i], expected[i]);
    HOLDS((float)*sum == 9.0f, "%g", (float)*sum);
    HOLDS(__low2float(*pair) == 32 && __high2float(*pair) == 64.5f, "%g", __low2float(*pair));
    printf("PASS\n");
    return 0;
}
