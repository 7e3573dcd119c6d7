// SPDX-License-Identifier: MIT
// The fast functions are what nvcc makes of them: the same instructions in inline PTX give the same
// bits. With -use_fast_math -DUSUAL, so do expf and the like.
// prints: fast math: 0 of 4096 differ
#include <cuda_runtime.h>
#include <stdio.h>

#define PTX1(name, text)                                                                           \
    __device__ float name(float x)                                                                 \
    {                                                                                              \
        float made;                                                                                \
        asm(text : "=f"(made) : "f"(x));                                                           \
        return made;                                                                               \
    }

PTX1(ptx_exp, "{ .reg .f32 t; mul.f32 t, %1, 0f3FB8AA3B; ex2.approx.f32 %0, t; }")
PTX1(ptx_exp10, "{ .reg .f32 t; mul.f32 t, %1, 0f40549A78; ex2.approx.f32 %0, t; }")
PTX1(ptx_log, "{ .reg .f32 t; lg2.approx.f32 t, %1; mul.f32 %0, t, 0f3F317218; }")
PTX1(ptx_log2, "lg2.approx.f32 %0, %1;")
PTX1(ptx_log10, "{ .reg .f32 t; lg2.approx.f32 t, %1; mul.f32 %0, t, 0f3E9A209B; }")
PTX1(ptx_sin, "sin.approx.f32 %0, %1;")
PTX1(ptx_cos, "cos.approx.f32 %0, %1;")
PTX1(ptx_tanh, "tanh.approx.f32 %0, %1;")
PTX1(ptx_rsqrt, "rsqrt.approx.f32 %0, %1;")
PTX1(ptx_tan, "{ .reg .f32 s, c; sin.approx.f32 s, %1; cos.approx.f32 c, %1;"
              " div.approx.f32 %0, s, c; }")

__device__ float ptx_pow(float x, float y)
{
    float made;
    asm("{ .reg .f32 t; lg2.approx.f32 t, %1; mul.f32 t, t, %2; ex2.approx.f32 %0, t; }"
        : "=f"(made)
        : "f"(x), "f"(y));
    return made;
}

__device__ float ptx_divide(float x, float y)
{
    float made;
    asm("div.approx.f32 %0, %1, %2;" : "=f"(made) : "f"(x), "f"(y));
    return made;
}

__device__ unsigned differ;

__device__ void compare(const char *name, float x, float have, float want)
{
    if (__float_as_uint(have) == __float_as_uint(want) || (isnan(have) && isnan(want)))
        return;
    if (atomicAdd(&differ, 1) < 8)
        printf("%s of %a: %a instead of %a\n", name, x, have, want);
}

__global__ void all()
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = i % 5 == 0 ? __uint_as_float(i * 0x9E3779B1u) : (i * 0.0173f - 30.0f) * 0.9f;
    float y = i % 37 * 0.37f - 4.0f, s, c;

    compare("expf", x, __expf(x), ptx_exp(x));
    compare("exp10f", x, __exp10f(x), ptx_exp10(x));
    compare("logf", x, __logf(x), ptx_log(x));
    compare("log2f", x, __log2f(x), ptx_log2(x));
    compare("log10f", x, __log10f(x), ptx_log10(x));
    compare("powf", x, __powf(x, y), ptx_pow(x, y));
    compare("tanf", x, __tanf(x), ptx_tan(x));
    compare("tanhf", x, __tanhf(x), ptx_tanh(x));
    compare("fdividef", x, __fdividef(x, y), ptx_divide(x, y));
    compare("rsqrtf", x, rsqrtf(x), ptx_rsqrt(x));
#ifdef USUAL
    compare("usual expf", x, expf(x), ptx_exp(x));
    compare("usual exp10f", x, exp10f(x), ptx_exp10(x));
    compare("usual logf", x, logf(x), ptx_log(x));
    compare("usual log10f", x, log10f(x), ptx_log10(x));
    compare("usual powf", x, powf(x, y), ptx_pow(x, y));
    compare("usual tanf", x, tanf(x), ptx_tan(x));
#endif
    __sincosf(x, &s, &c);
    compare("sinf", x, s, ptx_sin(x));
    compare("cosf", x, c, ptx_cos(x));
}

int main()
{
    unsigned count = 0;

    all<<<16, 256>>>();
    cudaDeviceSynchronize();
    cudaMemcpyFromSymbol(&count, differ, sizeof count);
    printf("fast math: %u of 4096 differ\n", count);
    return count != 0;
}
