// printf without a header, in a kernel.
__global__ void k()
{
    printf("%d\n", threadIdx.x);
}
int main()
{
    k<<<1, 1>>>();
}
