/* SPDX-License-Identifier: MIT
 * dpx.h: CUDA's functions for dynamic programming: sums, maxima and minima in one (__viaddmax_s32,
 * __vimax3_s16x2 ...). For host and device code. Part of both_math.h.
 */
#ifndef VGPU_DPX_H
#define VGPU_DPX_H

VGPU_BOTH_BEGIN

/* One 32-bit number, or two of 16 bits; a sum wraps around. */
template <class T> inline T vgpu_dpx_sum(T a, T b)
{
    return (T)((unsigned int)a + (unsigned int)b);
}

#define VGPU_MORE(a, b) ((a) < (b) ? (b) : (a))
#define VGPU_LESS(a, b) ((b) < (a) ? (b) : (a))

#define VGPU_DPX(type, name, whole, result)                                                        \
    VGPU_BOTH whole name(whole x, whole y, whole z)                                                \
    {                                                                                              \
        unsigned int all = 0;                                                                      \
        for (unsigned int i = 0; i < 32; i += 8 * sizeof(type)) {                                  \
            const type a = (type)(x >> i), b = (type)(y >> i), c = (type)(z >> i);                 \
            all |= ((unsigned int)(result) & ~0u >> (32 - 8 * sizeof(type))) << i;                 \
        }                                                                                          \
        return (whole)all;                                                                         \
    }
#define VGPU_DPX2(type, name, whole, result)                                                       \
    VGPU_BOTH whole name(whole x, whole y)                                                         \
    {                                                                                              \
        unsigned int all = 0;                                                                      \
        for (unsigned int i = 0; i < 32; i += 8 * sizeof(type)) {                                  \
            const type a = (type)(x >> i), b = (type)(y >> i);                                     \
            all |= ((unsigned int)(result) & ~0u >> (32 - 8 * sizeof(type))) << i;                 \
        }                                                                                          \
        return (whole)all;                                                                         \
    }
#define VGPU_DPX_ALL(type, suffix, whole)                                                          \
    VGPU_DPX(type, __viaddmax_##suffix, whole, VGPU_MORE(vgpu_dpx_sum(a, b), c))                   \
    VGPU_DPX(type, __viaddmin_##suffix, whole, VGPU_LESS(vgpu_dpx_sum(a, b), c))                   \
    VGPU_DPX(type, __vimax3_##suffix, whole, VGPU_MORE(VGPU_MORE(a, b), c))                        \
    VGPU_DPX(type, __vimin3_##suffix, whole, VGPU_LESS(VGPU_LESS(a, b), c))
#define VGPU_POSITIVE(value) VGPU_MORE(value, 0)
#define VGPU_DPX_SIGNED(type, suffix, whole)                                                       \
    VGPU_DPX_ALL(type, suffix, whole)                                                              \
    VGPU_DPX(type, __viaddmax_##suffix##_relu, whole,                                              \
             VGPU_POSITIVE(VGPU_MORE(vgpu_dpx_sum(a, b), c)))                                      \
    VGPU_DPX(type, __viaddmin_##suffix##_relu, whole,                                              \
             VGPU_POSITIVE(VGPU_LESS(vgpu_dpx_sum(a, b), c)))                                      \
    VGPU_DPX(type, __vimax3_##suffix##_relu, whole, VGPU_POSITIVE(VGPU_MORE(VGPU_MORE(a, b), c)))  \
    VGPU_DPX(type, __vimin3_##suffix##_relu, whole, VGPU_POSITIVE(VGPU_LESS(VGPU_LESS(a, b), c)))  \
    VGPU_DPX2(type, __vimax_##suffix##_relu, whole, VGPU_POSITIVE(VGPU_MORE(a, b)))                \
    VGPU_DPX2(type, __vimin_##suffix##_relu, whole, VGPU_POSITIVE(VGPU_LESS(a, b)))

VGPU_DPX_SIGNED(int, s32, int)
VGPU_DPX_SIGNED(short, s16x2, unsigned int)
VGPU_DPX_ALL(unsigned int, u32, unsigned int)
VGPU_DPX_ALL(unsigned short, u16x2, unsigned int)
#undef VGPU_DPX
#undef VGPU_DPX2
#undef VGPU_DPX_ALL
#undef VGPU_DPX_SIGNED
#undef VGPU_POSITIVE

/* Also says whether it was the first. */
#define VGPU_WHICH(type, name, operation)                                                          \
    VGPU_BOTH type name(type a, type b, bool *first)                                               \
    {                                                                                              \
        *first = a operation b;                                                                    \
        return *first ? a : b;                                                                     \
    }
#define VGPU_WHICH2(type, name, operation)                                                         \
    VGPU_BOTH unsigned int name(unsigned int x, unsigned int y, bool *high, bool *low)             \
    {                                                                                              \
        *high = (type)(x >> 16) operation(type)(y >> 16);                                          \
        *low = (type)x operation(type) y;                                                          \
        return ((*high ? x : y) & 0xffff0000u) | ((*low ? x : y) & 0xffffu);                       \
    }

VGPU_WHICH(int, __vibmax_s32, >=)
VGPU_WHICH(int, __vibmin_s32, <=)
VGPU_WHICH(unsigned int, __vibmax_u32, >=)
VGPU_WHICH(unsigned int, __vibmin_u32, <=)
VGPU_WHICH2(short, __vibmax_s16x2, >=)
VGPU_WHICH2(short, __vibmin_s16x2, <=)
VGPU_WHICH2(unsigned short, __vibmax_u16x2, >=)
VGPU_WHICH2(unsigned short, __vibmin_u16x2, <=)
#undef VGPU_WHICH
#undef VGPU_WHICH2
#undef VGPU_MORE
#undef VGPU_LESS

VGPU_BOTH_END

#endif
