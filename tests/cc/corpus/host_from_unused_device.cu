// A __device__ function that is never used calls a host function.
int square(int x)
{
    return x * x;
}
__device__ int twice(int x)
{
    return 2 * square(x);
}
int main()
{
    return 0;
}
