/* SPDX-License-Identifier: MIT
 * What the Jacobi programs share: the sweep, the reference on the host, the comparison.
 */
#ifndef JACOBI_H
#define JACOBI_H

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

#define CUDA_RT_CALL(call)                                                                         \
    do {                                                                                           \
        cudaError_t cuda_status = call;                                                            \
        if (cudaSuccess != cuda_status) {                                                          \
            std::fprintf(stderr, "ERROR: CUDA RT call \"%s\" in line %d of file %s failed: %s\n",  \
                         #call, __LINE__, __FILE__, cudaGetErrorString(cuda_status));              \
            std::exit(EXIT_FAILURE);                                                               \
        }                                                                                          \
    } while (0)

constexpr int NX = 66, NY = 66, ITERATIONS = 24;

static inline float initial(int y, int x)
{
    return x == 0 || x == NX - 1 ? std::sin(2.0f * 3.14159265f * y / (NY - 1)) : 0.0f;
}

static inline std::vector<float> reference()
{
    std::vector<float> a(NX * NY), b;
    for (int y = 0; y < NY; y++)
        for (int x = 0; x < NX; x++)
            a[y * NX + x] = initial(y, x);
    b = a;
    for (int it = 0; it < ITERATIONS; it++) {
        for (int y = 1; y < NY - 1; y++)
            for (int x = 1; x < NX - 1; x++)
                b[y * NX + x] = 0.25f * (a[y * NX + x + 1] + a[y * NX + x - 1] +
                                         a[(y + 1) * NX + x] + a[(y - 1) * NX + x]);
        std::swap(a, b);
    }
    return a;
}

/* The rows 1 .. NY-2 that GPU `dev` of `count` sweeps: [first, first + rows). */
static inline void rows_of(int dev, int count, int *first, int *rows)
{
    const int all = NY - 2, low = all / count, more = all % count;
    *rows = low + (dev < more ? 1 : 0);
    *first = 1 + dev * low + (dev < more ? dev : more);
}

static inline int compare(const std::vector<float> &got)
{
    const std::vector<float> want = reference();
    int wrong = 0;
    for (int i = 0; i < NX * NY; i++)
        if (!(std::fabs(want[i] - got[i]) <= 1e-5f) && wrong++ == 0)
            std::fprintf(stderr, "ERROR: a[%d * %d + %d] = %f does not match %f\n", i / NX, NX,
                         i % NX, got[i], want[i]);
    std::printf("%s\n", wrong ? "FAIL" : "PASS");
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
