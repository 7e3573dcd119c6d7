// More static shared memory than 48 KiB.
__global__ void k(int *p)
{
    __shared__ int tile[16 * 1024];
    tile[threadIdx.x] = 1;
    __syncthreads();
    *p = tile[threadIdx.x + 1];
}
int main()
{
    k<<<1, 32>>>(nullptr);
}
