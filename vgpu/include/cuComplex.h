/* SPDX-License-Identifier: MIT
 * cuComplex.h: complex numbers in C: cuComplex of two floats, cuDoubleComplex of two doubles, for
 * host and device code. Quotients and absolute values are scaled first, so that they do not
 * overflow where the result does not.
 */
#ifndef CU_COMPLEX_H_
#define CU_COMPLEX_H_

#include <math.h>

#include "vector_types.h"

VGPU_BOTH_BEGIN

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

#define VGPU_COMPLEX __host__ __device__ static __inline__ __attribute__((unused))

#define VGPU_COMPLEX_OF(complex, real, f)                                                          \
    VGPU_COMPLEX complex make_##complex(real re, real im)                                          \
    {                                                                                              \
        complex z;                                                                                 \
        z.x = re;                                                                                  \
        z.y = im;                                                                                  \
        return z;                                                                                  \
    }                                                                                              \
    VGPU_COMPLEX real cuCreal##f(complex z)                                                        \
    {                                                                                              \
        return z.x;                                                                                \
    }                                                                                              \
    VGPU_COMPLEX real cuCimag##f(complex z)                                                        \
    {                                                                                              \
        return z.y;                                                                                \
    }                                                                                              \
    VGPU_COMPLEX complex cuConj##f(complex z)                                                      \
    {                                                                                              \
        return make_##complex(z.x, -z.y);                                                          \
    }                                                                                              \
    VGPU_COMPLEX complex cuCadd##f(complex a, complex b)                                           \
    {                                                                                              \
        return make_##complex(a.x + b.x, a.y + b.y);                                               \
    }                                                                                              \
    VGPU_COMPLEX complex cuCsub##f(complex a, complex b)                                           \
    {                                                                                              \
        return make_##complex(a.x - b.x, a.y - b.y);                                               \
    }                                                                                              \
    VGPU_COMPLEX complex cuCmul##f(complex a, complex b)                                           \
    {                                                                                              \
        return make_##complex(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);                       \
    }                                                                                              \
    VGPU_COMPLEX complex cuCdiv##f(complex a, complex b)                                           \
    {                                                                                              \
        real scale = (real)1 / (fabs##f(b.x) + fabs##f(b.y));                                      \
        real ax = a.x * scale, ay = a.y * scale, bx = b.x * scale, by = b.y * scale;               \
        real over = (real)1 / (bx * bx + by * by);                                                 \
        return make_##complex((ax * bx + ay * by) * over, (ay * bx - ax * by) * over);             \
    }                                                                                              \
    VGPU_COMPLEX real cuCabs##f(complex z)                                                         \
    {                                                                                              \
        return hypot##f(z.x, z.y);                                                                 \
    }                                                                                              \
    VGPU_COMPLEX complex cuCfma##f(complex a, complex b, complex c)                                \
    {                                                                                              \
        return cuCadd##f(cuCmul##f(a, b), c);                                                      \
    }

VGPU_COMPLEX_OF(cuFloatComplex, float, f)
VGPU_COMPLEX_OF(cuDoubleComplex, double, )
#undef VGPU_COMPLEX_OF

VGPU_COMPLEX cuComplex make_cuComplex(float re, float im)
{
    return make_cuFloatComplex(re, im);
}

VGPU_COMPLEX cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z)
{
    return make_cuDoubleComplex((double)z.x, (double)z.y);
}

VGPU_COMPLEX cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z)
{
    return make_cuFloatComplex((float)z.x, (float)z.y);
}

#undef VGPU_COMPLEX

VGPU_BOTH_END

#endif
