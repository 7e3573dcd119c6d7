// dim3 is no number.
__global__ void k(int *p)
{
    *p = blockIdx * blockDim + threadIdx;
}
int main()
{
    k<<<1, 1>>>(nullptr);
}
