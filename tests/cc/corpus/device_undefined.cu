// A __device__ function that is declared only, without -rdc.
__device__ int elsewhere(int);
__global__ void k(int *p)
{
    *p = elsewhere(*p);
}
int main()
{
    k<<<1, 1>>>(nullptr);
}
