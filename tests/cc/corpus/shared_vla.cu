// Shared memory whose size is a parameter.
__global__ void k(int *p, int n)
{
    __shared__ int tile[n];
    tile[threadIdx.x] = 1;
    *p = tile[0];
}
int main()
{
    k<<<1, 32>>>(nullptr, 32);
}
