/* SPDX-License-Identifier: MIT
 * small_math.h: the arithmetic of a 16-bit floating point type and its pair, as small_type.h read
 * once for each type.
 *
 * Sums, products and quotients are computed in float and rounded: float has enough bits for the
 * second rounding to do no harm. Functions are computed in double and rounded.
 */
#define VGPU_S_OF(value) vgpu_rounded((const VGPU_S *)0, value)

#define VGPU_S_UNARY(name, name2, result)                                                          \
    VGPU_NUMBER VGPU_S name(VGPU_S a)                                                              \
    {                                                                                              \
        return result;                                                                             \
    }                                                                                              \
    VGPU_NUMBER VGPU_S2 name2(VGPU_S2 a)                                                           \
    {                                                                                              \
        return VGPU_S2(name(a.x), name(a.y));                                                      \
    }
#define VGPU_S_BINARY(name, name2, result)                                                         \
    VGPU_NUMBER VGPU_S name(VGPU_S a, VGPU_S b)                                                    \
    {                                                                                              \
        return result;                                                                             \
    }                                                                                              \
    VGPU_NUMBER VGPU_S2 name2(VGPU_S2 a, VGPU_S2 b)                                                \
    {                                                                                              \
        return VGPU_S2(name(a.x, b.x), name(a.y, b.y));                                            \
    }
#define VGPU_S_TERNARY(name, name2, result)                                                        \
    VGPU_NUMBER VGPU_S name(VGPU_S a, VGPU_S b, VGPU_S c)                                          \
    {                                                                                              \
        return result;                                                                             \
    }                                                                                              \
    VGPU_NUMBER VGPU_S2 name2(VGPU_S2 a, VGPU_S2 b, VGPU_S2 c)                                     \
    {                                                                                              \
        return VGPU_S2(name(a.x, b.x, c.x), name(a.y, b.y, c.y));                                  \
    }

/* Between 0 and 1, where a NaN is 0. */
VGPU_NUMBER VGPU_S vgpu_saturated(VGPU_S a)
{
    const float value = vgpu_value(a);
    return VGPU_S_OF(value > 0 ? value < 1 ? value : 1 : 0);
}

VGPU_NUMBER VGPU_S vgpu_relu(VGPU_S a)
{
    return vgpu_is_nan(a) ? a : VGPU_S_OF(vgpu_value(a) > 0 ? vgpu_value(a) : 0);
}

#define VGPU_S_WITH(operation) VGPU_S_OF(vgpu_value(a) operation vgpu_value(b))

VGPU_S_BINARY(__hadd, __hadd2, VGPU_S_WITH(+))
VGPU_S_BINARY(__hsub, __hsub2, VGPU_S_WITH(-))
VGPU_S_BINARY(__hmul, __hmul2, VGPU_S_WITH(*))
VGPU_S_BINARY(__hdiv, __h2div, VGPU_S_WITH(/))
VGPU_S_BINARY(__hadd_rn, __hadd2_rn, VGPU_S_WITH(+))
VGPU_S_BINARY(__hsub_rn, __hsub2_rn, VGPU_S_WITH(-))
VGPU_S_BINARY(__hmul_rn, __hmul2_rn, VGPU_S_WITH(*))
VGPU_S_BINARY(__hadd_sat, __hadd2_sat, vgpu_saturated(VGPU_S_WITH(+)))
VGPU_S_BINARY(__hsub_sat, __hsub2_sat, vgpu_saturated(VGPU_S_WITH(-)))
VGPU_S_BINARY(__hmul_sat, __hmul2_sat, vgpu_saturated(VGPU_S_WITH(*)))
#undef VGPU_S_WITH

VGPU_S_TERNARY(__hfma, __hfma2,
               VGPU_S_OF(vgpu_small_fma(vgpu_value(a), vgpu_value(b), vgpu_value(c))))
VGPU_S_TERNARY(__hfma_sat, __hfma2_sat, vgpu_saturated(__hfma(a, b, c)))
VGPU_S_TERNARY(__hfma_relu, __hfma2_relu, vgpu_relu(__hfma(a, b, c)))

VGPU_S_UNARY(__hneg, __hneg2,
             vgpu_is_nan(a) ? VGPU_S_OF(vgpu_value(a))
                            : vgpu_of_bits(&a, (unsigned short)(vgpu_bits_of(a) ^ 0x8000)))
VGPU_S_UNARY(__habs, __habs2, vgpu_of_bits(&a, (unsigned short)(vgpu_bits_of(a) & 0x7fff)))

/* A complex product and sum: x is the real part. */
VGPU_NUMBER VGPU_S2 __hcmadd(VGPU_S2 a, VGPU_S2 b, VGPU_S2 c)
{
    VGPU_S2 part = __hfma2(VGPU_S2(a.x, a.x), b, c);
    return __hfma2(VGPU_S2(__hneg(a.y), a.y), VGPU_S2(b.y, b.x), part);
}

/* ---- comparisons: plain ones are false for a NaN, those with a u are true ---- */

#define VGPU_S_COMPARE(name, operation)                                                            \
    VGPU_NUMBER bool __h##name(VGPU_S a, VGPU_S b)                                                 \
    {                                                                                              \
        return !vgpu_is_nan(a) && !vgpu_is_nan(b) && vgpu_value(a) operation vgpu_value(b);        \
    }                                                                                              \
    VGPU_NUMBER bool __h##name##u(VGPU_S a, VGPU_S b)                                              \
    {                                                                                              \
        return vgpu_is_nan(a) || vgpu_is_nan(b) || vgpu_value(a) operation vgpu_value(b);          \
    }                                                                                              \
    VGPU_S_COMPARE2(name, name##2)                                                                 \
    VGPU_S_COMPARE2(name##u, name##u2)
#define VGPU_S_COMPARE2(name, name2)                                                               \
    VGPU_NUMBER VGPU_S2 __h##name2(VGPU_S2 a, VGPU_S2 b)                                           \
    {                                                                                              \
        return VGPU_S2(VGPU_S_OF(__h##name(a.x, b.x)), VGPU_S_OF(__h##name(a.y, b.y)));            \
    }                                                                                              \
    VGPU_NUMBER unsigned int __h##name2##_mask(VGPU_S2 a, VGPU_S2 b)                               \
    {                                                                                              \
        return (__h##name(a.x, b.x) ? 0xffffu : 0) | (__h##name(a.y, b.y) ? 0xffff0000u : 0);      \
    }                                                                                              \
    VGPU_NUMBER bool __hb##name2(VGPU_S2 a, VGPU_S2 b)                                             \
    {                                                                                              \
        return __h##name(a.x, b.x) && __h##name(a.y, b.y);                                         \
    }

VGPU_S_COMPARE(eq, ==)
VGPU_S_COMPARE(ne, !=)
VGPU_S_COMPARE(lt, <)
VGPU_S_COMPARE(le, <=)
VGPU_S_COMPARE(gt, >)
VGPU_S_COMPARE(ge, >=)
#undef VGPU_S_COMPARE
#undef VGPU_S_COMPARE2

VGPU_NUMBER bool __hisnan(VGPU_S a)
{
    return vgpu_is_nan(a);
}

VGPU_NUMBER VGPU_S2 __hisnan2(VGPU_S2 a)
{
    return VGPU_S2(VGPU_S_OF(vgpu_is_nan(a.x)), VGPU_S_OF(vgpu_is_nan(a.y)));
}

/* 1, -1 or 0 */
VGPU_NUMBER int __hisinf(VGPU_S a)
{
    const unsigned bits = vgpu_bits_of(a);
    if ((bits & 0x7fff) != 0x7fffu >> VGPU_S_MANTISSA << VGPU_S_MANTISSA)
        return 0;
    return bits >> 15 ? -1 : 1;
}

/* A number wins over a NaN, +0 is larger than -0. */
VGPU_NUMBER bool vgpu_before(VGPU_S a, VGPU_S b)
{
    const bool zeros = vgpu_value(a) == 0 && vgpu_value(b) == 0;
    return zeros ? vgpu_bits_of(a) > vgpu_bits_of(b) : vgpu_value(a) < vgpu_value(b);
}

#define VGPU_S_ONE_NAN(otherwise)                                                                  \
    (vgpu_is_nan(a) ? VGPU_S_OF(vgpu_value(b)) : vgpu_is_nan(b) ? a : otherwise)
#define VGPU_S_ANY_NAN(otherwise)                                                                  \
    (vgpu_is_nan(a) || vgpu_is_nan(b) ? vgpu_of_bits(&a, VGPU_SMALL_NAN) : otherwise)

VGPU_S_BINARY(__hmax, __hmax2, VGPU_S_ONE_NAN((vgpu_before(a, b) ? b : a)))
VGPU_S_BINARY(__hmin, __hmin2, VGPU_S_ONE_NAN((vgpu_before(b, a) ? b : a)))
VGPU_S_BINARY(__hmax_nan, __hmax2_nan, VGPU_S_ANY_NAN((vgpu_before(a, b) ? b : a)))
VGPU_S_BINARY(__hmin_nan, __hmin2_nan, VGPU_S_ANY_NAN((vgpu_before(b, a) ? b : a)))
#undef VGPU_S_ONE_NAN
#undef VGPU_S_ANY_NAN

/* ---- functions ---- */

#define VGPU_S_FUNCTION(name, of_a)                                                                \
    VGPU_S_UNARY(h##name, h2##name, vgpu_rounded(&a, of_a((double)vgpu_value(a))))

VGPU_S_FUNCTION(sqrt, sqrt)
VGPU_S_FUNCTION(rsqrt, 1.0 / sqrt)
VGPU_S_FUNCTION(rcp, 1.0 /)
VGPU_S_FUNCTION(exp, exp)
VGPU_S_FUNCTION(exp2, exp2)
VGPU_S_FUNCTION(exp10, exp10)
VGPU_S_FUNCTION(log, log)
VGPU_S_FUNCTION(log2, log2)
VGPU_S_FUNCTION(log10, log10)
VGPU_S_FUNCTION(sin, sin)
VGPU_S_FUNCTION(cos, cos)
VGPU_S_FUNCTION(tanh, tanh)
VGPU_S_FUNCTION(tanh_approx, tanh)
VGPU_S_FUNCTION(ceil, ceil)
VGPU_S_FUNCTION(floor, floor)
VGPU_S_FUNCTION(rint, rint)
VGPU_S_FUNCTION(trunc, trunc)
#undef VGPU_S_FUNCTION
#undef VGPU_S_UNARY
#undef VGPU_S_BINARY
#undef VGPU_S_TERNARY
#undef VGPU_S_OF
