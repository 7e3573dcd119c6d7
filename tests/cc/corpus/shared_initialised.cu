// __shared__ with a first value.
__global__ void k(int *p)
{
    __shared__ int n = 0;
    n += threadIdx.x;
    *p = n;
}
int main()
{
    k<<<1, 32>>>(nullptr);
}
