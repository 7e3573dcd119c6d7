// A std::vector inside of a kernel.
#include <vector>
__global__ void k(int *p)
{
    std::vector<int> v(3);
    *p = v[0];
}
int main()
{
    k<<<1, 1>>>(nullptr);
}
