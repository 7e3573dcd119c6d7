/* SPDX-License-Identifier: MIT
 * cuda_bf16.h: bfloat16: __nv_bfloat16, __nv_bfloat162, for host and device code alike.
 *
 * Conversions, sums, products, quotients and fused products are rounded correctly, on every
 * computer to the same bits. What small_type.h and its neighbours make of one type is said here.
 */
#ifndef __CUDA_BF16_H__
#define __CUDA_BF16_H__
#define __CUDA_BF16_TYPES_EXIST__

#include "vector_functions.h"
#include "vgpu/rounding.h"

#ifndef __cplusplus /* C has the bits alone */

typedef struct __attribute__((aligned(2))) {
    unsigned short x;
} __nv_bfloat16_raw;

typedef struct __attribute__((aligned(4))) {
    unsigned short x, y;
} __nv_bfloat162_raw;

#else

VGPU_BOTH_BEGIN

#define VGPU_S __nv_bfloat16
#define VGPU_S2 __nv_bfloat162
#define VGPU_S_RAW __nv_bfloat16_raw
#define VGPU_S2_RAW __nv_bfloat162_raw
#define VGPU_S_MANTISSA 7
#define VGPU_S_DECODE vgpu_from_bfloat16
#define VGPU_T(before, after) before##bfloat16##after

#include "vgpu/small_type.h"
#include "vgpu/small_convert.h"
#include "vgpu/small_math.h"
#include "vgpu/small_operators.h"

VGPU_NUMBER __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a)
{
    return __nv_bfloat162(a, a);
}

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

#define CUDART_INF_BF16 __ushort_as_bfloat16((unsigned short)0x7F80U)
#define CUDART_NAN_BF16 __ushort_as_bfloat16((unsigned short)0x7FFFU)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16((unsigned short)0x0001U)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16((unsigned short)0x7F7FU)
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x8000U)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x0000U)
#define CUDART_ONE_BF16 __ushort_as_bfloat16((unsigned short)0x3F80U)

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
