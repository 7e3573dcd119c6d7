// SPDX-License-Identifier: MIT
// Device functions called from host code.
// only: gcc
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
    float sum = scale(3); //!22 call to 'scale' declared with attribute error: it is a __device__ function, which only device code can call
    sum += generic(4);    //!19 call to 'generic<int>' declared with attribute error
    return sum + object.get(); //!28 call to 's::get' declared with attribute error
}
