// Host code calls a __device__ function.
__device__ int square(int x)
{
    return x * x;
}
int main()
{
    return square(0);
}
