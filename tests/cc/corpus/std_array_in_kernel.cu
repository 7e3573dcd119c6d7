// std::array is indexed in a kernel.
#include <array>
__global__ void k(int *p, std::array<int, 3> a)
{
    *p = a[threadIdx.x];
}
int main()
{
    k<<<1, 1>>>(nullptr, {1, 2, 3});
}
