/* SPDX-License-Identifier: MIT
 * device_ptx.h: what vgpu-cc writes in place of the inline PTX that it knows
 * (vgpu/cc/lower/lower_ptx.c).
 *
 * A vector is its elements one after the other: PTX promises no more (memory consistency model,
 * "Vector Data-types"). An address is a pointer or a 64-bit number.
 */
#ifndef VGPU_DEVICE_PTX_H
#define VGPU_DEVICE_PTX_H

/* Beside the __ATOMIC_ ones. Volatile: as C's, which detectors take for a flag. No macros: a file
 * with OpenMP has lost those when vgpu-cc writes these words. */
enum { VGPU_PTX_WEAK = -1, VGPU_PTX_VOLATILE = -2 };

typedef unsigned long long vgpu_ptx_u64;
typedef long long vgpu_ptx_s64;

/* The bits of an element, which atomics are made for. */
template <int Bytes> struct vgpu_ptx_bits {
    typedef unsigned int type;
};
template <> struct vgpu_ptx_bits<8> {
    typedef unsigned long long type;
};

template <typename T, int Order, typename Out>
VGPU_INLINE void vgpu_ptx_get(Out &to, const void *at)
{
    static_assert(sizeof(Out) == sizeof(T), "the operand's size is not the instruction's");
    typename vgpu_ptx_bits<sizeof(T)>::type bits;
    if (Order == VGPU_PTX_WEAK)
        bits = *(const decltype(bits) *)at;
    else if (Order == VGPU_PTX_VOLATILE)
        bits = *(const volatile decltype(bits) *)at;
    else
        bits = __atomic_load_n((const decltype(bits) *)at, Order < 0 ? 0 : Order);
    __builtin_memcpy(&to, &bits, sizeof bits);
}

template <typename T, int Order, typename In> VGPU_INLINE void vgpu_ptx_put(void *at, In value)
{
    static_assert(sizeof(In) == sizeof(T), "the operand's size is not the instruction's");
    typename vgpu_ptx_bits<sizeof(T)>::type bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    if (Order == VGPU_PTX_WEAK)
        *(decltype(bits) *)at = bits;
    else if (Order == VGPU_PTX_VOLATILE)
        *(volatile decltype(bits) *)at = bits;
    else
        __atomic_store_n((decltype(bits) *)at, bits, Order < 0 ? 0 : Order);
}

template <typename T, int Order, typename A, typename P> VGPU_INLINE void vgpu_ptx_ld(A &a, P from)
{
    vgpu_ptx_get<T, Order>(a, (const T *)from);
}

template <typename T, int Order, typename A, typename P>
VGPU_INLINE void vgpu_ptx_ld(A &a, A &b, P from)
{
    vgpu_ptx_get<T, Order>(a, (const T *)from);
    vgpu_ptx_get<T, Order>(b, (const T *)from + 1);
}

template <typename T, int Order, typename A, typename P>
VGPU_INLINE void vgpu_ptx_ld(A &a, A &b, A &c, A &d, P from)
{
    vgpu_ptx_ld<T, Order>(a, b, from);
    vgpu_ptx_ld<T, Order>(c, d, (const T *)from + 2);
}

template <typename T, int Order, typename A, typename P> VGPU_INLINE void vgpu_ptx_st(P to, A a)
{
    vgpu_ptx_put<T, Order>((T *)to, a);
}

template <typename T, int Order, typename A, typename P>
VGPU_INLINE void vgpu_ptx_st(P to, A a, A b)
{
    vgpu_ptx_put<T, Order>((T *)to, a);
    vgpu_ptx_put<T, Order>((T *)to + 1, b);
}

template <typename T, int Order, typename A, typename P>
VGPU_INLINE void vgpu_ptx_st(P to, A a, A b, A c, A d)
{
    vgpu_ptx_st<T, Order>(to, a, b);
    vgpu_ptx_st<T, Order>((T *)to + 2, c, d);
}

template <typename T, typename P, typename A> VGPU_INLINE void vgpu_ptx_red_add(P at, A value)
{
    atomicAdd((T *)at, (T)value);
}

template <typename T, typename O, typename P, typename A>
VGPU_INLINE void vgpu_ptx_atom_add(O &old, P at, A value)
{
    old = (O)atomicAdd((T *)at, (T)value);
}

template <typename T, typename O, typename P, typename A>
VGPU_INLINE void vgpu_ptx_atom_exch(O &old, P at, A value)
{
    old = (O)atomicExch((T *)at, (T)value);
}

#endif
