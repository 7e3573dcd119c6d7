// Default arguments of a kernel and of a __device__ function.
__device__ int add(int a, int b = 2)
{
    return a + b;
}
__global__ void k(int *p, int n = 3)
{
    *p = add(n);
}
int main()
{
    k<<<1, 1>>>(nullptr);
    k<<<1, 1>>>(nullptr, 4);
}
