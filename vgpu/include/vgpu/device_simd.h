/* SPDX-License-Identifier: MIT
 * device_simd.h: two or four small integers in one register (__vadd4, __vmaxs2 ...). Part of
 * device_math.h.
 */
#ifndef VGPU_DEVICE_SIMD_H
#define VGPU_DEVICE_SIMD_H

VGPU_INLINE int vgpu_clamped(int value, int low, int high)
{
    return value < low ? low : value > high ? high : value;
}

/* `type`: of a part, `bits` wide; `result`: of the parts a and b. LOW and HIGH: the type's ends. */
#define VGPU_PARTS(name, type, bits, result)                                                       \
    VGPU_INLINE unsigned int name(unsigned int left, unsigned int right)                           \
    {                                                                                              \
        const int LOW = (type)-1 < 0 ? -(1 << (bits - 1)) : 0, HIGH = LOW + (1 << bits) - 1;       \
        unsigned int all = 0;                                                                      \
        (void)HIGH;                                                                                \
        for (int i = 0; i < 32; i += bits) {                                                       \
            const int a = (type)(left >> i), b = (type)(right >> i);                               \
            all |= ((unsigned int)(result) & ((1u << bits) - 1)) << i;                             \
        }                                                                                          \
        return all;                                                                                \
    }
#define VGPU_PARTS1(name, type, bits, result)                                                      \
    VGPU_INLINE unsigned int name(unsigned int left)                                               \
    {                                                                                              \
        const int HIGH = (1 << (bits - 1)) - 1;                                                    \
        unsigned int all = 0;                                                                      \
        (void)HIGH;                                                                                \
        for (int i = 0; i < 32; i += bits) {                                                       \
            const int a = (type)(left >> i);                                                       \
            all |= ((unsigned int)(result) & ((1u << bits) - 1)) << i;                             \
        }                                                                                          \
        return all;                                                                                \
    }
#define VGPU_SUMS(name, type, bits)                                                                \
    VGPU_INLINE unsigned int name(unsigned int left, unsigned int right)                           \
    {                                                                                              \
        unsigned int all = 0;                                                                      \
        for (int i = 0; i < 32; i += bits) {                                                       \
            const int a = (type)(left >> i), b = (type)(right >> i);                               \
            all += (unsigned int)(a < b ? b - a : a - b);                                          \
        }                                                                                          \
        return all;                                                                                \
    }
#define VGPU_COMPARES(name, n, type, bits, operation)                                              \
    VGPU_PARTS(__vcmp##name##n, type, bits, (a operation b ? -1 : 0))                              \
    VGPU_PARTS(__vset##name##n, type, bits, (a operation b))
#define VGPU_SIMD(n, s, u, bits)                                                                   \
    VGPU_PARTS1(__vabs##n, s, bits, (a < 0 ? -a : a))                                              \
    VGPU_PARTS1(__vabsss##n, s, bits, (a < -HIGH ? HIGH : a < 0 ? -a : a))                         \
    VGPU_PARTS1(__vneg##n, s, bits, -a)                                                            \
    VGPU_PARTS1(__vnegss##n, s, bits, (a < -HIGH ? HIGH : -a))                                     \
    VGPU_PARTS(__vadd##n, u, bits, a + b)                                                          \
    VGPU_PARTS(__vaddss##n, s, bits, vgpu_clamped(a + b, LOW, HIGH))                               \
    VGPU_PARTS(__vaddus##n, u, bits, vgpu_clamped(a + b, LOW, HIGH))                               \
    VGPU_PARTS(__vsub##n, u, bits, a - b)                                                          \
    VGPU_PARTS(__vsubss##n, s, bits, vgpu_clamped(a - b, LOW, HIGH))                               \
    VGPU_PARTS(__vsubus##n, u, bits, vgpu_clamped(a - b, LOW, HIGH))                               \
    VGPU_PARTS(__vabsdiffs##n, s, bits, (a < b ? b - a : a - b))                                   \
    VGPU_PARTS(__vabsdiffu##n, u, bits, (a < b ? b - a : a - b))                                   \
    VGPU_PARTS(__vavgs##n, s, bits, (a + b + (a + b >= 0)) >> 1)                                   \
    VGPU_PARTS(__vavgu##n, u, bits, (a + b + 1) >> 1)                                              \
    VGPU_PARTS(__vhaddu##n, u, bits, (a + b) >> 1)                                                 \
    VGPU_PARTS(__vmaxs##n, s, bits, (a < b ? b : a))                                               \
    VGPU_PARTS(__vmaxu##n, u, bits, (a < b ? b : a))                                               \
    VGPU_PARTS(__vmins##n, s, bits, (a < b ? a : b))                                               \
    VGPU_PARTS(__vminu##n, u, bits, (a < b ? a : b))                                               \
    VGPU_SUMS(__vsads##n, s, bits)                                                                 \
    VGPU_SUMS(__vsadu##n, u, bits)                                                                 \
    VGPU_COMPARES(eq, n, u, bits, ==)                                                              \
    VGPU_COMPARES(ne, n, u, bits, !=)                                                              \
    VGPU_COMPARES(ges, n, s, bits, >=)                                                             \
    VGPU_COMPARES(geu, n, u, bits, >=)                                                             \
    VGPU_COMPARES(gts, n, s, bits, >)                                                              \
    VGPU_COMPARES(gtu, n, u, bits, >)                                                              \
    VGPU_COMPARES(les, n, s, bits, <=)                                                             \
    VGPU_COMPARES(leu, n, u, bits, <=)                                                             \
    VGPU_COMPARES(lts, n, s, bits, <)                                                              \
    VGPU_COMPARES(ltu, n, u, bits, <)

VGPU_SIMD(2, int16_t, uint16_t, 16)
VGPU_SIMD(4, int8_t, uint8_t, 8)
#undef VGPU_PARTS
#undef VGPU_PARTS1
#undef VGPU_SUMS
#undef VGPU_COMPARES
#undef VGPU_SIMD

/* ---- the rest of the integer functions ---- */

VGPU_INLINE long long __mul64hi(long long a, long long b)
{
    return (long long)((__int128)a * b >> 64);
}

VGPU_INLINE unsigned int __umul24(unsigned int a, unsigned int b)
{
    return (a & 0xffffffu) * (b & 0xffffffu);
}

VGPU_INLINE unsigned int __usad(unsigned int a, unsigned int b, unsigned int sum)
{
    return sum + (a < b ? b - a : a - b);
}

VGPU_INLINE int __hadd(int a, int b)
{
    return (int)(((long long)a + b) >> 1);
}

VGPU_INLINE int __rhadd(int a, int b)
{
    return (int)(((long long)a + b + 1) >> 1);
}

VGPU_INLINE unsigned int __uhadd(unsigned int a, unsigned int b)
{
    return (unsigned int)(((unsigned long long)a + b) >> 1);
}

VGPU_INLINE unsigned int __urhadd(unsigned int a, unsigned int b)
{
    return (unsigned int)(((unsigned long long)a + b + 1) >> 1);
}

/* A shift of more than 32 is one of 32. */
VGPU_INLINE unsigned int __funnelshift_lc(unsigned int low, unsigned int high, unsigned int shift)
{
    return shift >= 32 ? low : (unsigned)(((uint64_t)high << 32 | low) << shift >> 32);
}

VGPU_INLINE unsigned int __funnelshift_rc(unsigned int low, unsigned int high, unsigned int shift)
{
    return shift >= 32 ? high : (unsigned)(((uint64_t)high << 32 | low) >> shift);
}

/* The place of the set bit number |offset| of `bits`, from `base` on (down if negative). */
VGPU_INLINE unsigned int __fns(unsigned int bits, unsigned int base, int offset)
{
    int left = offset < 0 ? -offset : offset, step = offset < 0 ? -1 : 1;
    if (offset == 0)
        return base < 32 && (bits >> base & 1) ? base : 0xffffffffu;
    for (int at = (int)base; at >= 0 && at < 32; at += step)
        if ((bits >> at & 1) && --left == 0)
            return (unsigned int)at;
    return 0xffffffffu;
}

VGPU_INLINE unsigned int __nv_bswap32(unsigned int x)
{
    return __builtin_bswap32(x);
}

VGPU_INLINE unsigned long long __nv_bswap64(unsigned long long x)
{
    return __builtin_bswap64(x);
}

VGPU_INLINE unsigned short __nv_bswap16(unsigned short x)
{
    return __builtin_bswap16(x);
}

/* ---- dot products: four bytes by four bytes; two halves of a by two bytes of b ---- */

#define VGPU_DOT4(result, operand, type)                                                           \
    VGPU_INLINE result __dp4a(operand left, operand right, result sum)                             \
    {                                                                                              \
        for (int i = 0; i < 32; i += 8)                                                            \
            sum = (result)((unsigned int)sum + (unsigned int)((type)((unsigned int)left >> i) *    \
                                                              (type)((unsigned int)right >> i)));  \
        return sum;                                                                                \
    }
#define VGPU_DOT2(name, first, result, operand, wide, type)                                        \
    VGPU_INLINE result name(operand left, operand right, result sum)                               \
    {                                                                                              \
        for (int i = 0; i < 2; i++)                                                                \
            sum = (result)((unsigned int)sum +                                                     \
                           (unsigned int)((wide)((unsigned int)left >> 16 * i) *                   \
                                          (type)((unsigned int)right >> (first + 8 * i))));        \
        return sum;                                                                                \
    }

VGPU_DOT4(int, int, int8_t)
VGPU_DOT4(unsigned int, unsigned int, uint8_t)
VGPU_DOT2(__dp2a_lo, 0, int, int, int16_t, int8_t)
VGPU_DOT2(__dp2a_lo, 0, unsigned int, unsigned int, uint16_t, uint8_t)
VGPU_DOT2(__dp2a_hi, 16, int, int, int16_t, int8_t)
VGPU_DOT2(__dp2a_hi, 16, unsigned int, unsigned int, uint16_t, uint8_t)
#undef VGPU_DOT4
#undef VGPU_DOT2

#define VGPU_OF_VECTORS(name, result, wide, narrow)                                                \
    VGPU_INLINE result name(wide left, narrow right, result sum)                                   \
    {                                                                                              \
        return name(__builtin_bit_cast(result, left), __builtin_bit_cast(result, right), sum);     \
    }

VGPU_OF_VECTORS(__dp4a, int, char4, char4)
VGPU_OF_VECTORS(__dp4a, unsigned int, uchar4, uchar4)
#undef VGPU_OF_VECTORS

#endif
