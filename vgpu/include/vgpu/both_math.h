/* SPDX-License-Identifier: MIT
 * both_math.h: functions for numbers that CUDA declares for host and device code alike and C does
 * not have: min and max, reciprocal roots, sines in units of pi, norms.
 */
#ifndef VGPU_BOTH_MATH_H
#define VGPU_BOTH_MATH_H

#include <math.h>

VGPU_BOTH_BEGIN

#define VGPU_BOTH __host__ __device__ __attribute__((unused)) static inline

/* C23 has some of them under the same names. */
#ifdef __GLIBC_PREREQ
#define VGPU_LIBM_HAS(major, minor) __GLIBC_PREREQ(major, minor)
#else
#define VGPU_LIBM_HAS(major, minor) 0
#endif

#define VGPU_MIN_MAX(type)                                                                         \
    VGPU_BOTH constexpr type min(type a, type b)                                                   \
    {                                                                                              \
        return b < a ? b : a;                                                                      \
    }                                                                                              \
    VGPU_BOTH constexpr type max(type a, type b)                                                   \
    {                                                                                              \
        return a < b ? b : a;                                                                      \
    }

VGPU_MIN_MAX(int)
VGPU_MIN_MAX(unsigned int)
VGPU_MIN_MAX(long)
VGPU_MIN_MAX(unsigned long)
VGPU_MIN_MAX(long long)
VGPU_MIN_MAX(unsigned long long)

/* A number wins over a NaN. */
#define VGPU_MIN_MAX_FLOAT(type)                                                                   \
    VGPU_BOTH type min(type a, type b)                                                             \
    {                                                                                              \
        return b < a || a != a ? b : a;                                                            \
    }                                                                                              \
    VGPU_BOTH type max(type a, type b)                                                             \
    {                                                                                              \
        return a < b || a != a ? b : a;                                                            \
    }

VGPU_MIN_MAX_FLOAT(float)
VGPU_MIN_MAX_FLOAT(double)

/* Mixed arguments mean what CUDA makes of them. */
#define VGPU_MIN_MAX_MIXED(left, right, type)                                                      \
    VGPU_BOTH constexpr type min(left a, right b)                                                  \
    {                                                                                              \
        return min((type)a, (type)b);                                                              \
    }                                                                                              \
    VGPU_BOTH constexpr type max(left a, right b)                                                  \
    {                                                                                              \
        return max((type)a, (type)b);                                                              \
    }

VGPU_MIN_MAX_MIXED(int, unsigned int, unsigned int)
VGPU_MIN_MAX_MIXED(unsigned int, int, unsigned int)
VGPU_MIN_MAX_MIXED(long, unsigned long, unsigned long)
VGPU_MIN_MAX_MIXED(unsigned long, long, unsigned long)
VGPU_MIN_MAX_MIXED(long long, unsigned long long, unsigned long long)
VGPU_MIN_MAX_MIXED(unsigned long long, long long, unsigned long long)

#undef VGPU_MIN_MAX
#undef VGPU_MIN_MAX_FLOAT
#undef VGPU_MIN_MAX_MIXED

/* float with double only: float with float is above. */
VGPU_BOTH double min(float a, double b)
{
    return min((double)a, b);
}
VGPU_BOTH double min(double a, float b)
{
    return min(a, (double)b);
}
VGPU_BOTH double max(float a, double b)
{
    return max((double)a, b);
}
VGPU_BOTH double max(double a, float b)
{
    return max(a, (double)b);
}

/* ---- reciprocal roots ---- */

#if !VGPU_LIBM_HAS(2, 42)
VGPU_BOTH float rsqrtf(float x)
{
    return (float)(1.0 / sqrt((double)x));
}

VGPU_BOTH double rsqrt(double x)
{
    return 1.0 / sqrt(x);
}
#endif

VGPU_BOTH float rsqrt(float x)
{
    return rsqrtf(x);
}

VGPU_BOTH float rcbrtf(float x)
{
    return 1.0f / cbrtf(x);
}

VGPU_BOTH double rcbrt(double x)
{
    return 1.0 / cbrt(x);
}

VGPU_BOTH float fdividef(float a, float b)
{
    return a / b;
}

/* ---- in units of pi, norms ---- */

#if !VGPU_LIBM_HAS(2, 41)
/* sin(pi x) for `quarter` 0, cos(pi x) for 1: exact where x is a multiple of a half. */
VGPU_BOTH double vgpu_sine_of_turns(double x, int quarter)
{
    const double turn = fmod(x, 2.0), halves = rint(2 * turn), rest = M_PI * (turn - halves / 2);
    const int at = ((int)halves + quarter) & 3;
    const double size = at & 1 ? cos(rest) : sin(rest);
    return at & 2 ? 0 - size : size;
}

VGPU_BOTH float sinpif(float x)
{
    return (float)vgpu_sine_of_turns((double)x, 0);
}

VGPU_BOTH float cospif(float x)
{
    return (float)vgpu_sine_of_turns((double)x, 1);
}

VGPU_BOTH double sinpi(double x)
{
    return vgpu_sine_of_turns(x, 0);
}

VGPU_BOTH double cospi(double x)
{
    return vgpu_sine_of_turns(x, 1);
}
#endif

VGPU_BOTH float rhypotf(float x, float y)
{
    return 1.0f / hypotf(x, y);
}

VGPU_BOTH float norm3df(float x, float y, float z)
{
    return (float)sqrt((double)x * x + (double)y * y + (double)z * z);
}

VGPU_BOTH double norm3d(double x, double y, double z)
{
    return hypot(hypot(x, y), z);
}

#include "dpx.h"
#include "special_math.h"

VGPU_BOTH_END

#endif
