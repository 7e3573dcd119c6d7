/* SPDX-License-Identifier: MIT
 * float_bits.h: floating-point numbers as raw bits.
 */
#ifndef VGPU_EXEC_FLOAT_BITS_H
#define VGPU_EXEC_FLOAT_BITS_H

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
