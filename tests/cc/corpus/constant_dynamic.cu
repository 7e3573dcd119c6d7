// A __constant__ variable whose first value is computed when the program runs.
#include <cstdlib>
__constant__ int n = rand();
__global__ void k(int *p)
{
    *p = n;
}
int main()
{
    k<<<1, 1>>>(nullptr);
}
