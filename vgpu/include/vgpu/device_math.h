/* SPDX-License-Identifier: MIT
 * device_math.h: CUDA's own arithmetic functions. What <math.h> has is libm's.
 *
 * The fast forms (__expf ...) are made of what nvcc makes them of (ex2.approx ...), so that both
 * compilers' programs compute the same. What PTX calls approximate is as exact as libm here.
 */
#ifndef VGPU_DEVICE_MATH_H
#define VGPU_DEVICE_MATH_H

#include "device_round.h"
#include "device_simd.h"

/* ---- bits ---- */

VGPU_INLINE int __popc(unsigned int x)
{
    return __builtin_popcount(x);
}

VGPU_INLINE int __popcll(unsigned long long x)
{
    return __builtin_popcountll(x);
}

VGPU_INLINE int __clz(int x)
{
    return x != 0 ? __builtin_clz((unsigned)x) : 32;
}

VGPU_INLINE int __clzll(long long x)
{
    return x != 0 ? __builtin_clzll((unsigned long long)x) : 64;
}

VGPU_INLINE int __ffs(int x)
{
    return __builtin_ffs(x);
}

VGPU_INLINE int __ffsll(long long x)
{
    return __builtin_ffsll(x);
}

VGPU_INLINE unsigned int __brev(unsigned int x)
{
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(x);
}

VGPU_INLINE unsigned long long __brevll(unsigned long long x)
{
    return (unsigned long long)__brev((unsigned)x) << 32 | __brev((unsigned)(x >> 32));
}

VGPU_INLINE unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int selector)
{
    unsigned long long both = (unsigned long long)y << 32 | x;
    unsigned int result = 0;
    for (int i = 0; i < 4; i++)
        result |= (unsigned)(both >> ((selector >> 4 * i & 7) * 8) & 0xff) << 8 * i;
    return result;
}

VGPU_INLINE unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int shift)
{
    return (unsigned)(((unsigned long long)high << 32 | low) << (shift & 31) >> 32);
}

VGPU_INLINE unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int shift)
{
    return (unsigned)(((unsigned long long)high << 32 | low) >> (shift & 31));
}

/* ---- integers ---- */

VGPU_INLINE int __mulhi(int a, int b)
{
    return (int)((long long)a * b >> 32);
}

VGPU_INLINE unsigned int __umulhi(unsigned int a, unsigned int b)
{
    return (unsigned)((unsigned long long)a * b >> 32);
}

VGPU_INLINE unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}

VGPU_INLINE int __mul24(int a, int b)
{
    return (int)((unsigned)(a << 8 >> 8) * (unsigned)(b << 8 >> 8));
}

VGPU_INLINE unsigned int __sad(int a, int b, unsigned int sum)
{
    return sum + (a < b ? (unsigned)b - (unsigned)a : (unsigned)a - (unsigned)b);
}

/* ---- raw bits of numbers ---- */

#define VGPU_REINTERPRET(name, from, to)                                                           \
    VGPU_INLINE to name(from x)                                                                    \
    {                                                                                              \
        return __builtin_bit_cast(to, x);                                                          \
    }

VGPU_REINTERPRET(__float_as_int, float, int)
VGPU_REINTERPRET(__int_as_float, int, float)
VGPU_REINTERPRET(__float_as_uint, float, unsigned int)
VGPU_REINTERPRET(__uint_as_float, unsigned int, float)
VGPU_REINTERPRET(__double_as_longlong, double, long long)
VGPU_REINTERPRET(__longlong_as_double, long long, double)
#undef VGPU_REINTERPRET

/* ---- floating point, rounded to nearest ---- */

#define VGPU_ARITHMETIC(type, prefix)                                                              \
    VGPU_INLINE type __##prefix##add_rn(type a, type b)                                            \
    {                                                                                              \
        return a + b;                                                                              \
    }                                                                                              \
    VGPU_INLINE type __##prefix##sub_rn(type a, type b)                                            \
    {                                                                                              \
        return a - b;                                                                              \
    }                                                                                              \
    VGPU_INLINE type __##prefix##mul_rn(type a, type b)                                            \
    {                                                                                              \
        return a * b;                                                                              \
    }                                                                                              \
    VGPU_INLINE type __##prefix##div_rn(type a, type b)                                            \
    {                                                                                              \
        return a / b;                                                                              \
    }

VGPU_ARITHMETIC(float, f)
VGPU_ARITHMETIC(double, d)
#undef VGPU_ARITHMETIC

VGPU_INLINE float __fmaf_rn(float a, float b, float c)
{
    return fmaf(a, b, c);
}

VGPU_INLINE double __fma_rn(double a, double b, double c)
{
    return fma(a, b, c);
}

VGPU_INLINE float __fsqrt_rn(float x)
{
    return sqrtf(x);
}

VGPU_INLINE double __dsqrt_rn(double x)
{
    return sqrt(x);
}

VGPU_INLINE float __frcp_rn(float x)
{
    return 1.0f / x;
}

VGPU_INLINE double __drcp_rn(double x)
{
    return 1.0 / x;
}

VGPU_INLINE float __frsqrt_rn(float x)
{
    return (float)(1.0 / sqrt((double)x));
}

VGPU_INLINE float __saturatef(float x)
{
    return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f;
}

VGPU_INLINE float __fdividef(float a, float b)
{
    return a / b;
}

/* ---- the fast forms: macros, since the C library declares functions of these names ---- */

#define VGPU_FAST(name, parameters, result)                                                        \
    VGPU_INLINE float vgpu_fast_##name parameters                                                  \
    {                                                                                              \
        return result;                                                                             \
    }

VGPU_FAST(exp, (float x), exp2f(x * 1.44269504f))
VGPU_FAST(exp10, (float x), exp2f(x * 3.32192809f))
VGPU_FAST(log, (float x), log2f(x) * 0.693147181f)
VGPU_FAST(log10, (float x), log2f(x) * 0.301029996f)
VGPU_FAST(pow, (float x, float y), exp2f(log2f(x) * y))
VGPU_FAST(tan, (float x), sinf(x) / cosf(x))
#undef VGPU_FAST

#define __sinf(x) (sinf(x))
#define __cosf(x) (cosf(x))
#define __tanf(x) (vgpu_fast_tan(x))
#define __tanhf(x) (tanhf(x))
#define __expf(x) (vgpu_fast_exp(x))
#define __exp10f(x) (vgpu_fast_exp10(x))
#define __logf(x) (vgpu_fast_log(x))
#define __log2f(x) (log2f(x))
#define __log10f(x) (vgpu_fast_log10(x))
#define __powf(x, y) (vgpu_fast_pow(x, y))
#define __sincosf(x, s, c) (vgpu_sincosf(x, s, c))

VGPU_INLINE void vgpu_sincosf(float x, float *s, float *c)
{
    *s = sinf(x);
    *c = cosf(x);
}

/* ---- loads and stores with a cache hint: the hint changes nothing here ---- */

template <class T> VGPU_INLINE T __ldg(const T *address)
{
    return *address;
}

template <class T> VGPU_INLINE T __ldca(const T *address)
{
    return *address;
}

template <class T> VGPU_INLINE T __ldlu(const T *address)
{
    return *address;
}

template <class T> VGPU_INLINE void __stwb(T *address, T value)
{
    *address = value;
}

template <class T> VGPU_INLINE T __ldcg(const T *address)
{
    return *address;
}

template <class T> VGPU_INLINE T __ldcs(const T *address)
{
    return *address;
}

template <class T> VGPU_INLINE void __stcg(T *address, T value)
{
    *address = value;
}

template <class T> VGPU_INLINE void __stcs(T *address, T value)
{
    *address = value;
}

/* Past the caches: the compiler must not keep the value. */
template <class T> VGPU_INLINE T __ldcv(const T *address)
{
    return *(const volatile T *)address;
}

template <class T> VGPU_INLINE void __stwt(T *address, T value)
{
    *(volatile T *)address = value;
}

#endif
