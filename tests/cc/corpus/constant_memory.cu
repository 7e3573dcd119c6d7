// Constant memory, filled by the host.
__constant__ float weight[3];
__constant__ int known = 4;
__global__ void k(float *p)
{
    *p = weight[1] + known;
}
int main()
{
    float w[3] = {1, 2, 3};
    cudaMemcpyToSymbol(weight, w, sizeof w);
    k<<<1, 1>>>(nullptr);
}
