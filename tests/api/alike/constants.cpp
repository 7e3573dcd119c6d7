// SPDX-License-Identifier: MIT
// constants.cpp: math_constants.h and cuComplex.h, as numbers.
#include <cuComplex.h>
#include <math_constants.h>

#include <cstdio>

#define PRINT(name) printf(#name " %a\n", (double)CUDART_##name);
#define BOTH(X)                                                                                    \
    X(SQRT_HALF)                                                                                   \
    X(SQRT_TWO) X(THIRD) X(PIO4) X(PIO2) X(3PIO4) X(2_OVER_PI) X(PI) X(L2E) X(L2T) X(LG2) X(LGE)   \
        X(LN2) X(LNT) X(LNPI) X(TRIG_PLOSS) X(TWO_TO_23) X(ZERO) X(ONE)
#define PRINT_BOTH(name) PRINT(name) PRINT(name##_F)
#define FLOATS(X)                                                                                  \
    X(SQRT_2_OVER_PI_F)                                                                            \
    X(TWO_TO_M126_F) X(TWO_TO_126_F) X(NORM_HUGE_F) X(TWO_TO_24_F) X(TWO_TO_31_F) X(TWO_TO_32_F)   \
        X(REMQUO_BITS_F) X(REMQUO_MASK_F)
#define DOUBLES(X)                                                                                 \
    X(TWOTHIRD)                                                                                    \
    X(SQRT_2PI) X(SQRT_PIO2) X(SQRT_2OPI) X(LN2_X_1024) X(LN2_X_1025) X(LN2_X_1075) X(LG2_X_1024)  \
        X(LG2_X_1075) X(TWO_TO_52) X(TWO_TO_53) X(TWO_TO_54) X(TWO_TO_M54) X(TWO_TO_M1022)

static void print(const char *what, cuDoubleComplex z)
{
    printf("%s %.13g %.13g\n", what, cuCreal(z), cuCimag(z));
}

static void print(const char *what, cuFloatComplex z)
{
    printf("%s %.5g %.5g\n", what, (double)cuCrealf(z), (double)cuCimagf(z));
}

int main()
{
    BOTH(PRINT_BOTH)
    FLOATS(PRINT)
    DOUBLES(PRINT)
    cuDoubleComplex a = make_cuDoubleComplex(3, -4), b = make_cuDoubleComplex(1e200, 2e200);
    print("sum", cuCadd(a, b));
    print("difference", cuCsub(a, b));
    print("product", cuCmul(a, b));
    print("quotient", cuCdiv(a, b));
    print("conjugate", cuConj(a));
    print("fma", cuCfma(a, a, b));
    printf("size %.13g %.13g\n", cuCabs(a), cuCabs(b));
    cuComplex c = make_cuComplex(0.5f, 2), d = cuComplexDoubleToFloat(a);
    print("float product", cuCmulf(c, d));
    print("float quotient", cuCdivf(c, d));
    print("as double", cuComplexFloatToDouble(cuCfmaf(c, d, cuConjf(c))));
    print("float rest", cuCaddf(cuCsubf(c, d), c));
    printf("float size %.5g\n", (double)cuCabsf(d));
    return 0;
}
