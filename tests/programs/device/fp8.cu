/* SPDX-License-Identifier: MIT
 * fp8.cu: numbers of eight bits in kernels: each conversion gives what the host's gives (which
 * tests/api/alike/fp8.cpp compares with CUDA's), stores of two and four at once, and the headers
 * that are included by name.
 */
#include <builtin_types.h>
#include <cuComplex.h>
#include <cuda_fp8.h>
#include <cuda_profiler_api.h>
#include <math_constants.h>
#include <nvtx3/nvToolsExt.h>

#include "../check.h"

#if !defined(__CUDA_FP8_TYPES_EXIST__) || !defined(__CUDA_BF16_TYPES_EXIST__) ||                   \
    !defined(__CUDA_FP16_TYPES_EXIST__)
#error "libraries ask by these whether there are such types"
#endif

template <class Number> __global__ void narrow(Number *out, __half *back)
{
    unsigned bits = blockIdx.x * blockDim.x + threadIdx.x;

    out[bits] = Number(__ushort_as_half((unsigned short)bits));
    back[bits] = (__half)out[bits];
}

__global__ void together(__nv_fp8x4_e4m3 *four, float4 *back, cuDoubleComplex *product)
{
    *four = __nv_fp8x4_e4m3(make_float4(0.5f, -3.0f, CUDART_INF_F, CUDART_PI_F));
    *back = (float4)*four;
    *product = cuCmul(make_cuDoubleComplex(1, 2), make_cuDoubleComplex(3, -1));
}

template <class Number> static void check_narrow(const char *name)
{
    Number *out;
    __half *back;
    MUST(cudaMallocManaged(&out, 65536 * sizeof *out));
    MUST(cudaMallocManaged(&back, 65536 * sizeof *back));
    narrow<<<256, 256>>>(out, back);
    MUST(cudaDeviceSynchronize());
    for (unsigned bits = 0; bits < 65536; bits++) {
        Number want(__ushort_as_half((unsigned short)bits));
        HOLDS(out[bits].__x == want.__x, "%s of half %04x is %02x, on the host %02x", name, bits,
              out[bits].__x, want.__x);
        HOLDS(__half_as_ushort(back[bits]) == __half_as_ushort((__half)want), "%s %02x", name,
              want.__x);
    }
    MUST(cudaFree(out));
    MUST(cudaFree(back));
}

int main()
{
    __nv_fp8x4_e4m3 *four;
    float4 *back;
    cuDoubleComplex *product;

    MUST(cudaProfilerStart());
    nvtxRangePush("fp8");
    check_narrow<__nv_fp8_e4m3>("e4m3");
    check_narrow<__nv_fp8_e5m2>("e5m2");
    MUST(cudaMallocManaged(&four, sizeof *four));
    MUST(cudaMallocManaged(&back, sizeof *back));
    MUST(cudaMallocManaged(&product, sizeof *product));
    together<<<1, 1>>>(four, back, product);
    MUST(cudaDeviceSynchronize());
    HOLDS(four->__x == 0x457ec430, "%08x", four->__x);
    HOLDS(back->x == 0.5f && back->y == -3 && back->z == 448 && back->w == 3.25f, "%g %g %g %g",
          back->x, back->y, back->z, back->w);
    HOLDS(product->x == 5 && product->y == 5, "%g %g", product->x, product->y);
    nvtxRangePop();
    MUST(cudaProfilerStop());
    printf("PASS\n");
    return 0;
}
