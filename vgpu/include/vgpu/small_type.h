/* SPDX-License-Identifier: MIT
 * small_type.h: a 16-bit floating point type and its pair. Read once for each type, so there is no
 * guard (cuda_fp16.h, cuda_bf16.h). They say before: VGPU_S and VGPU_S2 (the type, its pair),
 * VGPU_S_RAW and VGPU_S2_RAW (their bits), VGPU_S_MANTISSA, VGPU_S_DECODE (bits to float).
 *
 * The conversions are those of CUDA's types, implicit ones too: what is ambiguous there is so here.
 */
/* clang-format off */
struct __attribute__((aligned(2))) VGPU_S_RAW {
    unsigned short x;
};

struct __attribute__((aligned(4))) VGPU_S2_RAW {
    unsigned short x, y;
};

#define VGPU_S_FROM(type, as_double)                                                               \
    VGPU_S(type value) : __x(vgpu_small_of(as_double(value), VGPU_S_MANTISSA, VGPU_NEAREST)) {}    \
    VGPU_S &operator=(type value)                                                                  \
    {                                                                                              \
        return *this = VGPU_S(value);                                                              \
    }
#define VGPU_S_TO(type)                                                                            \
    operator type() const                                                                          \
    {                                                                                              \
        return vgpu_integer_of<type>(VGPU_S_DECODE(__x), VGPU_TO_ZERO,                             \
                                     sizeof(type) == 8 ? vgpu_top_bit<type>() : (type)0);          \
    }

struct __attribute__((aligned(2))) VGPU_S {
protected:
    unsigned short __x;

public:
    VGPU_S() = default;
    constexpr VGPU_S(const VGPU_S_RAW &raw) : __x(raw.x) {}
    VGPU_S &operator=(const VGPU_S_RAW &raw)
    {
        __x = raw.x;
        return *this;
    }
    volatile VGPU_S &operator=(const VGPU_S_RAW &raw) volatile
    {
        __x = raw.x;
        return *this;
    }
    volatile VGPU_S &operator=(const volatile VGPU_S_RAW &raw) volatile
    {
        __x = raw.x;
        return *this;
    }
    operator VGPU_S_RAW() const
    {
        VGPU_S_RAW raw = {__x};
        return raw;
    }
    operator VGPU_S_RAW() const volatile
    {
        VGPU_S_RAW raw = {__x};
        return raw;
    }
    VGPU_S_FROM(float, double)
    VGPU_S_FROM(double, double)
    VGPU_S_FROM(short, double)
    VGPU_S_FROM(unsigned short, double)
    VGPU_S_FROM(int, double)
    VGPU_S_FROM(unsigned int, double)
    VGPU_S_FROM(long, vgpu_double_of_i64)
    VGPU_S_FROM(unsigned long, vgpu_double_of_u64)
    VGPU_S_FROM(long long, vgpu_double_of_i64)
    VGPU_S_FROM(unsigned long long, vgpu_double_of_u64)
    operator float() const
    {
        return VGPU_S_DECODE(__x);
    }
    operator bool() const
    {
        return (__x & 0x7fff) != 0;
    }
    VGPU_S_TO(signed char)
    VGPU_S_TO(unsigned char)
    VGPU_S_TO(char)
    VGPU_S_TO(short)
    VGPU_S_TO(unsigned short)
    VGPU_S_TO(int)
    VGPU_S_TO(unsigned int)
    VGPU_S_TO(long)
    VGPU_S_TO(unsigned long)
    VGPU_S_TO(long long)
    VGPU_S_TO(unsigned long long)
};

#undef VGPU_S_FROM
#undef VGPU_S_TO

struct __attribute__((aligned(4))) VGPU_S2 {
    VGPU_S x, y;

    VGPU_S2() = default;
    constexpr VGPU_S2(const VGPU_S &a, const VGPU_S &b) : x(a), y(b) {}
    constexpr VGPU_S2(const VGPU_S2_RAW &raw) : x(VGPU_S_RAW{raw.x}), y(VGPU_S_RAW{raw.y}) {}
    operator VGPU_S2_RAW() const
    {
        VGPU_S2_RAW raw = {((VGPU_S_RAW)x).x, ((VGPU_S_RAW)y).x};
        return raw;
    }
};
/* clang-format on */

VGPU_NUMBER VGPU_S vgpu_of_bits(const VGPU_S *, unsigned short bits)
{
    VGPU_S_RAW raw = {bits};
    return VGPU_S(raw);
}

VGPU_NUMBER unsigned short vgpu_bits_of(VGPU_S value)
{
    return ((VGPU_S_RAW)value).x;
}

/* The pointer only says which type it is. */
VGPU_NUMBER VGPU_S vgpu_rounded(const VGPU_S *type, double value,
                                enum vgpu_rounding how = VGPU_NEAREST)
{
    return vgpu_of_bits(type, vgpu_small_of(value, VGPU_S_MANTISSA, how));
}

VGPU_NUMBER float vgpu_value(VGPU_S value)
{
    return VGPU_S_DECODE(vgpu_bits_of(value));
}

VGPU_NUMBER bool vgpu_is_nan(VGPU_S value)
{
    return (vgpu_bits_of(value) & 0x7fff) > (0x7fff >> VGPU_S_MANTISSA << VGPU_S_MANTISSA);
}
