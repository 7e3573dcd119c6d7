// A __device__ function that is used calls a host function.
int square(int x)
{
    return x * x;
}
__device__ int twice(int x)
{
    return 2 * square(x);
}
__global__ void k(int *p)
{
    *p = twice(*p);
}
int main()
{
    k<<<1, 1>>>(nullptr);
}
