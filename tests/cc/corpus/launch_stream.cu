// Dynamic shared memory and a stream.
__global__ void k(float *p)
{
    extern __shared__ float tile[];
    tile[threadIdx.x] = p[threadIdx.x];
    __syncthreads();
    p[threadIdx.x] = tile[31 - threadIdx.x];
}
int main()
{
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    k<<<dim3(1, 1, 1), 32, 32 * sizeof(float), stream>>>(nullptr);
    return cudaStreamDestroy(stream);
}
