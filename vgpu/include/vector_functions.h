/* SPDX-License-Identifier: MIT
 * vector_functions.h: make_int2(1, 2) and its like, for host and device code, C and C++.
 */
#ifndef __VECTOR_FUNCTIONS_H__
#define __VECTOR_FUNCTIONS_H__

#include "vector_types.h"

#ifdef __cplusplus
#define VGPU_MAKE __host__ __device__ inline
#else
#define VGPU_MAKE static inline
#endif

#define VGPU_MAKE_VECTORS(name, element)                                                           \
    VGPU_MAKE name##1 make_##name##1(element x)                                                    \
    {                                                                                              \
        name##1 v = {x};                                                                           \
        return v;                                                                                  \
    }                                                                                              \
    VGPU_MAKE name##2 make_##name##2(element x, element y)                                         \
    {                                                                                              \
        name##2 v = {x, y};                                                                        \
        return v;                                                                                  \
    }                                                                                              \
    VGPU_MAKE name##3 make_##name##3(element x, element y, element z)                              \
    {                                                                                              \
        name##3 v = {x, y, z};                                                                     \
        return v;                                                                                  \
    }                                                                                              \
    VGPU_MAKE name##4 make_##name##4(element x, element y, element z, element w)                   \
    {                                                                                              \
        name##4 v = {x, y, z, w};                                                                  \
        return v;                                                                                  \
    }
#define VGPU_MAKE_VECTOR4(name, element)                                                           \
    VGPU_MAKE name make_##name(element x, element y, element z, element w)                         \
    {                                                                                              \
        name v = {x, y, z, w};                                                                     \
        return v;                                                                                  \
    }

VGPU_MAKE_VECTORS(char, signed char)
VGPU_MAKE_VECTORS(uchar, unsigned char)
VGPU_MAKE_VECTORS(short, short)
VGPU_MAKE_VECTORS(ushort, unsigned short)
VGPU_MAKE_VECTORS(int, int)
VGPU_MAKE_VECTORS(uint, unsigned int)
VGPU_MAKE_VECTORS(long, long)
VGPU_MAKE_VECTOR4(long4_16a, long)
VGPU_MAKE_VECTOR4(long4_32a, long)
VGPU_MAKE_VECTORS(ulong, unsigned long)
VGPU_MAKE_VECTOR4(ulong4_16a, unsigned long)
VGPU_MAKE_VECTOR4(ulong4_32a, unsigned long)
VGPU_MAKE_VECTORS(longlong, long long)
VGPU_MAKE_VECTOR4(longlong4_16a, long long)
VGPU_MAKE_VECTOR4(longlong4_32a, long long)
VGPU_MAKE_VECTORS(ulonglong, unsigned long long)
VGPU_MAKE_VECTOR4(ulonglong4_16a, unsigned long long)
VGPU_MAKE_VECTOR4(ulonglong4_32a, unsigned long long)
VGPU_MAKE_VECTORS(float, float)
VGPU_MAKE_VECTORS(double, double)
VGPU_MAKE_VECTOR4(double4_16a, double)
VGPU_MAKE_VECTOR4(double4_32a, double)

#undef VGPU_MAKE
#undef VGPU_MAKE_VECTORS
#undef VGPU_MAKE_VECTOR4

#endif
