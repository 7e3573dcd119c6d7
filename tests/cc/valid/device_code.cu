// SPDX-License-Identifier: MIT
// What device code may be made of.
// prints: 1 2 3 4 5 6 7 8 9 10 11
#include <stdio.h>
#include <math.h>
#include <cuda_runtime.h>

const int host_constant = 1;
constexpr int folded[] = {0, 1, 2, 3};
__device__ constexpr int table[] = {0, 1, 2, 3};
static const float *const nothing = nullptr;
enum color { RED = 3 };

__device__ int twice(int n);
__device__ __forceinline__ int same(int n) { return n; }
static __device__ __noinline__ int slow(int n) { return n; }
__host__ __device__ static inline int both(int n)
{
#ifdef __CUDA_ARCH__
    return n;
#else
    return n + 1000;
#endif
}
__host__ __device__ constexpr int squared(int n) { return n * n; }

class vec {
  public:
    __host__ __device__ vec(float x, float y) : x_(x), y_{y} {}
    __device__ float length() const { return sqrtf(x_ * x_ + y_ * y_); }
    __host__ __device__ vec operator+(const vec &o) const { return vec(x_ + o.x_, y_ + o.y_); }
    __device__ static int count();
    __host__ __device__ ~vec() {}

  private:
    float x_, y_;
};
__device__ int vec::count() { return 6; }

struct adder {
    int n;
    __device__ int operator()(int x) const { return x + n; }
};
template <class F> __device__ int apply(F f, int x) { return f(x); }

template <int N> __device__ int fact() { return N * fact<N - 1>(); }
template <> __device__ int fact<0>() { return 1; }

__device__ int recursive(int n) { return n == 0 ? 0 : 1 + recursive(n - 1); }

struct base {
    __device__ virtual int id() const { return 0; }
};
struct derived : base {
    __device__ int id() const override { return 10; }
};
__device__ __noinline__ int ask(const base &b) { return b.id(); }

__global__ void use(int *out)
{
    const int local[] = {8, 9};
    static const int also_local[] = {5, 6, 7};
    constexpr int two = folded[2];
    derived d;

    out[0] = host_constant + (nothing != nullptr);
    out[1] = table[threadIdx.x + 2];
    out[2] = RED + two - 2 + also_local[threadIdx.x] - 5;
    out[3] = twice(same(2));
    out[4] = (int)(vec(1, 2) + vec(2, 2)).length();
    out[5] = vec::count();
    out[6] = apply(adder{3}, 4);
    auto f = [&](int i) { return local[i] + slow(0); };
    out[7] = f(0) + both(0);
    out[8] = squared(3) + fact<3>() - 6;
    out[9] = ask(d) + recursive(0);
    out[10] = min(11, 12) + max(0u, 0u);
}

__device__ int twice(int n)
{
    return 2 * n;
}

int main()
{
    int *out, host[11];

    cudaMalloc(&out, sizeof host);
    use<<<1, 1>>>(out);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 11; i++)
        printf(i < 10 ? "%d " : "%d\n", host[i]);
    return both(0) == 1000 && min(3, 4) == 3 ? 0 : 1;
}
