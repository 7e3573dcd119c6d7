// SPDX-License-Identifier: MIT
// banks.cu: what conflicts in shared memory's banks cost: cycles and time of loads, stores and
// atomics whose lanes lie so many words apart, and of a transposition with and without padding.
#include <cuda_runtime.h>
#include <stdio.h>

__global__ void one(int stride, int mode, long long *out, int *sink)
{
    __shared__ int s[32 * 33 + 64];
    for (int i = threadIdx.x; i < 32 * 33 + 64; i += blockDim.x)
        s[i] = i;
    __syncthreads();
    int lane = threadIdx.x % 32;
    volatile int *p = &s[mode == 2 ? lane / stride : (lane * stride) % 1024];
    long long t0 = clock64();
    int a = 0;
#pragma unroll 16
    for (int k = 0; k < 1024; k++) {
        if (mode == 1)
            *p = k;
        else
            a += *p;
    }
    long long t1 = clock64();
    if (threadIdx.x == 0)
        out[blockIdx.x] = t1 - t0;
    sink[blockIdx.x * blockDim.x + threadIdx.x] = a;
}

__global__ void atom(int stride, long long *out, int *sink)
{
    __shared__ int s[1088];
    for (int i = threadIdx.x; i < 1088; i += blockDim.x)
        s[i] = 0;
    __syncthreads();
    long long t0 = clock64();
    for (int k = 0; k < 256; k++)
        atomicAdd(&s[((threadIdx.x % 32) * stride) % 1024], 1);
    long long t1 = clock64();
    if (threadIdx.x == 0)
        out[blockIdx.x] = t1 - t0;
    sink[blockIdx.x * blockDim.x + threadIdx.x] = s[threadIdx.x % 32];
}

// loads of 8 bytes, and of 4 bytes every 16
__global__ void wide(int stride, int w, long long *out, float *sink)
{
    __shared__ float4 s[1024 + 64];
    for (int i = threadIdx.x; i < 1088; i += blockDim.x)
        s[i] = make_float4(i, i, i, i);
    __syncthreads();
    float a = 0;
    long long t0, t1;
    if (w == 16) {
        volatile float4 *p = &s[(threadIdx.x % 32) * stride % 1024];
        t0 = clock64();
#pragma unroll 8
        for (int k = 0; k < 512; k++)
            a += ((volatile float *)p)[0];
        t1 = clock64();
    } else {
        t0 = clock64();
        const float2 *p = (const float2 *)s + (threadIdx.x % 32) * stride % 1024;
#pragma unroll 8
        for (int k = 0; k < 512; k++) {
            float x, y;
            unsigned ad = (unsigned)__cvta_generic_to_shared(p);
            asm volatile("ld.volatile.shared.v2.f32 {%0,%1},[%2];" : "=f"(x), "=f"(y) : "r"(ad));
            a += x + y;
        }
        t1 = clock64();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = t1 - t0;
    sink[blockIdx.x * blockDim.x + threadIdx.x] = a;
}

static double ms(void (*f)(int, int, int, long long *, int *), int s, int m, int th, long long *o,
                 int *k)
{
    cudaEvent_t a, b;
    cudaEventCreate(&a);
    cudaEventCreate(&b);
    f(s, m, th, o, k);
    cudaEventRecord(a, 0);
    f(s, m, th, o, k);
    cudaEventRecord(b, 0);
    cudaEventSynchronize(b);
    float t;
    cudaEventElapsedTime(&t, a, b);
    return t;
}

static void r1(int s, int m, int th, long long *o, int *k)
{
    one<<<132 * 2, th>>>(s, m, o, k);
}

static void r2(int s, int m, int th, long long *o, int *k)
{
    (void)m;
    atom<<<132 * 2, th>>>(s, o, k);
}

static void r3(int s, int m, int th, long long *o, int *k)
{
    wide<<<132 * 2, th>>>(s, m, o, (float *)k);
}

template <int P> __global__ void tr(const float *in, float *out, int n)
{
    __shared__ float t[32][32 + P];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        t[threadIdx.y + j][threadIdx.x] = in[(size_t)(y + j) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        out[(size_t)(y + j) * n + x] = t[threadIdx.x][threadIdx.y + j];
}

static void transposed(int n)
{
    float *a, *b;
    cudaMalloc(&a, 4ul * n * n);
    cudaMalloc(&b, 4ul * n * n);
    cudaMemset(a, 0, 4ul * n * n);
    for (int p = 0; p < 2; p++) {
        cudaEvent_t x, y;
        cudaEventCreate(&x);
        cudaEventCreate(&y);
        dim3 g(n / 32, n / 32), q(32, 8);
        for (int r = 0; r < 3; r++) {
            cudaEventRecord(x, 0);
            for (int l = 0; l < 10; l++) {
                if (p)
                    tr<1><<<g, q>>>(a, b, n);
                else
                    tr<0><<<g, q>>>(a, b, n);
            }
            cudaEventRecord(y, 0);
            cudaEventSynchronize(y);
            float t;
            cudaEventElapsedTime(&t, x, y);
            if (r == 2)
                printf("transpose %dx%d padding %d: %.4f ms, %.0f GB/s\n", n, n, p, t / 10,
                       8. * n * n / (t / 10 * 1e6));
        }
    }
}

int main()
{
    long long *o;
    int *k;
    cudaMallocManaged(&o, 8 * 300);
    cudaMalloc(&k, 4 * 300 * 1024);
    int st[] = {0, 1, 2, 3, 4, 8, 16, 32, 33};
    for (int th = 32; th <= 1024; th *= 32)
        for (int m = 0; m < 3; m++)
            for (int i = 0; i < 9; i++) {
                if (m == 2 && (st[i] == 0 || st[i] == 33))
                    continue;
                double t = ms(r1, st[i], m, th, o, k);
                cudaDeviceSynchronize();
                printf("%s threads %d stride %d: %.2f cycles an access, %.4f ms\n",
                       m == 0   ? "load"
                       : m == 1 ? "store"
                                : "load lane/stride",
                       th, st[i], o[5] / 1024., t);
            }
    for (int th = 32; th <= 1024; th *= 32)
        for (int i = 0; i < 9; i++) {
            double t = ms(r2, st[i], 0, th, o, k);
            cudaDeviceSynchronize();
            printf("atomicAdd threads %d stride %d: %.2f cycles, %.4f ms\n", th, st[i], o[5] / 256.,
                   t);
        }
    for (int th = 32; th <= 1024; th *= 32)
        for (int i = 0; i < 8; i++)
            for (int w = 8; w <= 16; w += 8) {
                double t = ms(r3, st[i], w, th, o, k);
                cudaDeviceSynchronize();
                printf("%s threads %d stride %d: %.2f cycles, %.4f ms\n",
                       w == 8 ? "load8" : "load4 every 16 B", th, st[i], o[5] / 512., t);
            }
    transposed(8192);
    printf("last %s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    return 0;
}
