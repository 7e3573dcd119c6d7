// A __host__ __device__ function, used by host code only, calls a host function.
int square(int x)
{
    return x * x;
}
__host__ __device__ int twice(int x)
{
    return 2 * square(x);
}
int main()
{
    return twice(0);
}
