// SPDX-License-Identifier: MIT
// Host functions called from device code.
#include <cstdio>
#include <cstdlib>
#include <string>

int plain(int n) { return n + 1; }
static inline int small_and_static() { return 2; }
template <class T> T generic(T n) { return n; }
int defined_elsewhere(int);
__device__ int device_elsewhere(int);
struct s {
    int member() const { return 4; }
};
namespace a {
int in_namespace() { return 5; }
}

__device__ int through(int n)
{
    return plain(n); //!12 host function 'plain' is called from device code; mark it __device__ (or __host__ __device__ if the host calls it too)
}

__global__ void k(int *out)
{
    s object;
    out[0] = through(1);
    out[1] = small_and_static();  //!14 host function 'small_and_static' is called from device code
    out[2] = generic(3);          //!14 host function 'generic' is called from device code
    out[3] = object.member();     //!21 host function 's::member' is called from device code
    out[4] = a::in_namespace();   //!17 host function 'a::in_namespace' is called from device code
    out[5] = defined_elsewhere(6); //!14 host function 'defined_elsewhere' is called from device code
    out[6] = device_elsewhere(7);  //!14 __device__ function 'device_elsewhere' is declared but not defined in this file
    out[7] = std::rand();          //!19 host function 'rand' is called from device code
    cudaDeviceSynchronize();       //!5 host function 'cudaDeviceSynchronize' is called from device code
    int *more = new int[(long)out];  //!17 operator new[] is called in device code
    more[0] = (int)(size_t)malloc(8); //!28 malloc is called in device code
    out[8] = (int)(size_t)more;
    puts("x");                        //!5 host function 'puts' is called from device code
}

int main()
{
    k<<<1, 1>>>(nullptr);
    return plain(1) + generic(2) + small_and_static() + s().member() + a::in_namespace();
}
