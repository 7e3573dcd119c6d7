/* SPDX-License-Identifier: MIT
 * small_convert.h: the conversion functions of a 16-bit floating point type, as small_type.h read
 * once for each type. VGPU_T(before, after) puts the type's name into a function's name.
 */
#define VGPU_S_ROUND(value, how) vgpu_rounded((const VGPU_S *)0, value, how)

VGPU_NUMBER VGPU_S VGPU_T(__double2, )(double a)
{
    return VGPU_S_ROUND(a, VGPU_NEAREST);
}

VGPU_NUMBER VGPU_S VGPU_T(__float2, )(float a)
{
    return VGPU_S_ROUND(a, VGPU_NEAREST);
}

VGPU_NUMBER VGPU_S VGPU_T(__float2, _rn)(float a)
{
    return VGPU_S_ROUND(a, VGPU_NEAREST);
}

VGPU_NUMBER VGPU_S VGPU_T(__float2, _rz)(float a)
{
    return VGPU_S_ROUND(a, VGPU_TO_ZERO);
}

VGPU_NUMBER VGPU_S VGPU_T(__float2, _rd)(float a)
{
    return VGPU_S_ROUND(a, VGPU_DOWN);
}

VGPU_NUMBER VGPU_S VGPU_T(__float2, _ru)(float a)
{
    return VGPU_S_ROUND(a, VGPU_UP);
}

VGPU_NUMBER float VGPU_T(__, 2float)(VGPU_S a)
{
    return vgpu_value(a);
}

/* ---- integers: to and from, in the four roundings ---- */

#define VGPU_S_INTEGER(type, from, name, mode, how, as_double)                                     \
    VGPU_NUMBER type VGPU_T(__, 2##name##_##mode)(VGPU_S a)                                        \
    {                                                                                              \
        return vgpu_integer_of<type>(vgpu_value(a), how,                                           \
                                     sizeof(type) == 8 ? vgpu_top_bit<type>() : (type)0);          \
    }                                                                                              \
    VGPU_NUMBER VGPU_S VGPU_T(from, _##mode)(type a)                                               \
    {                                                                                              \
        return VGPU_S_ROUND(as_double(a), how);                                                    \
    }
#define VGPU_S_INTEGERS(type, from, name, as_double)                                               \
    VGPU_S_INTEGER(type, from, name, rn, VGPU_NEAREST, as_double)                                  \
    VGPU_S_INTEGER(type, from, name, rz, VGPU_TO_ZERO, as_double)                                  \
    VGPU_S_INTEGER(type, from, name, rd, VGPU_DOWN, as_double)                                     \
    VGPU_S_INTEGER(type, from, name, ru, VGPU_UP, as_double)

VGPU_S_INTEGERS(short, __short2, short, double)
VGPU_S_INTEGERS(unsigned short, __ushort2, ushort, double)
VGPU_S_INTEGERS(int, __int2, int, double)
VGPU_S_INTEGERS(unsigned int, __uint2, uint, double)
VGPU_S_INTEGERS(long long, __ll2, ll, vgpu_double_of_i64)
VGPU_S_INTEGERS(unsigned long long, __ull2, ull, vgpu_double_of_u64)
#undef VGPU_S_INTEGER
#undef VGPU_S_INTEGERS

VGPU_NUMBER signed char VGPU_T(__, 2char_rz)(VGPU_S a)
{
    return vgpu_integer_of<signed char>(vgpu_value(a), VGPU_TO_ZERO, 0);
}

VGPU_NUMBER unsigned char VGPU_T(__, 2uchar_rz)(VGPU_S a)
{
    return vgpu_integer_of<unsigned char>(vgpu_value(a), VGPU_TO_ZERO, 0);
}

VGPU_NUMBER short VGPU_T(__, _as_short)(VGPU_S a)
{
    return (short)vgpu_bits_of(a);
}

VGPU_NUMBER unsigned short VGPU_T(__, _as_ushort)(VGPU_S a)
{
    return vgpu_bits_of(a);
}

VGPU_NUMBER VGPU_S VGPU_T(__short_as_, )(short bits)
{
    return vgpu_of_bits((const VGPU_S *)0, (unsigned short)bits);
}

VGPU_NUMBER VGPU_S VGPU_T(__ushort_as_, )(unsigned short bits)
{
    return vgpu_of_bits((const VGPU_S *)0, bits);
}

/* ---- pairs: x is the low half ---- */

#define VGPU_S_PAIR(name, parameters, low, high)                                                   \
    VGPU_NUMBER VGPU_S2 name parameters                                                            \
    {                                                                                              \
        return VGPU_S2(low, high);                                                                 \
    }

VGPU_S_PAIR(VGPU_T(make_, 2), (VGPU_S x, VGPU_S y), x, y)
VGPU_S_PAIR(VGPU_T(__halves2, 2), (VGPU_S x, VGPU_S y), x, y)
VGPU_S_PAIR(VGPU_T(__float2, 2_rn), (float a), VGPU_S(a), VGPU_S(a))
VGPU_S_PAIR(VGPU_T(__floats2, 2_rn), (float a, float b), VGPU_S(a), VGPU_S(b))
VGPU_S_PAIR(VGPU_T(__float22, 2_rn), (float2 a), VGPU_S(a.x), VGPU_S(a.y))
VGPU_S_PAIR(VGPU_T(__low2, 2), (VGPU_S2 a), a.x, a.x)
VGPU_S_PAIR(VGPU_T(__high2, 2), (VGPU_S2 a), a.y, a.y)
VGPU_S_PAIR(VGPU_T(__lows2, 2), (VGPU_S2 a, VGPU_S2 b), a.x, b.x)
VGPU_S_PAIR(VGPU_T(__highs2, 2), (VGPU_S2 a, VGPU_S2 b), a.y, b.y)
VGPU_S_PAIR(__lowhigh2highlow, (VGPU_S2 a), a.y, a.x)

VGPU_NUMBER float2 VGPU_T(__, 22float2)(VGPU_S2 a)
{
    return make_float2(vgpu_value(a.x), vgpu_value(a.y));
}

VGPU_NUMBER float __low2float(VGPU_S2 a)
{
    return vgpu_value(a.x);
}

VGPU_NUMBER float __high2float(VGPU_S2 a)
{
    return vgpu_value(a.y);
}

VGPU_NUMBER VGPU_S VGPU_T(__low2, )(VGPU_S2 a)
{
    return a.x;
}

VGPU_NUMBER VGPU_S VGPU_T(__high2, )(VGPU_S2 a)
{
    return a.y;
}

#undef VGPU_S_ROUND
