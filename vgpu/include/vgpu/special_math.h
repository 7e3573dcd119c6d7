/* SPDX-License-Identifier: MIT
 * special_math.h: CUDA's functions that no libm has: the inverse error functions, the normal
 * distribution, Bessel functions i0 and i1, norms. For host and device code. Part of both_math.h.
 *
 * Computed in double to about 1e-14; the forms of float are rounded from there.
 */
#ifndef VGPU_SPECIAL_MATH_H
#define VGPU_SPECIAL_MATH_H

VGPU_BOTH_BEGIN

#define VGPU_TWO_OVER_ROOT_PI 1.1283791670955126

/* exp(x x) erfc(x); far out by the asymptotic series. */
VGPU_BOTH double erfcx(double x)
{
    if (x < 10)
        return exp(x * x) * erfc(x);
    double term = 1, sum = 1, square = 2 * x * x;
    for (int k = 1; k < 30 && fabs(term) > 1e-17; k++) {
        term *= -(2 * k - 1) / square;
        sum += term;
    }
    return sum * VGPU_TWO_OVER_ROOT_PI / 2 / x;
}

/* Newton's method on log(erfc), which is nearly a parabola. y: 0 to 1 */
VGPU_BOTH double vgpu_erfcinv_tail(double y)
{
    double x = sqrt(-log(y));
    for (int i = 0; i < 12; i++)
        x += (log(erfcx(x)) - x * x - log(y)) * erfcx(x) / VGPU_TWO_OVER_ROOT_PI;
    return x;
}

VGPU_BOTH double erfinv(double y)
{
    double size = fabs(y), x = size * 0.886;
    if (!(size < 1))
        return size == 1 ? y * (double)INFINITY : (double)NAN;
    if (size > 0.5)
        return copysign(vgpu_erfcinv_tail(1 - size), y);
    for (int i = 0; i < 8; i++)
        x -= (erf(x) - size) / (VGPU_TWO_OVER_ROOT_PI * exp(-x * x));
    return copysign(x, y);
}

VGPU_BOTH double erfcinv(double y)
{
    if (!(y > 0 && y < 2))
        return y == 0 ? (double)INFINITY : y == 2 ? -(double)INFINITY : (double)NAN;
    if (y < 0.5)
        return vgpu_erfcinv_tail(y);
    return y > 1.5 ? -vgpu_erfcinv_tail(2 - y) : erfinv(1 - y);
}

VGPU_BOTH double normcdf(double x)
{
    return erfc(-x * M_SQRT1_2) / 2;
}

VGPU_BOTH double normcdfinv(double y)
{
    return 0 - M_SQRT2 * erfcinv(2 * y);
}

/* All terms of the series are positive: nothing is lost. */
VGPU_BOTH double vgpu_bessel(double x, int order)
{
    double square = x * x / 4, term = order ? x / 2 : 1, sum = term;
    for (int k = 1; k < 2000 && fabs(term) > fabs(sum) * 1e-17; k++) {
        term *= square / ((double)k * (k + order));
        sum += term;
    }
    return sum;
}

VGPU_BOTH double cyl_bessel_i0(double x)
{
    return vgpu_bessel(x, 0);
}

VGPU_BOTH double cyl_bessel_i1(double x)
{
    return vgpu_bessel(x, 1);
}

/* ---- norms ---- */

VGPU_BOTH double norm4d(double a, double b, double c, double d)
{
    return hypot(hypot(a, b), hypot(c, d));
}

VGPU_BOTH double norm(int count, const double *values)
{
    double result = 0;
    for (int i = 0; i < count; i++)
        result = hypot(result, values[i]);
    return result;
}

VGPU_BOTH double rhypot(double x, double y)
{
    return 1 / hypot(x, y);
}

VGPU_BOTH double rnorm3d(double a, double b, double c)
{
    return 1 / norm3d(a, b, c);
}

VGPU_BOTH double rnorm4d(double a, double b, double c, double d)
{
    return 1 / norm4d(a, b, c, d);
}

VGPU_BOTH double rnorm(int count, const double *values)
{
    return 1 / norm(count, values);
}

/* ---- float ---- */

VGPU_BOTH float norm4df(float a, float b, float c, float d)
{
    return (float)norm4d(a, b, c, d);
}

VGPU_BOTH float normf(int count, const float *values)
{
    double result = 0;
    for (int i = 0; i < count; i++)
        result = hypot(result, (double)values[i]);
    return (float)result;
}

VGPU_BOTH float rnorm3df(float a, float b, float c)
{
    return (float)rnorm3d(a, b, c);
}

VGPU_BOTH float rnorm4df(float a, float b, float c, float d)
{
    return (float)rnorm4d(a, b, c, d);
}

VGPU_BOTH float rnormf(int count, const float *values)
{
    return 1 / normf(count, values);
}

#define VGPU_OF_FLOAT(name)                                                                        \
    VGPU_BOTH float name##f(float x)                                                               \
    {                                                                                              \
        return (float)name((double)x);                                                             \
    }                                                                                              \
    VGPU_BOTH float name(float x)                                                                  \
    {                                                                                              \
        return name##f(x);                                                                         \
    }

VGPU_OF_FLOAT(erfcx)
VGPU_OF_FLOAT(erfinv)
VGPU_OF_FLOAT(erfcinv)
VGPU_OF_FLOAT(normcdf)
VGPU_OF_FLOAT(normcdfinv)
VGPU_OF_FLOAT(cyl_bessel_i0)
VGPU_OF_FLOAT(cyl_bessel_i1)
#undef VGPU_OF_FLOAT

/* The names without f for float, of functions that C does not overload. */
#define VGPU_OVERLOAD(name)                                                                        \
    VGPU_BOTH float name(float x)                                                                  \
    {                                                                                              \
        return name##f(x);                                                                         \
    }

VGPU_OVERLOAD(rcbrt)
VGPU_OVERLOAD(sinpi)
VGPU_OVERLOAD(cospi)
VGPU_OVERLOAD(exp10)
VGPU_OVERLOAD(j0)
VGPU_OVERLOAD(j1)
VGPU_OVERLOAD(y0)
VGPU_OVERLOAD(y1)
#undef VGPU_OVERLOAD

VGPU_BOTH float jn(int order, float x)
{
    return jnf(order, x);
}

VGPU_BOTH float yn(int order, float x)
{
    return ynf(order, x);
}

VGPU_BOTH double fdivide(double a, double b)
{
    return a / b;
}
#undef VGPU_TWO_OVER_ROOT_PI

/* ---- several results, or several names ---- */

VGPU_BOTH void sincospi(double x, double *s, double *c)
{
    *s = sinpi(x);
    *c = cospi(x);
}

VGPU_BOTH void sincospif(float x, float *s, float *c)
{
    *s = sinpif(x);
    *c = cospif(x);
}

VGPU_BOTH void sincospi(float x, float *s, float *c)
{
    sincospif(x, s, c);
}

VGPU_BOTH void sincos(float x, float *s, float *c)
{
    sincosf(x, s, c);
}

VGPU_BOTH unsigned int umin(unsigned int a, unsigned int b)
{
    return min(a, b);
}

VGPU_BOTH unsigned int umax(unsigned int a, unsigned int b)
{
    return max(a, b);
}

VGPU_BOTH long long llmin(long long a, long long b)
{
    return min(a, b);
}

VGPU_BOTH long long llmax(long long a, long long b)
{
    return max(a, b);
}

VGPU_BOTH unsigned long long ullmin(unsigned long long a, unsigned long long b)
{
    return min(a, b);
}

VGPU_BOTH unsigned long long ullmax(unsigned long long a, unsigned long long b)
{
    return max(a, b);
}

VGPU_BOTH_END

#endif
