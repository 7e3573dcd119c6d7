/* SPDX-License-Identifier: MIT
 * data.h: samples and first parameters, made of nothing but a seed; and how gradients are rounded.
 *
 * A sample's gradient is rounded to a multiple of 1/64 of at most 1. Sums of 24 of them are
 * multiples of 1/64 below 32, which fp16 holds exactly: the sum has the same bits in
 * every order. (Training in fp16 scales and clips for another reason, and in the same way.)
 */
#ifndef LAB08_DATA_H
#define LAB08_DATA_H

#include <stdint.h>

#define DATA_STEPS 64 /* of a gradient, in 1 */

/* A multiple of 1/64 from -1 to 1. */
static inline float data_value(uint32_t seed, uint32_t stream, uint32_t i)
{
    uint32_t x = seed * 0x9E3779B9u + stream * 0x85EBCA6Bu + i * 0xC2B2AE35u + 1;
    x ^= x >> 16;
    x *= 0x7FEB352Du;
    x ^= x >> 15;
    x *= 0x846CA68Bu;
    x ^= x >> 16;
    return (float)((int)(x % 129) - 64) / 64.0f;
}

static inline float data_input(uint32_t seed, uint32_t i)
{
    return data_value(seed, 1, i);
}

static inline float data_target(uint32_t seed, uint32_t i)
{
    return data_value(seed, 2, i);
}

static inline float data_parameter(uint32_t seed, uint32_t i)
{
    return data_value(seed, 3, i) / 4;
}

#endif
