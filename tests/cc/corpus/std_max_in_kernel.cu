// std::max, a constexpr function of the host, in a kernel.
#include <algorithm>
__global__ void k(int *p)
{
    *p = std::max(*p, 3);
}
int main()
{
    k<<<1, 1>>>(nullptr);
}
