// Managed memory, as a variable and allocated.
__managed__ int n = 1;
__global__ void k(int *p)
{
    *p = n++;
}
int main()
{
    int *p;
    cudaMallocManaged(&p, sizeof *p);
    k<<<1, 1>>>(p);
    cudaDeviceSynchronize();
    return *p - 1 + n - 2;
}
