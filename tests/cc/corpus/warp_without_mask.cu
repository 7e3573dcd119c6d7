// __shfl_down without a mask, as before CUDA 9.
__global__ void k(int *p)
{
    *p = __shfl_down(threadIdx.x, 1);
}
int main()
{
    k<<<1, 32>>>(nullptr);
}
