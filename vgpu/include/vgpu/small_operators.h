/* SPDX-License-Identifier: MIT
 * small_operators.h: the operators of a 16-bit floating point type and its pair, and what device
 * code has for them (shuffles, atomicAdd), as small_type.h read once for each type.
 */
#define VGPU_S_OPERATOR(type, operation, name)                                                     \
    VGPU_NUMBER type operator operation(const type &a, const type &b)                              \
    {                                                                                              \
        return name(a, b);                                                                         \
    }                                                                                              \
    VGPU_NUMBER type &operator operation##=(type &a, const type &b)                                \
    {                                                                                              \
        return a = name(a, b);                                                                     \
    }
#define VGPU_S_RELATION(operation, name, name2)                                                    \
    VGPU_NUMBER bool operator operation(const VGPU_S &a, const VGPU_S &b)                          \
    {                                                                                              \
        return name(a, b);                                                                         \
    }                                                                                              \
    VGPU_NUMBER bool operator operation(const VGPU_S2 &a, const VGPU_S2 &b)                        \
    {                                                                                              \
        return name2(a, b);                                                                        \
    }
#define VGPU_S_SIGN(type, negated)                                                                 \
    VGPU_NUMBER type operator+(const type &a)                                                      \
    {                                                                                              \
        return a;                                                                                  \
    }                                                                                              \
    VGPU_NUMBER type operator-(const type &a)                                                      \
    {                                                                                              \
        return negated(a);                                                                         \
    }

VGPU_S_OPERATOR(VGPU_S, +, __hadd)
VGPU_S_OPERATOR(VGPU_S, -, __hsub)
VGPU_S_OPERATOR(VGPU_S, *, __hmul)
VGPU_S_OPERATOR(VGPU_S, /, __hdiv)
VGPU_S_OPERATOR(VGPU_S2, +, __hadd2)
VGPU_S_OPERATOR(VGPU_S2, -, __hsub2)
VGPU_S_OPERATOR(VGPU_S2, *, __hmul2)
VGPU_S_OPERATOR(VGPU_S2, /, __h2div)
VGPU_S_RELATION(==, __heq, __hbeq2)
VGPU_S_RELATION(!=, __hneu, __hbneu2)
VGPU_S_RELATION(<, __hlt, __hblt2)
VGPU_S_RELATION(<=, __hle, __hble2)
VGPU_S_RELATION(>, __hgt, __hbgt2)
VGPU_S_RELATION(>=, __hge, __hbge2)
VGPU_S_SIGN(VGPU_S, __hneg)
VGPU_S_SIGN(VGPU_S2, __hneg2)

VGPU_NUMBER VGPU_S &operator++(VGPU_S &a)
{
    return a = __hadd(a, VGPU_S(1));
}

VGPU_NUMBER VGPU_S &operator--(VGPU_S &a)
{
    return a = __hsub(a, VGPU_S(1));
}

VGPU_NUMBER VGPU_S operator++(VGPU_S &a, int)
{
    const VGPU_S before = a;
    ++a;
    return before;
}

VGPU_NUMBER VGPU_S operator--(VGPU_S &a, int)
{
    const VGPU_S before = a;
    --a;
    return before;
}

#undef VGPU_S_OPERATOR
#undef VGPU_S_RELATION
#undef VGPU_S_SIGN

#if defined(__CUDA_ARCH__) || defined(__CUDA__)
#define VGPU_S_SHUFFLE(type)                                                                       \
    VGPU_INLINE type vgpu_shuffle(const char *site, enum vgpu_shfl kind, unsigned mask,            \
                                  type value, int lane, int width = 32)                            \
    {                                                                                              \
        return vgpu_from_bits<type>(                                                               \
            vgpu_shfl(kind, mask, vgpu_to_bits(value), lane, width, site));                        \
    }

VGPU_S_SHUFFLE(VGPU_S)
VGPU_S_SHUFFLE(VGPU_S2)
#undef VGPU_S_SHUFFLE

VGPU_INLINE VGPU_S atomicAdd(VGPU_S *address, VGPU_S value)
{
    unsigned short *word = (unsigned short *)(void *)address;
    unsigned short old = __atomic_load_n(word, __ATOMIC_RELAXED), sum;
    do
        sum = vgpu_bits_of(vgpu_of_bits(address, old) + value);
    while (!__atomic_compare_exchange_n(word, &old, sum, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return vgpu_of_bits(address, old);
}

/* Each half on its own, as CUDA promises no more. */
VGPU_INLINE VGPU_S2 atomicAdd(VGPU_S2 *address, VGPU_S2 value)
{
    const VGPU_S low = atomicAdd(&address->x, value.x);
    return VGPU_S2(low, atomicAdd(&address->y, value.y));
}
#endif
