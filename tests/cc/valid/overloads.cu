// SPDX-License-Identifier: MIT
// Which function of numbers a name means in device code: a letter for the type of the result (b i l
// x f d), and the value. With <stdlib.h> alone, as nvcc has it: abs of a float is a float. prints:
// abs i3 l5e+09 x6e+09 f2.5 d3.25 i3 f2.5 prints: std::abs i3 l5e+09 x6e+09 f2.5 d3.25 prints: labs
// l3 l5e+09 x3 x6e+09 prints: fabs f2.5 d3.25 prints: std::fabs f2.5 d3.25 prints: min i-3 f-2.5
// d-3.25 l-5e+09 prints: sqrt f0.7071 d0.5 f0.7071 prints: rsqrt f1.414 d2 prints: rcbrt f1.26
// d1.587 prints: exp10 f3.162 d1.778 prints: sinpi f1 d0.7071 prints: cospi f0 d0.7071 prints: j0
// f0.9385 d0.9844 prints: j1 f0.2423 d0.124 prints: y0 f-0.4445 d-0.9316 prints: y1 f-1.471 d-2.704
// f0.0306 d0.007772 f-5.441 d-20.7 prints: erfcx f0.6157 d0.7703 prints: erfinv f0.4769 d0.2253
// clang-format off
// prints: abs i3 l5e+09 x6e+09 f2.5 d3.25 i3 f2.5
// prints: std::abs i3 l5e+09 x6e+09 f2.5 d3.25
// prints: labs l3 l5e+09 x3 x6e+09
// prints: fabs f2.5 d3.25
// prints: std::fabs f2.5 d3.25
// prints: min i-3 f-2.5 d-3.25 l-5e+09
// prints: sqrt f0.7071 d0.5 f0.7071
// prints: rsqrt f1.414 d2
// prints: rcbrt f1.26 d1.587
// prints: exp10 f3.162 d1.778
// prints: sinpi f1 d0.7071
// prints: cospi f0 d0.7071
// prints: j0 f0.9385 d0.9844
// prints: j1 f0.2423 d0.124
// prints: y0 f-0.4445 d-0.9316
// prints: y1 f-1.471 d-2.704 f0.0306 d0.007772 f-5.441 d-20.7
// prints: erfcx f0.6157 d0.7703
// prints: erfinv f0.4769 d0.2253
// prints: erfcinv f0.4769 d0.8134
// prints: normcdf f0.6915 d0.5987
// prints: normcdfinv f0 d-0.6745
// prints: cyl_bessel_i0 f1.063 d1.016
// prints: cyl_bessel_i1 f0.2579 d0.126
// prints: pow f0.7071 d0.25 d0.8409 f0.75
// prints: log f-0.6931 d-1.386 f-0.6931 f0
// prints: rhypot d1.414 d2.828 d1
// prints: sincos 0.4794 0.8776 0.2474 0.9689 1 0
// clang-format on
#include <stdio.h>
#include <stdlib.h>

#define KIND(type, letter)                                                                         \
    __device__ char kind(type)                                                                     \
    {                                                                                              \
        return letter;                                                                             \
    }
KIND(bool, 'b')
KIND(int, 'i')
KIND(long, 'l')
KIND(long long, 'x')
KIND(float, 'f')
KIND(double, 'd')

#define SHOW(call) printf(" %c%.4g", kind(call), (double)(call))
#define SHOW_BOTH(name) printf("\n%s", #name), SHOW(name(f)), SHOW(name(d))

__global__ void of_integers(int i, long l, long long x)
{
    const float f = -2.5f;
    const double d = -3.25;

    printf("abs"), SHOW(abs(i)), SHOW(abs(l)), SHOW(abs(x)), SHOW(abs(f)), SHOW(abs(d));
    SHOW(abs((short)i)), SHOW(max(abs(f), abs(-f)));
    printf("\nstd::abs"), SHOW(std::abs(i)), SHOW(std::abs(l)), SHOW(std::abs(x));
    SHOW(std::abs(f)), SHOW(std::abs(d));
    printf("\nlabs"), SHOW(labs(i)), SHOW(labs(l)), SHOW(llabs(i)), SHOW(std::llabs(x));
    SHOW_BOTH(fabs);
    SHOW_BOTH(std::fabs);
    printf("\nmin"), SHOW(min(i, 2)), SHOW(min(f, f)), SHOW(min(f, d)), SHOW(min(l, 2l));
    printf("\n");
}

__global__ void of_numbers(float f, double d)
{
    printf("sqrt"), SHOW(sqrt(f)), SHOW(sqrt(d)), SHOW(std::sqrt(f));
    SHOW_BOTH(rsqrt);
    SHOW_BOTH(rcbrt);
    SHOW_BOTH(exp10);
    SHOW_BOTH(sinpi);
    SHOW_BOTH(cospi);
    SHOW_BOTH(j0);
    SHOW_BOTH(j1);
    SHOW_BOTH(y0);
    SHOW_BOTH(y1);
    SHOW(jn(2, f)), SHOW(jn(2, d)), SHOW(yn(2, f)), SHOW(yn(2, d));
    SHOW_BOTH(erfcx);
    SHOW_BOTH(erfinv);
    SHOW_BOTH(erfcinv);
    SHOW_BOTH(normcdf);
    SHOW_BOTH(normcdfinv);
    SHOW_BOTH(cyl_bessel_i0);
    SHOW_BOTH(cyl_bessel_i1);
    printf("\npow"), SHOW(pow(f, f)), SHOW(pow(f, 2)), SHOW(pow(f, d)), SHOW(fma(f, f, f));
    printf("\nlog"), SHOW(log(f)), SHOW(log(d)), SHOW(std::log(f)), SHOW(fmod(f, f));
    printf("\nrhypot"), SHOW(rhypot(f, f)), SHOW(rhypot(d, d)), SHOW(fdivide(d, d));
    printf("\n");
}

__global__ void of_pointers(float f, double d)
{
    float s = 0, c = 0;
    double sine = 0, cosine = 0;

    sincos(f, &s, &c);
    printf("sincos %.4g %.4g", (double)s, (double)c);
    sincos(d, &sine, &cosine);
    printf(" %.4g %.4g", sine, cosine);
    sincospi(f, &s, &c);
    printf(" %.4g %.4g\n", (double)s, (double)c);
}

int main()
{
    of_integers<<<1, 1>>>(-3, -5000000000, -6000000000);
    of_numbers<<<1, 1>>>(0.5f, 0.25);
    of_pointers<<<1, 1>>>(0.5f, 0.25);
    return (int)cudaDeviceSynchronize();
}
