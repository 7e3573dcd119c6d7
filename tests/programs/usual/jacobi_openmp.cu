// SPDX-License-Identifier: MIT
// Jacobi, one OpenMP thread a GPU; barriers between the sweeps. nvcc -Xcompiler -fopenmp
#include <omp.h>

#include "jacobi.h"

__global__ void sweep(float *out, const float *in, int rows)
{
    int y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    int x = blockIdx.x * blockDim.x + threadIdx.x + 1;
    if (y <= rows && x < NX - 1)
        out[y * NX + x] = 0.25f * (in[y * NX + x + 1] + in[y * NX + x - 1] + in[(y + 1) * NX + x] +
                                   in[(y - 1) * NX + x]);
}

int main()
{
    int num = 0, threads = 0;
    CUDA_RT_CALL(cudaGetDeviceCount(&num));
    std::vector<float> host(NX * NY);
    std::vector<float *> a(num), b(num);
    std::vector<int> rows(num);
    for (int y = 0; y < NY; y++)
        for (int x = 0; x < NX; x++)
            host[y * NX + x] = initial(y, x);
    const std::vector<float> start = host;
#pragma omp parallel num_threads(num) shared(a, b, rows, host, threads)
    {
        const int d = omp_get_thread_num();
        int first;
#pragma omp atomic
        threads++;
        CUDA_RT_CALL(cudaSetDevice(d));
        rows_of(d, num, &first, &rows[d]);
        const size_t bytes = sizeof(float) * NX * (rows[d] + 2);
        CUDA_RT_CALL(cudaMalloc((void **)&a[d], bytes));
        CUDA_RT_CALL(cudaMalloc((void **)&b[d], bytes));
        CUDA_RT_CALL(cudaMemcpy(a[d], &start[(first - 1) * NX], bytes, cudaMemcpyHostToDevice));
        CUDA_RT_CALL(cudaMemcpy(b[d], &start[(first - 1) * NX], bytes, cudaMemcpyHostToDevice));
        cudaStream_t stream;
        CUDA_RT_CALL(cudaStreamCreate(&stream));
#pragma omp barrier
        for (int it = 0; it < ITERATIONS; it++) {
            dim3 block(16, 16), grid((NX + 15) / 16, (rows[d] + 15) / 16);
            sweep<<<grid, block, 0, stream>>>(b[d], a[d], rows[d]);
            CUDA_RT_CALL(cudaGetLastError());
            CUDA_RT_CALL(cudaStreamSynchronize(stream));
#pragma omp barrier
            if (d > 0)
                CUDA_RT_CALL(cudaMemcpyPeerAsync(b[d - 1] + (rows[d - 1] + 1) * NX, d - 1,
                                                 b[d] + NX, d, NX * sizeof(float), stream));
            if (d + 1 < num)
                CUDA_RT_CALL(cudaMemcpyPeerAsync(b[d + 1], d + 1, b[d] + rows[d] * NX, d,
                                                 NX * sizeof(float), stream));
            CUDA_RT_CALL(cudaStreamSynchronize(stream));
#pragma omp barrier
            std::swap(a[d], b[d]);
#pragma omp barrier
        }
        CUDA_RT_CALL(cudaMemcpy(&host[first * NX], a[d] + NX, sizeof(float) * NX * rows[d],
                                cudaMemcpyDeviceToHost));
        CUDA_RT_CALL(cudaStreamDestroy(stream));
        CUDA_RT_CALL(cudaFree(a[d]));
        CUDA_RT_CALL(cudaFree(b[d]));
    }
    std::printf("%d threads\n", threads);
    return threads == num ? compare(host) : EXIT_FAILURE;
}
