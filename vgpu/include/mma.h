/* SPDX-License-Identifier: MIT
 * mma.h: nvcuda::wmma, by emulation: products are exact, and each sum is rounded once. Which lane
 * has which elements is our own choice, as it is undocumented in CUDA; so is num_elements.
 */
#ifndef __CUDA_MMA_H__
#define __CUDA_MMA_H__

#if defined(__cplusplus) && defined(__CUDA__)

#include <type_traits>

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_runtime.h"

namespace nvcuda
{
namespace wmma
{

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };

namespace precision
{
struct tf32;
}

/* ---- what is offered ---- */

template <class T> struct vgpu_element { /* how it is stored */
    typedef T type;
};
template <> struct vgpu_element<precision::tf32> {
    typedef float type;
};

constexpr bool vgpu_shape_of_16(int m, int n, int k)
{
    return k == 16 && ((m == 16 && n == 16) || (m == 32 && n == 8) || (m == 8 && n == 32));
}

template <class T> constexpr bool vgpu_is_shape(int m, int n, int k)
{
    if (std::is_same<T, precision::tf32>::value)
        return m == 16 && n == 16 && k == 8;
    if (std::is_same<T, double>::value)
        return m == 8 && n == 8 && k == 4;
    return vgpu_shape_of_16(m, n, k) ||
           (std::is_same<T, float>::value && m == 16 && n == 16 && k == 8);
}

/* ---- fragments ---- */

template <class Use> constexpr int vgpu_rows(int m, int, int k)
{
    return std::is_same<Use, matrix_b>::value ? k : m;
}
template <class Use> constexpr int vgpu_columns(int, int n, int k)
{
    return std::is_same<Use, matrix_a>::value ? k : n;
}

template <class Use, int m, int n, int k, class T, class Layout = void> struct fragment {
    static_assert(
        vgpu_is_shape<T>(m, n, k),
        "fragments of this shape and type are not modelled: 16x16x16, 32x8x16 and 8x32x16 "
        "of half, __nv_bfloat16, signed and unsigned char; 16x16x8 of tf32; 8x8x4 of "
        "double");
    typedef T element_type;
    typedef typename vgpu_element<T>::type storage_element_type;
    enum {
        vgpu_rows_of = vgpu_rows<Use>(m, n, k),
        vgpu_columns_of = vgpu_columns<Use>(m, n, k),
        num_elements = vgpu_rows_of * vgpu_columns_of / 32,
        num_storage_elements = num_elements
    };
    storage_element_type x[num_elements];
};

template <class F, class T> VGPU_INLINE void fill_fragment(F &f, const T &value)
{
    for (auto &element : f.x)
        element = value;
}

/* Where element i of this lane's part lies in memory. */
template <class F> VGPU_INLINE size_t vgpu_offset(int i, unsigned ldm, bool by_rows)
{
    unsigned e = vgpu_lane_id() * F::num_elements + (unsigned)i;
    size_t row = e / F::vgpu_columns_of, column = e % F::vgpu_columns_of;
    return by_rows ? row * ldm + column : column * ldm + row;
}

template <class F, class P>
VGPU_INLINE void vgpu_load_fragment(F &f, const P *from, unsigned ldm, bool by_rows)
{
    for (int i = 0; i < F::num_elements; i++)
        f.x[i] = from[vgpu_offset<F>(i, ldm, by_rows)];
}

template <class Use, int m, int n, int k, class T, class Layout, class P>
VGPU_INLINE void load_matrix_sync(fragment<Use, m, n, k, T, Layout> &f, const P *from, unsigned ldm)
{
    static_assert(!std::is_same<Use, accumulator>::value, "an accumulator needs a layout");
    vgpu_load_fragment(f, from, ldm, std::is_same<Layout, row_major>::value);
}

template <int m, int n, int k, class T, class P>
VGPU_INLINE void load_matrix_sync(fragment<accumulator, m, n, k, T> &f, const P *from, unsigned ldm,
                                  layout_t layout)
{
    vgpu_load_fragment(f, from, ldm, layout == mem_row_major);
}

template <int m, int n, int k, class T, class P>
VGPU_INLINE void store_matrix_sync(P *to, const fragment<accumulator, m, n, k, T> &f, unsigned ldm,
                                   layout_t layout)
{
    typedef fragment<accumulator, m, n, k, T> F;
    for (int i = 0; i < F::num_elements; i++)
        to[vgpu_offset<F>(i, ldm, layout == mem_row_major)] = f.x[i];
}

/* ---- products ---- */

/* The 10 bits of fraction that a tensor core reads of a number. */
VGPU_INLINE float vgpu_cut_to_tf32(float value)
{
    return __uint_as_float(__float_as_uint(value) & 0xffffe000u);
}

/* To the nearest number with 10 bits of fraction, of two as near to the one farther from zero. */
VGPU_INLINE float __float_to_tf32(float value)
{
    bool finite = (__float_as_uint(value) & 0x7f800000u) != 0x7f800000u;
    return finite ? vgpu_cut_to_tf32(__uint_as_float(__float_as_uint(value) + 0x1000u)) : value;
}

template <class T, class S> VGPU_INLINE double vgpu_factor(S value)
{
    if constexpr (std::is_same<T, precision::tf32>::value)
        return (double)vgpu_cut_to_tf32(value);
    else if constexpr (std::is_same<T, double>::value)
        return value;
    else
        return (double)(float)value; /* exact: at most 16 bits */
}

template <class T> VGPU_INLINE T vgpu_rounded(double sum, bool saturate)
{
    if constexpr (!std::is_same<T, int>::value) {
        return (T)sum;
    } else {
        if (saturate && sum > 2147483647.0)
            return 2147483647;
        if (saturate && sum < -2147483648.0)
            return -2147483647 - 1;
        return (int)(long long)sum;
    }
}

template <class D, class A, class B, class C>
VGPU_INLINE void vgpu_multiply(D &d, const A &a, const B &b, const C &c, int m, int n, int k,
                               bool saturate, const char *site)
{
    double factor_a[A::num_elements], factor_b[B::num_elements], sum[C::num_elements];
    for (int i = 0; i < A::num_elements; i++)
        factor_a[i] = vgpu_factor<typename A::element_type>(a.x[i]);
    for (int i = 0; i < B::num_elements; i++)
        factor_b[i] = vgpu_factor<typename B::element_type>(b.x[i]);
    for (int i = 0; i < C::num_elements; i++)
        sum[i] = (double)c.x[i];
    vgpu_matrices part = {(uint32_t)m, (uint32_t)n, (uint32_t)k, factor_a, factor_b, sum};
    vgpu_matrix_product(&part, site);
    for (int i = 0; i < D::num_elements; i++)
        d.x[i] = vgpu_rounded<typename D::element_type>(sum[i], saturate);
}

template <int m, int n, int k, class A, class LayoutA, class B, class LayoutB, class C, class D>
VGPU_INLINE void mma_sync(fragment<accumulator, m, n, k, D> &d,
                          const fragment<matrix_a, m, n, k, A, LayoutA> &a,
                          const fragment<matrix_b, m, n, k, B, LayoutB> &b,
                          const fragment<accumulator, m, n, k, C> &c, bool satf = false)
{
    vgpu_multiply(d, a, b, c, m, n, k, satf, "mma_sync");
}

} // namespace wmma
} // namespace nvcuda

#endif
#endif
