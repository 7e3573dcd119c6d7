// A __device__ variable and a counter.
__device__ int count;
__global__ void k()
{
    atomicAdd(&count, 1);
}
int main()
{
    int n = 0;
    k<<<2, 32>>>();
    cudaMemcpyFromSymbol(&n, count, sizeof n);
    return n != 64;
}
