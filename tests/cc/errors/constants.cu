// SPDX-License-Identifier: MIT
// Constants and lambdas that nvcc refuses in device code and Clang does not.
__constant__ int n, many[3];
const float table[] = {1, 2, 3};
constexpr int known = 2;
static __device__ const int steps[] = {1, 2, 3};
__constant__ const int strides[] = {1, 2, 3};
struct pair {
    int a, b;
};
__constant__ pair both;
__managed__ const char *text;

__global__ void reads(float *out)
{
    const int own[] = {4, 5, 6};
    static const int fixed[] = {4, 5, 6};
    out[0] = many[threadIdx.x] + known + own[threadIdx.x] + fixed[threadIdx.x] + both.b +
             steps[threadIdx.x] + strides[threadIdx.x];
    out[1] = table[threadIdx.x]; //! the constant array 'table' is in the host's memory
}

__global__ void writes()
{
    n = 1; //! __constant__ variable 'n' is written in device code
    many[threadIdx.x] = 1; //! __constant__ variable 'many' is written
    both.b++; //! __constant__ variable 'both' is written
}

template <class F> __global__ void run(F f)
{
    f(3);
    auto inner = [=](int i) { return [=](int k) { return i + k; }(2); };
    f(inner(2));
}

int main()
{
    int *p = nullptr;
    reads<<<1, 1>>>(nullptr);
    writes<<<1, 1>>>();
    run<<<1, 1>>>([=](int i) { *p = i; }); //! a lambda of a host function is used in device code
}
