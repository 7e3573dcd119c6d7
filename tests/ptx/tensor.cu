// SPDX-License-Identifier: MIT
// tensor.cu: products on tensor cores as programs write them: a matrix product with wmma in shared
// memory, one with ldmatrix and mma.sync, wmma's other types and shapes. All numbers are whole, so
// that no order of sums shows. Prints the same by both compilers.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
#include <stdio.h>

using namespace nvcuda;

enum { M = 32, N = 48, K = 64 };

// Each warp has a tile of 16 x 16 of c, and steps along k with tiles in shared memory.
__global__ void gemm_wmma(float *c, const half *a, const half *b)
{
    __shared__ half left[16 * 16], right[16 * 16];
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    int row = blockIdx.y * 16, column = blockIdx.x * 16;

    wmma::fill_fragment(fc, 0.0f);
    for (int k = 0; k < K; k += 16) {
        for (int i = threadIdx.x; i < 256; i += 32) {
            left[i] = a[(row + i / 16) * K + k + i % 16];
            right[i] = b[(k + i / 16) * N + column + i % 16];
        }
        __syncthreads();
        wmma::load_matrix_sync(fa, left, 16);
        wmma::load_matrix_sync(fb, right, 16);
        wmma::mma_sync(fc, fa, fb, fc);
        __syncthreads();
    }
    for (int i = 0; i < fc.num_elements; i++)
        fc.x[i] = 2 * fc.x[i] + 1;
    wmma::store_matrix_sync(c + row * N + column, fc, N, wmma::mem_row_major);
}

// Each warp has a tile of 16 x 8.
__global__ void gemm_mma(float *c, const half *a, const half *b)
{
    __shared__ __align__(16) half left[16 * 16], right[16 * 8];
    int lane = threadIdx.x, row = blockIdx.y * 16, column = blockIdx.x * 8;
    float d[4] = {0, 0, 0, 0};
    unsigned fa[4], fb[2];

    for (int k = 0; k < K; k += 16) {
        for (int i = lane; i < 256; i += 32)
            left[i] = a[(row + i / 16) * K + k + i % 16];
        for (int i = lane; i < 128; i += 32)
            right[i] = b[(k + i / 8) * N + column + i % 8];
        __syncwarp();
        unsigned from_a = (unsigned)__cvta_generic_to_shared(left + lane % 16 * 16 + lane / 16 * 8);
        unsigned from_b = (unsigned)__cvta_generic_to_shared(right + lane % 16 * 8);
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3])
                     : "r"(from_a));
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                     : "=r"(fb[0]), "=r"(fb[1])
                     : "r"(from_b));
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                     "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
        __syncwarp();
    }
    for (int i = 0; i < 4; i++)
        c[(row + lane / 4 + i / 2 * 8) * N + column + lane % 4 * 2 + i % 2] = 2 * d[i] + 1;
}

// One product, with the layouts of a and b by choice, and c's in memory by columns.
template <int m, int n, int k, class T, class C, class LayoutA, class LayoutB, class Stored = T>
__global__ void one(C *d, const Stored *a, const Stored *b)
{
    wmma::fragment<wmma::matrix_a, m, n, k, T, LayoutA> fa;
    wmma::fragment<wmma::matrix_b, m, n, k, T, LayoutB> fb;
    wmma::fragment<wmma::accumulator, m, n, k, C> fc, fd;

    wmma::load_matrix_sync(fa, a, 32);
    wmma::load_matrix_sync(fb, b, 32);
    wmma::load_matrix_sync(fc, d, 32, wmma::mem_row_major);
    wmma::mma_sync(fd, fa, fb, fc);
    wmma::store_matrix_sync(d, fd, 32, wmma::mem_col_major);
}

template <class T> static T *filled(int count, int seed)
{
    T *at;
    cudaMallocManaged(&at, count * sizeof(T));
    for (int i = 0; i < count; i++)
        at[i] = (T)(float)((i * 7 + i / 13 + seed) % 9);
    return at;
}

template <class T> static long long checksum(const T *at, int count)
{
    long long sum = 0;
    for (int i = 0; i < count; i++)
        sum = (sum * 31 + (long long)(float)at[i]) % 1000003;
    return sum;
}

template <int m, int n, int k, class T, class C, class LayoutA, class LayoutB, class Stored = T>
static void show(const char *name)
{
    C *d = filled<C>(1024, 1);
    Stored *a = filled<Stored>(1024, 2), *b = filled<Stored>(1024, 3);
    one<m, n, k, T, C, LayoutA, LayoutB, Stored><<<1, 32>>>(d, a, b);
    cudaDeviceSynchronize();
    printf("%s %dx%dx%d: %lld\n", name, m, n, k, checksum(d, 1024));
}

template <class T, class C> static void show_all(const char *name)
{
    show<16, 16, 16, T, C, wmma::row_major, wmma::col_major>(name);
    show<16, 16, 16, T, C, wmma::col_major, wmma::row_major>(name);
    show<32, 8, 16, T, C, wmma::row_major, wmma::row_major>(name);
    show<8, 32, 16, T, C, wmma::col_major, wmma::col_major>(name);
}

int main()
{
    half *a = filled<half>(M * K, 0), *b = filled<half>(K * N, 5);
    float *c = filled<float>(M * N, 0), *d = filled<float>(M * N, 0);
    int wrong = 0;

    gemm_wmma<<<dim3(N / 16, M / 16), 32>>>(c, a, b);
    gemm_mma<<<dim3(N / 8, M / 16), 32>>>(d, a, b);
    cudaDeviceSynchronize();
    for (int i = 0; i < M * N; i++) {
        float sum = 0;
        for (int k = 0; k < K; k++)
            sum += (float)a[i / N * K + k] * (float)b[k * N + i % N];
        wrong += c[i] != 2 * sum + 1;
        wrong += d[i] != 2 * sum + 1;
    }
    printf("%lld, %d wrong\n", checksum(c, M * N), wrong);
    show_all<half, float>("half, float");
    show_all<half, half>("half");
    show_all<__nv_bfloat16, float>("bfloat16");
    show_all<signed char, int>("signed char");
    show_all<unsigned char, int>("unsigned char");
    show<16, 16, 8, wmma::precision::tf32, float, wmma::row_major, wmma::col_major, float>("tf32");
    show<8, 8, 4, double, double, wmma::row_major, wmma::row_major>("double");
    printf("%s\n", cudaGetErrorString(cudaGetLastError()));
    return 0;
}
