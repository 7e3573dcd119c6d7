// __constant__ inside of a kernel.
__global__ void k(int *p)
{
    __constant__ int n = 3;
    *p = n;
}
int main()
{
    k<<<1, 1>>>(nullptr);
}
