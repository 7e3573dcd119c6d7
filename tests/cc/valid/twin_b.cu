// SPDX-License-Identifier: MIT
static __device__ int value = 2;
static __device__ int get() { return value; }
static __global__ void kernel(int *out) { *out = get(); }
template <typename T> __global__ void shared_template(T *out) { *out = 3; }

extern "C" int run_b(int *out)
{
    int host = 0;

    shared_template<<<1, 1>>>(out);
    kernel<<<1, 1>>>(out);
    cudaMemcpy(&host, out, 4, cudaMemcpyDeviceToHost);
    return host;
}
