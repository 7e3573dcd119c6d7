/* SPDX-License-Identifier: MIT
 * cuda_fp8.h: numbers of eight bits: __nv_fp8_e4m3 and __nv_fp8_e5m2, two and four of them in a
 * row, and the conversions, for host and device code alike. tests/api/alike/fp8.cpp compares every
 * conversion with a CUDA Toolkit's where there is one.
 *
 *            exponent  mantissa  bias  largest  beyond it, without saturation
 *     e4m3       4         3       7     448    NaN (0x7f): there is no infinity
 *     e5m2       5         2      15   57344    infinity (0x7c)
 *
 * Numbers are rounded to the nearest, ties to even; integers go through float, as in CUDA. Not
 * offered: e8m0, the format of scales (CUDA 12.8).
 */
#ifndef __CUDA_FP8_H__
#define __CUDA_FP8_H__
#define __CUDA_FP8_TYPES_EXIST__

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "vector_functions.h"
#include "vgpu/rounding.h"

VGPU_BOTH_BEGIN

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;

typedef enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

/* ---- conversions of the bits ---- */

VGPU_NUMBER __nv_fp8_storage_t __nv_cvt_double_to_fp8(double x, __nv_saturation_t saturate,
                                                      __nv_fp8_interpretation_t kind)
{
    const bool e4m3 = kind == __NV_E4M3;
    const uint64_t bits = vgpu_double_bits(x), size = bits << 1 >> 1, infinity = 0x7ffull << 52;
    const unsigned sign = (unsigned)(bits >> 63) << 7, largest = e4m3 ? 0x7e : 0x7b;

    if (size >
        infinity) /* as in CUDA, a double's NaN keeps its sign and what fits of its payload */
        return (__nv_fp8_storage_t)(sign | (e4m3 ? 0x7f : 0x7e | (bits >> 50 & 3)));
    uint64_t result = size == infinity
                          ? largest + 1
                          : vgpu_magnitude_of(x, e4m3 ? 3 : 2, e4m3 ? 7 : 15, VGPU_NEAREST);
    if (result > largest)
        result = saturate == __NV_SATFINITE ? largest : largest + 1;
    return (__nv_fp8_storage_t)(sign | result);
}

VGPU_NUMBER __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t saturate,
                                                     __nv_fp8_interpretation_t kind)
{
    return x != x ? (__nv_fp8_storage_t)0x7f : __nv_cvt_double_to_fp8((double)x, saturate, kind);
}

VGPU_NUMBER __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw x, __nv_saturation_t saturate,
                                                       __nv_fp8_interpretation_t kind)
{
    return __nv_cvt_float_to_fp8(vgpu_from_half(x.x), saturate, kind);
}

VGPU_NUMBER __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw x,
                                                           __nv_saturation_t saturate,
                                                           __nv_fp8_interpretation_t kind)
{
    return __nv_cvt_float_to_fp8(vgpu_from_bfloat16(x.x), saturate, kind);
}

VGPU_NUMBER __half_raw vgpu_half_raw(unsigned bits)
{
    __half_raw raw = {(unsigned short)bits};
    return raw;
}

VGPU_NUMBER __nv_bfloat16_raw vgpu_bfloat16_raw(unsigned bits)
{
    __nv_bfloat16_raw raw = {(unsigned short)bits};
    return raw;
}

/* The pair's first number is in the low byte. `of`: what makes a number of its member. */
#define VGPU_FP8_PAIR(name, pair, of, one)                                                         \
    VGPU_NUMBER __nv_fp8x2_storage_t name(pair x, __nv_saturation_t saturate,                      \
                                          __nv_fp8_interpretation_t kind)                          \
    {                                                                                              \
        return (__nv_fp8x2_storage_t)(one(of(x.x), saturate, kind) | one(of(x.y), saturate, kind)  \
                                                                         << 8);                    \
    }

VGPU_FP8_PAIR(__nv_cvt_double2_to_fp8x2, double2, , __nv_cvt_double_to_fp8)
VGPU_FP8_PAIR(__nv_cvt_float2_to_fp8x2, float2, , __nv_cvt_float_to_fp8)
VGPU_FP8_PAIR(__nv_cvt_halfraw2_to_fp8x2, __half2_raw, vgpu_half_raw, __nv_cvt_halfraw_to_fp8)
VGPU_FP8_PAIR(__nv_cvt_bfloat16raw2_to_fp8x2, __nv_bfloat162_raw, vgpu_bfloat16_raw,
              __nv_cvt_bfloat16raw_to_fp8)
#undef VGPU_FP8_PAIR

/* Exact: every number of either format is a half. A NaN is 0x7fff. */
VGPU_NUMBER __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x, __nv_fp8_interpretation_t kind)
{
    const unsigned sign = (unsigned)(x & 0x80) << 8, size = x & 0x7fu;

    if (size > (kind == __NV_E4M3 ? 0x7eu : 0x7cu))
        return vgpu_half_raw(VGPU_SMALL_NAN);
    if (kind == __NV_E5M2)
        return vgpu_half_raw(sign | size << 8);
    if (size >= 8) /* the exponent's bias is 15 in place of 7 */
        return vgpu_half_raw(sign | ((size << 7) + (8u << 10)));
    return vgpu_half_raw(sign | vgpu_small_of(size / 512.0, 10, VGPU_NEAREST));
}

VGPU_NUMBER __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t x,
                                                   __nv_fp8_interpretation_t kind)
{
    __half2_raw raw = {__nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)(x & 0xff), kind).x,
                       __nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)(x >> 8), kind).x};
    return raw;
}

VGPU_NUMBER float vgpu_fp8_value(__nv_fp8_storage_t x, __nv_fp8_interpretation_t kind)
{
    return vgpu_from_half(__nv_cvt_fp8_to_halfraw(x, kind).x);
}

/* ---- the types ---- */

#ifdef __cplusplus
#include "vgpu/fp8_type.h"
#endif

VGPU_BOTH_END

#endif
