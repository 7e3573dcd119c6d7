// std::max in a kernel, with the option that allows it.
// options: --expt-relaxed-constexpr
#include <algorithm>
__global__ void k(int *p)
{
    *p = std::max(*p, 3);
}
int main()
{
    k<<<1, 1>>>(nullptr);
}
