// SPDX-License-Identifier: MIT
// A GoogleTest suite over every GPU, as projects test their kernels. Needs -lgtest.
#include <numeric>
#include <vector>

#include <cuda_runtime.h>
#include <gtest/gtest.h>

template <typename T> __global__ void axpy(T a, const T *x, T *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}

class EveryGpu : public ::testing::Test
{
  protected:
    void SetUp() override
    {
        ASSERT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
    }
    int count = 0;
};

template <typename T> class Axpy : public EveryGpu
{
};
using Types = ::testing::Types<float, double, int>;
TYPED_TEST_SUITE(Axpy, Types);

TYPED_TEST(Axpy, MatchesHost)
{
    const int n = 777;
    std::vector<TypeParam> x(n), y(n, 2);
    std::iota(x.begin(), x.end(), TypeParam(0));
    for (int d = 0; d < this->count; d++) {
        SCOPED_TRACE(d);
        TypeParam *dx, *dy;
        ASSERT_EQ(cudaSetDevice(d), cudaSuccess);
        ASSERT_EQ(cudaMalloc(&dx, n * sizeof(TypeParam)), cudaSuccess);
        ASSERT_EQ(cudaMalloc(&dy, n * sizeof(TypeParam)), cudaSuccess);
        cudaMemcpy(dx, x.data(), n * sizeof(TypeParam), cudaMemcpyHostToDevice);
        std::vector<TypeParam> out = y;
        cudaMemcpy(dy, out.data(), n * sizeof(TypeParam), cudaMemcpyHostToDevice);
        axpy<TypeParam><<<(n + 255) / 256, 256>>>(TypeParam(3), dx, dy, n);
        ASSERT_EQ(cudaGetLastError(), cudaSuccess);
        cudaMemcpy(out.data(), dy, n * sizeof(TypeParam), cudaMemcpyDeviceToHost);
        for (int i = 0; i < n; i++)
            ASSERT_EQ(out[i], TypeParam(3 * i + 2)) << "element " << i;
        EXPECT_EQ(cudaFree(dx), cudaSuccess);
        EXPECT_EQ(cudaFree(dy), cudaSuccess);
    }
}

TEST_F(EveryGpu, BadDeviceIsRefused)
{
    EXPECT_EQ(cudaSetDevice(count), cudaErrorInvalidDevice);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(EveryGpu, ImpossibleLaunchIsRefused)
{
    axpy<float><<<1, 4096>>>(1.0f, nullptr, nullptr, 0);
    EXPECT_NE(cudaPeekAtLastError(), cudaSuccess);
    EXPECT_NE(cudaGetLastError(), cudaSuccess);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

int main(int argc, char **argv)
{
    ::testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
