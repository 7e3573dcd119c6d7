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
    return plain(n); //!12 no matching function for call to 'plain'
}

__global__ void k(int *out)
{
    s object;
    out[0] = through(1);
    out[1] = small_and_static(); //!14 no matching function for call to 'small_and_static'
    out[2] = generic(3); //!14 no matching function for call to 'generic'
    out[3] = object.member(); //!21 reference to __host__ function 'member' in __global__ function
    out[4] = a::in_namespace(); //!17 reference to __host__ function 'in_namespace'
    out[5] = defined_elsewhere(6); //!14 no matching function for call to 'defined_elsewhere'
    out[6] = device_elsewhere(7);
    out[7] = std::rand(); //!19 reference to __host__ function 'rand'
    cudaDeviceSynchronize(); //!5 no matching function for call to 'cudaDeviceSynchronize'
    puts("x"); //!5 no matching function for call to 'puts'
}

int main()
{
    k<<<1, 1>>>(nullptr);
    return plain(1) + generic(2) + small_and_static() + s().member() + a::in_namespace();
}
