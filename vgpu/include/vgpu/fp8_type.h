/* SPDX-License-Identifier: MIT
 * fp8_type.h: the classes of cuda_fp8.h, one list of members for both formats. Constructors
 * saturate; all conversions are explicit, as CUDA's are.
 */
#ifndef VGPU_FP8_TYPE_H
#define VGPU_FP8_TYPE_H

VGPU_BOTH_BEGIN

/* clang-format off */
#define VGPU_FP8_FROM_INTEGER(name, type)                                                          \
    explicit name(type value) : name((float)value) {}
#define VGPU_FP8_TO_INTEGER(kind, type)                                                            \
    explicit operator type() const                                                                 \
    {                                                                                              \
        return vgpu_integer_of<type>(vgpu_fp8_value(__x, kind), VGPU_TO_ZERO,                      \
                                     sizeof(type) == 8 ? vgpu_top_bit<type>() : (type)0);          \
    }

#define VGPU_FP8(name, kind)                                                                       \
    struct name {                                                                                  \
        __nv_fp8_storage_t __x;                                                                    \
        name() = default;                                                                          \
        explicit name(float value) : __x(__nv_cvt_float_to_fp8(value, __NV_SATFINITE, kind)) {}    \
        explicit name(double value) : __x(__nv_cvt_double_to_fp8(value, __NV_SATFINITE, kind)) {}  \
        explicit name(__half value) : __x(__nv_cvt_halfraw_to_fp8(value, __NV_SATFINITE, kind)) {} \
        explicit name(__nv_bfloat16 value)                                                         \
            : __x(__nv_cvt_bfloat16raw_to_fp8(value, __NV_SATFINITE, kind)) {}                     \
        VGPU_FP8_FROM_INTEGER(name, short)                                                         \
        VGPU_FP8_FROM_INTEGER(name, unsigned short)                                                \
        VGPU_FP8_FROM_INTEGER(name, int)                                                           \
        VGPU_FP8_FROM_INTEGER(name, unsigned int)                                                  \
        VGPU_FP8_FROM_INTEGER(name, long)                                                          \
        VGPU_FP8_FROM_INTEGER(name, unsigned long)                                                 \
        VGPU_FP8_FROM_INTEGER(name, long long)                                                     \
        VGPU_FP8_FROM_INTEGER(name, unsigned long long)                                            \
        explicit operator float() const { return vgpu_fp8_value(__x, kind); }                      \
        explicit operator double() const { return (double)vgpu_fp8_value(__x, kind); }             \
        explicit operator __half() const { return __nv_cvt_fp8_to_halfraw(__x, kind); }            \
        explicit operator __nv_bfloat16() const { return vgpu_fp8_value(__x, kind); }              \
        explicit operator bool() const { return (__x & 0x7f) != 0; }                               \
        VGPU_FP8_TO_INTEGER(kind, signed char)                                                     \
        VGPU_FP8_TO_INTEGER(kind, unsigned char)                                                   \
        VGPU_FP8_TO_INTEGER(kind, char)                                                            \
        VGPU_FP8_TO_INTEGER(kind, short)                                                           \
        VGPU_FP8_TO_INTEGER(kind, unsigned short)                                                  \
        VGPU_FP8_TO_INTEGER(kind, int)                                                             \
        VGPU_FP8_TO_INTEGER(kind, unsigned int)                                                    \
        VGPU_FP8_TO_INTEGER(kind, long)                                                            \
        VGPU_FP8_TO_INTEGER(kind, unsigned long)                                                   \
        VGPU_FP8_TO_INTEGER(kind, long long)                                                       \
        VGPU_FP8_TO_INTEGER(kind, unsigned long long)                                              \
    };

#define VGPU_FP8X2(name, kind)                                                                     \
    struct __attribute__((aligned(2))) name {                                                      \
        __nv_fp8x2_storage_t __x;                                                                  \
        name() = default;                                                                          \
        explicit name(float2 value) : __x(__nv_cvt_float2_to_fp8x2(value, __NV_SATFINITE, kind)) {}\
        explicit name(double2 value)                                                               \
            : __x(__nv_cvt_double2_to_fp8x2(value, __NV_SATFINITE, kind)) {}                       \
        explicit name(__half2 value)                                                               \
            : __x(__nv_cvt_halfraw2_to_fp8x2(value, __NV_SATFINITE, kind)) {}                      \
        explicit name(__nv_bfloat162 value)                                                        \
            : __x(__nv_cvt_bfloat16raw2_to_fp8x2(value, __NV_SATFINITE, kind)) {}                  \
        explicit operator __half2() const { return __nv_cvt_fp8x2_to_halfraw2(__x, kind); }        \
        explicit operator float2() const                                                           \
        {                                                                                          \
            return float2{vgpu_fp8_value((__nv_fp8_storage_t)(__x & 0xff), kind),                  \
                          vgpu_fp8_value((__nv_fp8_storage_t)(__x >> 8), kind)};                   \
        }                                                                                          \
    };

/* The first of four lies in the lowest byte. */
#define VGPU_FP8X4(name, pair, kind)                                                               \
    struct __attribute__((aligned(4))) name {                                                      \
        __nv_fp8x4_storage_t __x;                                                                  \
        name() = default;                                                                          \
        explicit name(__half2 low, __half2 high) : name(pair(low).__x, pair(high).__x, 0) {}       \
        explicit name(__nv_bfloat162 low, __nv_bfloat162 high)                                     \
            : name(pair(low).__x, pair(high).__x, 0) {}                                            \
        explicit name(float4 value)                                                                \
            : name(pair(float2{value.x, value.y}).__x, pair(float2{value.z, value.w}).__x, 0) {}   \
        explicit name(double4 value)                                                               \
            : name(pair(double2{value.x, value.y}).__x, pair(double2{value.z, value.w}).__x, 0) {} \
        explicit operator float4() const                                                           \
        {                                                                                          \
            pair low, high;                                                                        \
            low.__x = (__nv_fp8x2_storage_t)(__x & 0xffff);                                        \
            high.__x = (__nv_fp8x2_storage_t)(__x >> 16);                                          \
            return float4{((float2)low).x, ((float2)low).y, ((float2)high).x, ((float2)high).y};   \
        }                                                                                          \
    private:                                                                                       \
        name(__nv_fp8x2_storage_t low, __nv_fp8x2_storage_t high, int)                             \
            : __x((__nv_fp8x4_storage_t)low | (__nv_fp8x4_storage_t)high << 16) {}                 \
    };

VGPU_FP8(__nv_fp8_e4m3, __NV_E4M3)
VGPU_FP8(__nv_fp8_e5m2, __NV_E5M2)
VGPU_FP8X2(__nv_fp8x2_e4m3, __NV_E4M3)
VGPU_FP8X2(__nv_fp8x2_e5m2, __NV_E5M2)
VGPU_FP8X4(__nv_fp8x4_e4m3, __nv_fp8x2_e4m3, __NV_E4M3)
VGPU_FP8X4(__nv_fp8x4_e5m2, __nv_fp8x2_e5m2, __NV_E5M2)
/* clang-format on */

#undef VGPU_FP8
#undef VGPU_FP8X2
#undef VGPU_FP8X4
#undef VGPU_FP8_FROM_INTEGER
#undef VGPU_FP8_TO_INTEGER

VGPU_BOTH_END

#endif
