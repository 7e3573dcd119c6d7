// Products of tiles by a warp (nvcuda::wmma), of every type and shape that is offered, against sums
// on the host.
#include <math.h>
#include <mma.h>

#include "../check.h"

using namespace nvcuda;

template <class T, class S, class C, int m, int n, int k, class LayoutA, class LayoutB>
__global__ void product(const S *a, const S *b, const C *c, C *d)
{
    wmma::fragment<wmma::matrix_a, m, n, k, T, LayoutA> fa;
    wmma::fragment<wmma::matrix_b, m, n, k, T, LayoutB> fb;
    wmma::fragment<wmma::accumulator, m, n, k, C> fc, sum;
    bool a_by_rows = std::is_same<LayoutA, wmma::row_major>::value;
    bool b_by_rows = std::is_same<LayoutB, wmma::row_major>::value;
    wmma::fill_fragment(sum, (C)0);
    wmma::load_matrix_sync(fa, a, a_by_rows ? k : m);
    wmma::load_matrix_sync(fb, b, b_by_rows ? n : k);
    wmma::load_matrix_sync(fc, c, n, wmma::mem_row_major);
    if (std::is_same<T, wmma::precision::tf32>::value)
        for (int i = 0; i < fa.num_elements; i++)
            fa.x[i] = (S)wmma::__float_to_tf32((float)fa.x[i]);
    wmma::mma_sync(sum, fa, fb, sum);
    for (int i = 0; i < sum.num_elements; i++)
        sum.x[i] = sum.x[i] + fc.x[i];
    wmma::store_matrix_sync(d, sum, m, wmma::mem_col_major);
}

template <class T, class S, class C, int m, int n, int k, class LayoutA, class LayoutB>
static void check(const char *what, double tolerance)
{
    S *a, *b;
    C *c, *d;
    MUST(cudaMallocManaged(&a, m * k * sizeof *a));
    MUST(cudaMallocManaged(&b, k * n * sizeof *b));
    MUST(cudaMallocManaged(&c, m * n * sizeof *c));
    MUST(cudaMallocManaged(&d, m * n * sizeof *d));
    for (int i = 0; i < m * k; i++)
        a[i] = (S)(float)(i * 7 % 11);
    for (int i = 0; i < k * n; i++)
        b[i] = (S)(float)(i * 5 % 13);
    for (int i = 0; i < m * n; i++)
        c[i] = (C)(float)(i % 3);
    product<T, S, C, m, n, k, LayoutA, LayoutB><<<1, 32>>>(a, b, c, d);
    MUST(cudaDeviceSynchronize());
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double want = (double)(float)c[i * n + j];
            for (int l = 0; l < k; l++) {
                int at = std::is_same<LayoutA, wmma::row_major>::value ? i * k + l : l * m + i;
                int bt = std::is_same<LayoutB, wmma::row_major>::value ? l * n + j : j * k + l;
                want += (double)(float)a[at] * (double)(float)b[bt];
            }
            double have = (double)(float)d[j * m + i];
            HOLDS(fabs(have - want) <= tolerance * fabs(want), "%s: (%d, %d) is %g, not %g", what,
                  i, j, have, want);
        }
    MUST(cudaFree(a));
    MUST(cudaFree(b));
    MUST(cudaFree(c));
    MUST(cudaFree(d));
}

#define CHECK(tolerance, ...) check<__VA_ARGS__>(#__VA_ARGS__, tolerance)

int main()
{
    typedef wmma::row_major row;
    typedef wmma::col_major col;
    typedef __nv_bfloat16 bf16;
    typedef wmma::precision::tf32 tf32;
    CHECK(0, half, half, float, 16, 16, 16, row, col);
    CHECK(0, half, half, float, 32, 8, 16, col, row);
    CHECK(0, half, half, float, 8, 32, 16, row, row);
    CHECK(1e-3, half, half, half, 16, 16, 16, col, col);
    CHECK(0, bf16, bf16, float, 16, 16, 16, row, col);
    CHECK(0, signed char, signed char, int, 16, 16, 16, row, col);
    CHECK(0, unsigned char, unsigned char, int, 32, 8, 16, row, row);
    CHECK(0, tf32, float, float, 16, 16, 8, row, col);
    CHECK(0, double, double, double, 8, 8, 4, row, col);
    puts("PASS");
}
