// Host code assigns to a __device__ variable: a warning of nvcc's.
__device__ int count;
__global__ void k()
{
    atomicAdd(&count, 1);
}
int main()
{
    count = 0;
    k<<<1, 1>>>();
}
