/* SPDX-License-Identifier: MIT
 * device_round.h: arithmetic and conversions of device code in a given rounding: __fadd_rd,
 * __double2float_ru, __float2int_rz and their like. Part of device_math.h.
 *
 * Other roundings than to nearest are the processor's own: its mode is changed around one
 * operation, and the empty asm keeps the compiler from moving it out.
 */
#ifndef VGPU_DEVICE_ROUND_H
#define VGPU_DEVICE_ROUND_H

#include "rounding.h"

/* 0 to nearest, 1 down, 2 up, 3 to zero */
extern "C" __device__ void vgpu_set_rounding(unsigned int mode);

#define VGPU_HERE(value) __asm__ volatile("" : "+m"(value))

#define VGPU_ROUNDED(type, name, mode, parameters, values, result)                                 \
    VGPU_INLINE type name parameters                                                               \
    {                                                                                              \
        vgpu_set_rounding(mode);                                                                   \
        values type rounded = (type)(result);                                                      \
        VGPU_HERE(rounded);                                                                        \
        vgpu_set_rounding(0);                                                                      \
        return rounded;                                                                            \
    }
#define VGPU_ONE VGPU_HERE(a);
#define VGPU_TWO                                                                                   \
    VGPU_HERE(a);                                                                                  \
    VGPU_HERE(b);
#define VGPU_THREE                                                                                 \
    VGPU_TWO                                                                                       \
    VGPU_HERE(c);

#define VGPU_ARITHMETIC(type, p, fma_name, root, suffix, mode)                                     \
    VGPU_ROUNDED(type, __##p##add_##suffix, mode, (type a, type b), VGPU_TWO, a + b)               \
    VGPU_ROUNDED(type, __##p##sub_##suffix, mode, (type a, type b), VGPU_TWO, a - b)               \
    VGPU_ROUNDED(type, __##p##mul_##suffix, mode, (type a, type b), VGPU_TWO, a *b)                \
    VGPU_ROUNDED(type, __##p##div_##suffix, mode, (type a, type b), VGPU_TWO, a / b)               \
    VGPU_ROUNDED(type, __##p##rcp_##suffix, mode, (type a), VGPU_ONE, 1 / a)                       \
    VGPU_ROUNDED(type, __##p##sqrt_##suffix, mode, (type a), VGPU_ONE, root(a))                    \
    VGPU_ROUNDED(type, fma_name##suffix, mode, (type a, type b, type c), VGPU_THREE,               \
                 vgpu_fused(a, b, c))
#define VGPU_CONVERSION(to, name, from, suffix, mode)                                              \
    VGPU_ROUNDED(to, name##_##suffix, mode, (from a), VGPU_ONE, a)
#define VGPU_DIRECTED(suffix, mode)                                                                \
    VGPU_ARITHMETIC(float, f, __fmaf_, __builtin_sqrtf, suffix, mode)                              \
    VGPU_ROUNDED(float, __fmaf_ieee_##suffix, mode, (float a, float b, float c), VGPU_THREE,       \
                 vgpu_fused(a, b, c))                                                              \
    VGPU_ARITHMETIC(double, d, __fma_, __builtin_sqrt, suffix, mode)                               \
    VGPU_CONVERSION(float, __double2float, double, suffix, mode)                                   \
    VGPU_CONVERSION(float, __int2float, int, suffix, mode)                                         \
    VGPU_CONVERSION(float, __uint2float, unsigned int, suffix, mode)                               \
    VGPU_CONVERSION(float, __ll2float, long long, suffix, mode)                                    \
    VGPU_CONVERSION(float, __ull2float, unsigned long long, suffix, mode)                          \
    VGPU_CONVERSION(double, __ll2double, long long, suffix, mode)                                  \
    VGPU_CONVERSION(double, __ull2double, unsigned long long, suffix, mode)

VGPU_INLINE float vgpu_fused(float a, float b, float c)
{
    return fmaf(a, b, c);
}

VGPU_INLINE double vgpu_fused(double a, double b, double c)
{
    return fma(a, b, c);
}

VGPU_DIRECTED(rd, 1)
VGPU_DIRECTED(ru, 2)
VGPU_DIRECTED(rz, 3)
#undef VGPU_ARITHMETIC
#undef VGPU_CONVERSION
#undef VGPU_DIRECTED
#undef VGPU_ROUNDED
#undef VGPU_ONE
#undef VGPU_TWO
#undef VGPU_THREE
#undef VGPU_HERE

/* ---- to nearest ---- */

VGPU_INLINE float __fmaf_ieee_rn(float a, float b, float c)
{
    return fmaf(a, b, c);
}

#define VGPU_PLAIN(to, name, from)                                                                 \
    VGPU_INLINE to name(from a)                                                                    \
    {                                                                                              \
        return (to)a;                                                                              \
    }

VGPU_PLAIN(float, __double2float_rn, double)
VGPU_PLAIN(float, __int2float_rn, int)
VGPU_PLAIN(float, __uint2float_rn, unsigned int)
VGPU_PLAIN(float, __ll2float_rn, long long)
VGPU_PLAIN(float, __ull2float_rn, unsigned long long)
VGPU_PLAIN(double, __int2double_rn, int)
VGPU_PLAIN(double, __uint2double_rn, unsigned int)
VGPU_PLAIN(double, __ll2double_rn, long long)
VGPU_PLAIN(double, __ull2double_rn, unsigned long long)
#undef VGPU_PLAIN

/* ---- to integers: what does not fit becomes the nearest that does ---- */

#define VGPU_TO_INTEGER(type, name, from, nan)                                                     \
    VGPU_INLINE type name##_rn(from a)                                                             \
    {                                                                                              \
        return vgpu_integer_of<type>(a, VGPU_NEAREST, nan);                                        \
    }                                                                                              \
    VGPU_INLINE type name##_rz(from a)                                                             \
    {                                                                                              \
        return vgpu_integer_of<type>(a, VGPU_TO_ZERO, nan);                                        \
    }                                                                                              \
    VGPU_INLINE type name##_rd(from a)                                                             \
    {                                                                                              \
        return vgpu_integer_of<type>(a, VGPU_DOWN, nan);                                           \
    }                                                                                              \
    VGPU_INLINE type name##_ru(from a)                                                             \
    {                                                                                              \
        return vgpu_integer_of<type>(a, VGPU_UP, nan);                                             \
    }

VGPU_TO_INTEGER(int, __float2int, float, 0)
VGPU_TO_INTEGER(unsigned int, __float2uint, float, 0)
VGPU_TO_INTEGER(long long, __float2ll, float, vgpu_top_bit<long long>())
VGPU_TO_INTEGER(unsigned long long, __float2ull, float, vgpu_top_bit<unsigned long long>())
VGPU_TO_INTEGER(int, __double2int, double, vgpu_top_bit<int>())
VGPU_TO_INTEGER(unsigned int, __double2uint, double, vgpu_top_bit<unsigned int>())
VGPU_TO_INTEGER(long long, __double2ll, double, vgpu_top_bit<long long>())
VGPU_TO_INTEGER(unsigned long long, __double2ull, double, vgpu_top_bit<unsigned long long>())
#undef VGPU_TO_INTEGER

/* ---- halves of a double ---- */

VGPU_INLINE int __double2hiint(double x)
{
    return (int)(vgpu_double_bits(x) >> 32);
}

VGPU_INLINE int __double2loint(double x)
{
    return (int)vgpu_double_bits(x);
}

VGPU_INLINE double __hiloint2double(int high, int low)
{
    return vgpu_double_of((uint64_t)(unsigned)high << 32 | (unsigned)low);
}

#endif
