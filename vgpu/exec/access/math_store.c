/* SPDX-License-Identifier: MIT
 * math_store.c: functions of libm that store through a pointer. Images are linked with --wrap for
 * them, so that the store is checked and counted like one of device code.
 */
#include "access.h"
#include "exec.h"

#include <math.h>

static void store_result(void *to, const void *from, size_t bytes)
{
    __wrap_memcpy(to, from, bytes);
}

OFFERED double __wrap_frexp(double x, int *exponent);
OFFERED float __wrap_frexpf(float x, int *exponent);
OFFERED double __wrap_modf(double x, double *whole);
OFFERED float __wrap_modff(float x, float *whole);
OFFERED double __wrap_remquo(double x, double y, int *quotient);
OFFERED float __wrap_remquof(float x, float y, int *quotient);
OFFERED void __wrap_sincos(double x, double *s, double *c);
OFFERED void __wrap_sincosf(float x, float *s, float *c);

OFFERED double __wrap_frexp(double x, int *exponent)
{
    int own;
    double result = frexp(x, &own);
    store_result(exponent, &own, sizeof own);
    return result;
}

OFFERED float __wrap_frexpf(float x, int *exponent)
{
    int own;
    float result = frexpf(x, &own);
    store_result(exponent, &own, sizeof own);
    return result;
}

OFFERED double __wrap_modf(double x, double *whole)
{
    double own;
    double result = modf(x, &own);
    store_result(whole, &own, sizeof own);
    return result;
}

OFFERED float __wrap_modff(float x, float *whole)
{
    float own;
    float result = modff(x, &own);
    store_result(whole, &own, sizeof own);
    return result;
}

OFFERED double __wrap_remquo(double x, double y, int *quotient)
{
    int own;
    double result = remquo(x, y, &own);
    store_result(quotient, &own, sizeof own);
    return result;
}

OFFERED float __wrap_remquof(float x, float y, int *quotient)
{
    int own;
    float result = remquof(x, y, &own);
    store_result(quotient, &own, sizeof own);
    return result;
}

OFFERED void __wrap_sincos(double x, double *s, double *c)
{
    double own[2];
    sincos(x, &own[0], &own[1]);
    store_result(s, &own[0], sizeof *own);
    store_result(c, &own[1], sizeof *own);
}

OFFERED void __wrap_sincosf(float x, float *s, float *c)
{
    float own[2];
    sincosf(x, &own[0], &own[1]);
    store_result(s, &own[0], sizeof *own);
    store_result(c, &own[1], sizeof *own);
}
