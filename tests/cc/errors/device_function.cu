// SPDX-License-Identifier: MIT
// Device functions called from host code.
struct s {
    __device__ int get() const { return 1; }
};
static __device__ __forceinline__ float scale(float x) { return 2 * x; }
template <class T> __device__ T generic(T x) { return x; }

__global__ void k(float *out)
{
    *out = scale(1) + generic(2);
}

float host()
{
    s object;
    float sum = scale(3); //!17 no matching function for call to 'scale'
    sum += generic(4); //!12 no matching function for call to 'generic'
    return sum + object.get(); //!25 reference to __device__ function 'get' in __host__ function
}
