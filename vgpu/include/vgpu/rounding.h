/* SPDX-License-Identifier: MIT
 * rounding.h: numbers in other formats, each rounded once: 16-bit floating point (half, bfloat16)
 * from and to float and double, and integers from floating point as the GPU's `cvt` does it.
 *
 * A format is the number of its mantissa's bits: 10 for half, 7 for bfloat16. For the host and for
 * device code; plain integer arithmetic, so that every computer gives the same bits.
 */
#ifndef VGPU_ROUNDING_H
#define VGPU_ROUNDING_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

VGPU_BOTH_BEGIN

#define VGPU_NUMBER __attribute__((unused)) static inline

enum vgpu_rounding { VGPU_NEAREST, VGPU_TO_ZERO, VGPU_DOWN, VGPU_UP };

#define VGPU_SMALL_NAN 0x7fff

VGPU_NUMBER uint64_t vgpu_double_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

VGPU_NUMBER double vgpu_double_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

VGPU_NUMBER float vgpu_float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Does dropping `rest` (its half: `half`) from `kept` make the magnitude one larger? */
VGPU_NUMBER uint64_t vgpu_rounds_up(uint64_t kept, uint64_t rest, uint64_t half, int negative,
                                    enum vgpu_rounding how)
{
    switch (how) {
    case VGPU_NEAREST:
        return rest > half || (rest == half && (kept & 1));
    case VGPU_DOWN:
        return rest != 0 && negative;
    case VGPU_UP:
        return rest != 0 && !negative;
    default:
        return 0;
    }
}

/* The bits below the sign of a finite `value` in the format with `mantissa` bits and this `bias`.
 * The exponent has no upper end here: the caller says what lies beyond the format's largest number.
 */
VGPU_NUMBER uint64_t vgpu_magnitude_of(double value, int mantissa, int bias, enum vgpu_rounding how)
{
    const uint64_t bits = vgpu_double_bits(value), size = bits << 1 >> 1;
    const int negative = (int)(bits >> 63), exponent = (int)(size >> 52) - 1023;
    int shift = 52 - mantissa;

    if (size == 0)
        return 0;
    if (exponent < 1 - bias)
        shift += 1 - bias - exponent < 12 ? 1 - bias - exponent : 12;
    const uint64_t full = (size << 12 >> 12) | 1ull << 52, kept = full >> shift;
    const uint64_t rest = full & ((1ull << shift) - 1), half = 1ull << (shift - 1);
    uint64_t result = kept + vgpu_rounds_up(kept, rest, half, negative, how);
    if (exponent >= 1 - bias)
        result += (uint64_t)(exponent + bias - 1) << mantissa;
    return result;
}

/* The 16 bits of `value` in the format with `mantissa` bits. A NaN is the GPU's: 0x7fff. */
VGPU_NUMBER unsigned short vgpu_small_of(double value, int mantissa, enum vgpu_rounding how)
{
    const uint64_t bits = vgpu_double_bits(value), size = bits << 1 >> 1;
    const int negative = (int)(bits >> 63), bias = (1 << (14 - mantissa)) - 1;
    const uint64_t infinity = (uint64_t)(2 * bias + 1) << mantissa;
    const unsigned sign = (unsigned)negative << 15;

    if (size > 0x7ffull << 52)
        return VGPU_SMALL_NAN;
    if (size == 0x7ffull << 52)
        return (unsigned short)(sign | infinity);
    uint64_t result = vgpu_magnitude_of(value, mantissa, bias, how);
    if (result >= infinity) {
        int stays = how == VGPU_TO_ZERO || how == (negative ? VGPU_UP : VGPU_DOWN);
        result = infinity - (uint64_t)stays;
    }
    return (unsigned short)(sign | result);
}

VGPU_NUMBER float vgpu_from_half(unsigned short bits)
{
    const uint32_t sign = (uint32_t)(bits >> 15) << 31, size = bits & 0x7fffu;

    if (size >= 0x7c00u)
        return vgpu_float_of(sign | 0x7f800000u | (size & 0x3ffu) << 13);
    if (size < 0x400u) {
        float value = (float)size / 16777216.0f; /* 2^24 */
        return sign != 0 ? -value : value;
    }
    return vgpu_float_of(sign | ((size << 13) + (112u << 23)));
}

VGPU_NUMBER float vgpu_from_bfloat16(unsigned short bits)
{
    return vgpu_float_of((uint32_t)bits << 16);
}

/* a * b + c, where the product is exact in a double: rounded to odd, so that rounding it once more
 * to 16 bits gives what one rounding would. */
VGPU_NUMBER double vgpu_small_fma(double a, double b, double c)
{
    const double product = a * b, sum = product + c, back = sum - product;
    const double lost = (product - (sum - back)) + (c - back);
    const uint64_t bits = vgpu_double_bits(sum);

    if (lost == 0 || lost != lost || (bits & 1))
        return sum;
    return vgpu_double_of((lost > 0) == (sum > 0) ? bits + 1 : bits - 1);
}

/* An integer as a double that rounds to 16 bits as the integer does: to odd. */
VGPU_NUMBER double vgpu_double_of_u64(unsigned long long value)
{
    if (value >> 53 != 0)
        value = (value >> 11 << 11) | (unsigned long long)((value & 0x7ff) != 0) << 11;
    return (double)value;
}

VGPU_NUMBER double vgpu_double_of_i64(long long value)
{
    return value < 0 ? -vgpu_double_of_u64(0ull - (unsigned long long)value)
                     : vgpu_double_of_u64((unsigned long long)value);
}

VGPU_NUMBER double vgpu_whole(double value, enum vgpu_rounding how)
{
    switch (how) {
    case VGPU_NEAREST:
        return __builtin_rint(value);
    case VGPU_TO_ZERO:
        return __builtin_trunc(value);
    case VGPU_DOWN:
        return __builtin_floor(value);
    default:
        return __builtin_ceil(value);
    }
}

#ifdef __cplusplus
/* The integer of type T: what is too large or too small becomes the type's last value; a NaN
 * becomes `nan`. */
template <class T> inline T vgpu_integer_of(double value, enum vgpu_rounding how, T nan)
{
    const bool with_sign = (T)-1 < (T)0;
    const double beyond = (with_sign ? 1.0 : 2.0) * (double)(1ull << (sizeof(T) * 8 - 1));
    const unsigned long long all = ~0ull >> (64 - sizeof(T) * 8);
    const double whole = vgpu_whole(value, how);

    if (value != value)
        return nan;
    if (whole >= beyond)
        return (T)(with_sign ? all >> 1 : all);
    if (whole < (with_sign ? -beyond : 0.0))
        return with_sign ? (T)((all >> 1) + 1) : (T)0;
    return (T)whole;
}

/* What a NaN becomes when the source is a double, or the integer has 64 bits: the top bit alone. */
template <class T> inline T vgpu_top_bit()
{
    return (T)(1ull << (sizeof(T) * 8 - 1));
}
#endif

VGPU_BOTH_END

#endif
