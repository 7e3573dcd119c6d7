/* SPDX-License-Identifier: MIT
 * float_bits.h: floating-point numbers as raw bits.
 */
#ifndef VGPU_EXEC_FLOAT_BITS_H
#define VGPU_EXEC_FLOAT_BITS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline float to_f32(uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof value);
    return value;
}

static inline uint32_t from_f32(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float from_f16(uint16_t half)
{
    int exponent = half >> 10 & 31;
    float fraction = (float)(half & 1023), value;
    if (exponent == 31)
        value = fraction != 0.0f ? NAN : INFINITY;
    else
        value = ldexpf(exponent ? fraction + 1024.0f : fraction, (exponent ? exponent : 1) - 25);
    return half & 0x8000 ? -value : value;
}

static inline double to_f64(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint64_t from_f64(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

#endif
