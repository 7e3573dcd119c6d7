// SPDX-License-Identifier: MIT
// What a kernel may return and take.
template <class T> struct holder {
    T &inside;
};
struct too_big {
    char bytes[5000];
};
struct not_copyable {
    __host__ __device__ not_copyable(const not_copyable &) {}
};

__global__ int returns(int *out) { return *out; } //!16 kernel 'returns' must return void
__global__ void reference(int &out) { out = 1; }  //!31 kernel 'reference' has a parameter that is a reference
__host__ __global__ void both(int n) {}           //!26 kernel 'both' is also __device__ or __host__
