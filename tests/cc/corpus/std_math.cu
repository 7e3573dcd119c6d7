// Functions of <cmath> in a kernel, with and without std.
#include <cmath>
__global__ void k(float *p, double *q)
{
    *p = std::sqrt(*p) + sinf(*p), *q = pow(*q, 2) + fabs(*q);
}
int main()
{
    k<<<1, 1>>>(nullptr, nullptr);
}
