/* SPDX-License-Identifier: MIT
 * cuda_fp16.h: half precision: __half, __half2, for host and device code alike.
 *
 * Conversions, sums, products, quotients and fused products are rounded correctly, on every
 * computer to the same bits. What small_type.h and its neighbours make of one type is said here.
 */
#ifndef __CUDA_FP16_H__
#define __CUDA_FP16_H__
#define __CUDA_FP16_TYPES_EXIST__

#include "vector_functions.h"
#include "vgpu/rounding.h"

#ifndef __cplusplus /* C has the bits alone */

typedef struct __attribute__((aligned(2))) {
    unsigned short x;
} __half_raw;

typedef struct __attribute__((aligned(4))) {
    unsigned short x, y;
} __half2_raw;

#else

VGPU_BOTH_BEGIN

#define VGPU_S __half
#define VGPU_S2 __half2
#define VGPU_S_RAW __half_raw
#define VGPU_S2_RAW __half2_raw
#define VGPU_S_MANTISSA 10
#define VGPU_S_DECODE vgpu_from_half
#define VGPU_T(before, after) before##half##after

#include "vgpu/small_type.h"
#include "vgpu/small_convert.h"
#include "vgpu/small_math.h"
#include "vgpu/small_operators.h"

VGPU_NUMBER __half2 __half2half2(__half a)
{
    return __half2(a, a);
}

typedef __half half;
typedef __half2 half2;
typedef __half nv_half;
typedef __half2 nv_half2;

#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7C00U)
#define CUDART_NAN_FP16 __ushort_as_half((unsigned short)0x7FFFU)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half((unsigned short)0x0001U)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7BFFU)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half((unsigned short)0x8000U)
#define CUDART_ZERO_FP16 __ushort_as_half((unsigned short)0x0000U)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3C00U)

#undef VGPU_S
#undef VGPU_S2
#undef VGPU_S_RAW
#undef VGPU_S2_RAW
#undef VGPU_S_MANTISSA
#undef VGPU_S_DECODE
#undef VGPU_T

VGPU_BOTH_END

#endif

#endif
