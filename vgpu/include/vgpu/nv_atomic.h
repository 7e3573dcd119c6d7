/* SPDX-License-Identifier: MIT
 * nv_atomic.h: the atomic functions that nvcc has built in since CUDA 12.8 (CUDA C++ Programming
 * Guide, "Built-in Atomic Functions"): loads and stores of 1 to 8 bytes, exchanges of 4 and 8, and
 * arithmetic on int, unsigned, long long, unsigned long long, float and double.
 */
#ifndef VGPU_NV_ATOMIC_H
#define VGPU_NV_ATOMIC_H

enum {
    __NV_ATOMIC_RELAXED,
    __NV_ATOMIC_CONSUME,
    __NV_ATOMIC_ACQUIRE,
    __NV_ATOMIC_RELEASE,
    __NV_ATOMIC_ACQ_REL,
    __NV_ATOMIC_SEQ_CST
};

enum {
    __NV_THREAD_SCOPE_THREAD,
    __NV_THREAD_SCOPE_BLOCK,
    __NV_THREAD_SCOPE_CLUSTER,
    __NV_THREAD_SCOPE_DEVICE,
    __NV_THREAD_SCOPE_SYSTEM
};

/* ---- orders and scopes ---- */

VGPU_INLINE int vgpu_nv_scope(int scope)
{
    return scope <= __NV_THREAD_SCOPE_BLOCK ? 0 : scope <= __NV_THREAD_SCOPE_DEVICE ? 1 : 2;
}

VGPU_INLINE bool vgpu_nv_acquires(int order)
{
    return order != __NV_ATOMIC_RELAXED && order != __NV_ATOMIC_RELEASE;
}

VGPU_INLINE void __nv_atomic_thread_fence(int order, int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    if (order != __NV_ATOMIC_RELAXED)
        vgpu_fence(vgpu_nv_scope(scope) | (order == __NV_ATOMIC_SEQ_CST ? 0 : VGPU_ACQ_REL));
}

/* In front of an update; returns what vgpu_atomic is told. */
VGPU_INLINE int vgpu_nv_begin(int order, int scope)
{
    if (order >= __NV_ATOMIC_RELEASE)
        __nv_atomic_thread_fence(order, scope);
    return vgpu_nv_scope(scope) | (vgpu_nv_acquires(order) ? VGPU_ACQUIRES : 0);
}

/* ---- loads, stores: by the bits of the type ---- */

#define VGPU_NV_INTEGRAL(T, name)                                                                  \
    static_assert(__is_integral(T), name ": only integral types, as for nvcc; without _n, others")

template <unsigned long Bytes> struct vgpu_nv_bits {
    static_assert(Bytes == 8, "__nv_atomic_*: 1, 2, 4 or 8 bytes on the virtual node");
    typedef uint64_t type;
};
template <> struct vgpu_nv_bits<1> {
    typedef uint8_t type;
};
template <> struct vgpu_nv_bits<2> {
    typedef uint16_t type;
};
template <> struct vgpu_nv_bits<4> {
    typedef uint32_t type;
};

template <class T>
VGPU_INLINE T __nv_atomic_load_n(T *ptr, int order, int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    VGPU_NV_INTEGRAL(T, "__nv_atomic_load_n");
    if (order == __NV_ATOMIC_SEQ_CST)
        __nv_atomic_thread_fence(order, scope);
    T value = *(const volatile T *)ptr;
    if (vgpu_nv_acquires(order))
        __nv_atomic_thread_fence(__NV_ATOMIC_ACQUIRE, scope);
    return value;
}

template <class T>
VGPU_INLINE void __nv_atomic_load(T *ptr, T *ret, int order, int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    typedef typename vgpu_nv_bits<sizeof(T)>::type bits;
    bits value = __nv_atomic_load_n((bits *)ptr, order, scope);
    __builtin_memcpy(ret, &value, sizeof value);
}

template <class T>
VGPU_INLINE void __nv_atomic_store_n(T *ptr, T val, int order, int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    VGPU_NV_INTEGRAL(T, "__nv_atomic_store_n");
    if (order != __NV_ATOMIC_RELAXED)
        __nv_atomic_thread_fence(order, scope);
    *(volatile T *)ptr = val;
}

template <class T>
VGPU_INLINE void __nv_atomic_store(T *ptr, T *val, int order, int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    typename vgpu_nv_bits<sizeof(T)>::type value;
    __builtin_memcpy(&value, val, sizeof value);
    __nv_atomic_store_n((typename vgpu_nv_bits<sizeof(T)>::type *)ptr, value, order, scope);
}

/* ---- exchanges ---- */

VGPU_INLINE uint64_t vgpu_nv_swap(enum vgpu_atomic_op op, bool wide, void *ptr, uint64_t value,
                                  uint64_t compare, int how)
{
    return vgpu_atomic(op, wide ? VGPU_U64 : VGPU_U32, ptr, value, compare, how);
}

template <class T>
VGPU_INLINE void __nv_atomic_exchange(T *ptr, T *val, T *ret, int order,
                                      int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    static_assert(sizeof(T) == 4 || sizeof(T) == 8,
                  "__nv_atomic_exchange: 4 or 8 bytes on the virtual node");
    *ret = vgpu_from_bits<T>(vgpu_nv_swap(VGPU_ATOMIC_EXCH, sizeof(T) == 8, (void *)ptr,
                                          vgpu_to_bits(*val), 0, vgpu_nv_begin(order, scope)));
}

template <class T>
VGPU_INLINE T __nv_atomic_exchange_n(T *ptr, T val, int order, int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    VGPU_NV_INTEGRAL(T, "__nv_atomic_exchange_n");
    T old;
    __nv_atomic_exchange(ptr, &val, &old, order, scope);
    return old;
}

/* Never fails without a reason, whatever `weak` is. */
template <class T>
VGPU_INLINE bool __nv_atomic_compare_exchange(T *ptr, T *expected, T *desired, bool weak,
                                              int success_order, int failure_order,
                                              int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    static_assert(sizeof(T) == 4 || sizeof(T) == 8,
                  "__nv_atomic_compare_exchange: 4 or 8 bytes on the virtual node");
    (void)weak;
    int order = success_order > failure_order ? success_order : failure_order;
    uint64_t compare = vgpu_to_bits(*expected);
    uint64_t old = vgpu_nv_swap(VGPU_ATOMIC_CAS, sizeof(T) == 8, (void *)ptr,
                                vgpu_to_bits(*desired), compare, vgpu_nv_begin(order, scope));
    *expected = vgpu_from_bits<T>(old);
    return old == compare;
}

template <class T>
VGPU_INLINE bool __nv_atomic_compare_exchange_n(T *ptr, T *expected, T desired, bool weak,
                                                int success_order, int failure_order,
                                                int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    VGPU_NV_INTEGRAL(T, "__nv_atomic_compare_exchange_n");
    return __nv_atomic_compare_exchange(ptr, expected, &desired, weak, success_order, failure_order,
                                        scope);
}

/* ---- arithmetic ---- */

#define VGPU_NV_FETCH(name, op)                                                                    \
    template <class T>                                                                             \
    VGPU_INLINE T __nv_atomic_fetch_##name(T *ptr, T val, int order,                               \
                                           int scope = __NV_THREAD_SCOPE_SYSTEM)                   \
    {                                                                                              \
        return vgpu_atomic_call(op, vgpu_nv_begin(order, scope), ptr, val, (T)0);                  \
    }
VGPU_NV_FETCH(add, VGPU_ATOMIC_ADD)
VGPU_NV_FETCH(sub, VGPU_ATOMIC_SUB)
VGPU_NV_FETCH(min, VGPU_ATOMIC_MIN)
VGPU_NV_FETCH(max, VGPU_ATOMIC_MAX)
VGPU_NV_FETCH(and, VGPU_ATOMIC_AND)
VGPU_NV_FETCH(or, VGPU_ATOMIC_OR)
VGPU_NV_FETCH(xor, VGPU_ATOMIC_XOR)
#undef VGPU_NV_FETCH
#undef VGPU_NV_INTEGRAL

#endif
