// std::cout inside of a kernel.
#include <iostream>
__global__ void k()
{
    std::cout << threadIdx.x;
}
int main()
{
    k<<<1, 1>>>();
}
