// The first kernel of every course.
#include <cstdio>
__global__ void saxpy(int n, float a, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}
int main()
{
    float *x, *y;
    cudaMalloc(&x, 400);
    cudaMalloc(&y, 400);
    saxpy<<<(100 + 255) / 256, 256>>>(100, 2.0f, x, y);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
