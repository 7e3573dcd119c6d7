/* SPDX-License-Identifier: MIT
 * vector_types.h: CUDA's small vectors (int2, float4 ...) and dim3, with CUDA's sizes and
 * alignments.
 *
 * A vector of two or four is aligned to its size, at most 16 bytes, so that device code may load it
 * in one access; vectors of one and three are aligned as their element. The 32-byte vectors of
 * four come in two alignments in CUDA 13 (_16a, _32a); the plain name is the 16-byte one.
 */
#ifndef __VECTOR_TYPES_H__
#define __VECTOR_TYPES_H__

#include "host_defines.h"

/* Around code that uses the vectors which CUDA 13 deprecates: nothing is deprecated here. */
#define __NV_SILENCE_HOST_DEPRECATION_BEGIN
#define __NV_SILENCE_HOST_DEPRECATION_END
#define __NV_SILENCE_DEPRECATION_BEGIN
#define __NV_SILENCE_DEPRECATION_END

#define VGPU_VECTOR1(name, element)                                                                \
    struct name {                                                                                  \
        element x;                                                                                 \
    };                                                                                             \
    typedef struct name name
#define VGPU_VECTOR2(name, element, align)                                                         \
    struct __align__(align) name                                                                   \
    {                                                                                              \
        element x, y;                                                                              \
    };                                                                                             \
    typedef struct name name
#define VGPU_VECTOR3(name, element)                                                                \
    struct name {                                                                                  \
        element x, y, z;                                                                           \
    };                                                                                             \
    typedef struct name name
#define VGPU_VECTOR4(name, element, align)                                                         \
    struct __align__(align) name                                                                   \
    {                                                                                              \
        element x, y, z, w;                                                                        \
    };                                                                                             \
    typedef struct name name

VGPU_VECTOR1(char1, signed char);
VGPU_VECTOR2(char2, signed char, 2);
VGPU_VECTOR3(char3, signed char);
VGPU_VECTOR4(char4, signed char, 4);

VGPU_VECTOR1(uchar1, unsigned char);
VGPU_VECTOR2(uchar2, unsigned char, 2);
VGPU_VECTOR3(uchar3, unsigned char);
VGPU_VECTOR4(uchar4, unsigned char, 4);

VGPU_VECTOR1(short1, short);
VGPU_VECTOR2(short2, short, 4);
VGPU_VECTOR3(short3, short);
VGPU_VECTOR4(short4, short, 8);

VGPU_VECTOR1(ushort1, unsigned short);
VGPU_VECTOR2(ushort2, unsigned short, 4);
VGPU_VECTOR3(ushort3, unsigned short);
VGPU_VECTOR4(ushort4, unsigned short, 8);

VGPU_VECTOR1(int1, int);
VGPU_VECTOR2(int2, int, 8);
VGPU_VECTOR3(int3, int);
VGPU_VECTOR4(int4, int, 16);

VGPU_VECTOR1(uint1, unsigned int);
VGPU_VECTOR2(uint2, unsigned int, 8);
VGPU_VECTOR3(uint3, unsigned int);
VGPU_VECTOR4(uint4, unsigned int, 16);

VGPU_VECTOR1(long1, long);
VGPU_VECTOR2(long2, long, 16);
VGPU_VECTOR3(long3, long);
VGPU_VECTOR4(long4, long, 16);
VGPU_VECTOR4(long4_16a, long, 16);
VGPU_VECTOR4(long4_32a, long, 32);

VGPU_VECTOR1(ulong1, unsigned long);
VGPU_VECTOR2(ulong2, unsigned long, 16);
VGPU_VECTOR3(ulong3, unsigned long);
VGPU_VECTOR4(ulong4, unsigned long, 16);
VGPU_VECTOR4(ulong4_16a, unsigned long, 16);
VGPU_VECTOR4(ulong4_32a, unsigned long, 32);

VGPU_VECTOR1(longlong1, long long);
VGPU_VECTOR2(longlong2, long long, 16);
VGPU_VECTOR3(longlong3, long long);
VGPU_VECTOR4(longlong4, long long, 16);
VGPU_VECTOR4(longlong4_16a, long long, 16);
VGPU_VECTOR4(longlong4_32a, long long, 32);

VGPU_VECTOR1(ulonglong1, unsigned long long);
VGPU_VECTOR2(ulonglong2, unsigned long long, 16);
VGPU_VECTOR3(ulonglong3, unsigned long long);
VGPU_VECTOR4(ulonglong4, unsigned long long, 16);
VGPU_VECTOR4(ulonglong4_16a, unsigned long long, 16);
VGPU_VECTOR4(ulonglong4_32a, unsigned long long, 32);

VGPU_VECTOR1(float1, float);
VGPU_VECTOR2(float2, float, 8);
VGPU_VECTOR3(float3, float);
VGPU_VECTOR4(float4, float, 16);

VGPU_VECTOR1(double1, double);
VGPU_VECTOR2(double2, double, 16);
VGPU_VECTOR3(double3, double);
VGPU_VECTOR4(double4, double, 16);
VGPU_VECTOR4(double4_16a, double, 16);
VGPU_VECTOR4(double4_32a, double, 32);

#undef VGPU_VECTOR1
#undef VGPU_VECTOR2
#undef VGPU_VECTOR3
#undef VGPU_VECTOR4

/* Sizes of grids and blocks. In C++ what is not given is 1; in C write all three. */
struct dim3 {
    unsigned int x, y, z;
#ifdef __cplusplus
    __host__ __device__ constexpr dim3(unsigned int vx = 1, unsigned int vy = 1,
                                       unsigned int vz = 1)
        : x(vx), y(vy), z(vz)
    {
    }
    __host__ __device__ constexpr dim3(uint3 size) : dim3(size.x, size.y, size.z) {}
    __host__ __device__ constexpr operator uint3() const
    {
        return {x, y, z};
    }
#endif
};
typedef struct dim3 dim3;

#endif
