// __CUDA_ARCH__ in the body of a function for both.
__host__ __device__ int where()
{
#ifdef __CUDA_ARCH__
    return __CUDA_ARCH__;
#else
    return 0;
#endif
}
__global__ void k(int *p)
{
    *p = where();
}
int main()
{
    k<<<1, 1>>>(nullptr);
    return where();
}
