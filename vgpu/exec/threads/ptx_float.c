/* SPDX-License-Identifier: MIT
 * ptx_float.c: floating-point operations of PTX with a rounding, and narrower numbers (PTX ISA 9.0,
 * chapters 9.7.3, 9.7.4 and 9.7.9.21). Compiled with -frounding-math.
 */
#include <fenv.h>
#include <math.h>

#include "exec.h"
#include "float_bits.h"

static const int fenv_mode[] = {
    [VGPU_ROUND_NEAREST] = FE_TONEAREST,
    [VGPU_ROUND_ZERO] = FE_TOWARDZERO,
    [VGPU_ROUND_DOWN] = FE_DOWNWARD,
    [VGPU_ROUND_UP] = FE_UPWARD,
};

#define ROUNDED(type, name, fma_function, sqrt_function, from, to)                                 \
    static uint64_t name(enum vgpu_float_operation operation, uint64_t x, uint64_t y, uint64_t z)  \
    {                                                                                              \
        volatile type a = to(x), b = to(y), c = to(z), result;                                     \
        switch (operation) {                                                                       \
        case VGPU_FLOAT_ADD:                                                                       \
            result = a + b;                                                                        \
            break;                                                                                 \
        case VGPU_FLOAT_SUB:                                                                       \
            result = a - b;                                                                        \
            break;                                                                                 \
        case VGPU_FLOAT_MUL:                                                                       \
            result = a * b;                                                                        \
            break;                                                                                 \
        case VGPU_FLOAT_DIV:                                                                       \
            result = a / b;                                                                        \
            break;                                                                                 \
        case VGPU_FLOAT_FMA:                                                                       \
            result = fma_function(a, b, c);                                                        \
            break;                                                                                 \
        case VGPU_FLOAT_SQRT:                                                                      \
            result = sqrt_function(a);                                                             \
            break;                                                                                 \
        case VGPU_FLOAT_RCP:                                                                       \
            result = 1 / a;                                                                        \
            break;                                                                                 \
        case VGPU_FLOAT_FROM_SIGNED:                                                               \
            result = (type)(int64_t)x;                                                             \
            break;                                                                                 \
        default:                                                                                   \
            result = (type)x;                                                                      \
            break;                                                                                 \
        }                                                                                          \
        return from(result);                                                                       \
    }
ROUNDED(float, rounded_f32, fmaf, sqrtf, from_f32, to_f32)
ROUNDED(double, rounded_f64, fma, sqrt, from_f64, to_f64)

OFFERED uint64_t vgpu_ptx_round(enum vgpu_float_operation operation, uint32_t bits,
                                enum vgpu_ptx_rounding rounding, uint64_t a, uint64_t b, uint64_t c)
{
    int before = fegetround();
    fesetround(fenv_mode[rounding & 3]);
    uint64_t result =
        bits == 32 ? rounded_f32(operation, a, b, c) : rounded_f64(operation, a, b, c);
    fesetround(before);
    return result;
}

/* ---- narrower numbers ---- */

static const struct format {
    int mantissa, lowest;     /* bits; exponent of the smallest normal numbers */
    uint64_t most, nan, sign; /* bits of the largest number, of NaN, of -0 */
    bool saturates;           /* what is too large becomes `most` */
} formats[] = {
    [VGPU_NARROW_F16] = {10, -14, 0x7bff, 0x7fff, 0x8000, false},
    [VGPU_NARROW_BF16] = {7, -126, 0x7f7f, 0x7fff, 0x8000, false},
    [VGPU_NARROW_F32] = {23, -126, 0x7f7fffff, 0x7fffffff, 0x80000000, false},
    [VGPU_NARROW_E4M3] = {3, -6, 0x7e, 0x7f, 0x80, true},
    [VGPU_NARROW_E5M2] = {2, -14, 0x7b, 0x7f, 0x80, true},
};

/* Whether the number that was cut goes up by one. `rest`: what was cut, of `half` * 2. */
static bool goes_up(enum vgpu_ptx_rounding rounding, bool sign, uint64_t cut, uint64_t rest,
                    uint64_t half)
{
    switch (rounding) {
    case VGPU_ROUND_NEAREST:
        return rest > half || (rest == half && cut & 1);
    case VGPU_ROUND_ZERO:
        return false;
    case VGPU_ROUND_DOWN:
        return sign && rest;
    default:
        return !sign && rest;
    }
}

OFFERED uint64_t vgpu_ptx_narrow(enum vgpu_narrow to, enum vgpu_ptx_rounding rounding, uint64_t f64)
{
    const struct format *f = &formats[to];
    int exponent = (int)(f64 >> 52 & 2047) - 1023;
    bool is_negative = f64 >> 63;
    uint64_t fraction = f64 & 0xfffffffffffffull, sign = is_negative ? f->sign : 0;
    if (exponent == 1024 && fraction)
        return f->nan;
    if (exponent == 1024)
        return (f->saturates ? f->most : f->most + 1) | sign;
    if (f64 << 1 == 0)
        return sign;
    uint64_t digits = exponent == -1023 ? fraction : fraction | 1ull << 52;
    int low = exponent < f->lowest ? f->lowest - exponent : 0;
    int shift = 52 - f->mantissa + low;
    if (shift > 60)
        shift = 60;
    uint64_t cut = digits >> shift, rest = digits & ((1ull << shift) - 1);
    uint64_t result = cut + goes_up(rounding, is_negative, cut, rest, 1ull << (shift - 1));
    if (low == 0)
        result += (uint64_t)(exponent - f->lowest) << f->mantissa;
    bool stays = rounding == VGPU_ROUND_ZERO || (rounding == VGPU_ROUND_DOWN && !is_negative) ||
                 (rounding == VGPU_ROUND_UP && is_negative) || f->saturates;
    if (result > f->most)
        result = stays ? f->most : f->most + 1;
    return result | sign;
}

/* The error of the sum decides the last bit: an inexact result is odd. */
OFFERED uint64_t vgpu_ptx_fma_odd(uint64_t x, uint64_t y, uint64_t z)
{
    double product = to_f64(x) * to_f64(y), c = to_f64(z);
    volatile double sum = product + c;
    if (!isfinite(sum))
        return from_f64(sum);
    volatile double part = sum - product;
    volatile double error = (product - (sum - part)) + (c - part);
    uint64_t bits = from_f64(sum);
    if (error == 0 || bits & 1)
        return bits;
    return (error > 0) == (sum > 0) ? bits + 1 : bits - 1;
}
