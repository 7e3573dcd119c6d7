// A function is __global__ and __device__.
__global__ __device__ void k(int *p)
{
    *p = 1;
}
int main()
{
    k<<<1, 1>>>(nullptr);
}
