// SPDX-License-Identifier: MIT
// transpose.cu: a matrix larger than a GPU's share of it: every GPU transposes tiles of its rows in
// shared memory and sends each block to the GPU that has these columns, by 2D copies.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cuda_runtime.h>

#define N 256
#define TILE 32
#define ROWS 8
#define MAX_GPUS 16

#define checkCuda(call)                                                                            \
    do {                                                                                           \
        cudaError_t err_ = (call);                                                                 \
        if (cudaSuccess != err_) {                                                                 \
            fprintf(stderr, "CUDA error %d (%s) at %s:%d\n", (int)err_, cudaGetErrorName(err_),    \
                    __FILE__, __LINE__);                                                           \
            exit(-1);                                                                              \
        }                                                                                          \
    } while (0)

__global__ void transpose(float *out, size_t outPitch, const float *in, size_t inPitch)
{
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;

    for (int j = 0; j < TILE; j += ROWS)
        tile[threadIdx.y + j][threadIdx.x] =
            *(const float *)((const char *)in + (y + j) * inPitch + x * sizeof(float));
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        *(float *)((char *)out + (y + j) * outPitch + x * sizeof(float)) =
            tile[threadIdx.x][threadIdx.y + j];
}

int main(int argc, char **argv)
{
    int gpus, wrong = 0;
    float *h, *got, *in[MAX_GPUS], *turned[MAX_GPUS], *out[MAX_GPUS];
    size_t inPitch[MAX_GPUS], turnedPitch[MAX_GPUS], outPitch[MAX_GPUS];
    cudaStream_t stream[MAX_GPUS];
    cudaEvent_t start, stop;
    float ms;

    checkCuda(cudaGetDeviceCount(&gpus));
    const int rows = N / gpus;
    checkCuda(cudaMallocHost((void **)&h, N * N * sizeof(float)));
    checkCuda(cudaHostAlloc((void **)&got, N * N * sizeof(float), cudaHostAllocPortable));
    for (int i = 0; i < N * N; i++)
        h[i] = (float)i;
    checkCuda(cudaEventCreate(&start));
    checkCuda(cudaEventCreate(&stop));
    for (int d = 0; d < gpus; d++) {
        checkCuda(cudaSetDevice(d));
        checkCuda(cudaStreamCreate(&stream[d]));
        checkCuda(cudaMallocPitch((void **)&in[d], &inPitch[d], N * sizeof(float), rows));
        checkCuda(cudaMallocPitch((void **)&turned[d], &turnedPitch[d], rows * sizeof(float), N));
        checkCuda(cudaMallocPitch((void **)&out[d], &outPitch[d], N * sizeof(float), rows));
        checkCuda(cudaMemset2DAsync(out[d], outPitch[d], 0xff, N * sizeof(float), rows, stream[d]));
        checkCuda(cudaMemcpy2DAsync(in[d], inPitch[d], h + d * rows * N, N * sizeof(float),
                                    N * sizeof(float), rows, cudaMemcpyHostToDevice, stream[d]));
    }
    for (int d = 0; d < gpus; d++)
        checkCuda(cudaStreamSynchronize(stream[d]));
    checkCuda(cudaSetDevice(0));
    checkCuda(cudaEventRecord(start, stream[0]));
    for (int d = 0; d < gpus; d++) {
        dim3 gridDim(N / TILE, rows / TILE), blockDim(TILE, ROWS);
        checkCuda(cudaSetDevice(d));
        transpose<<<gridDim, blockDim, 0, stream[d]>>>(turned[d], turnedPitch[d], in[d],
                                                       inPitch[d]);
        checkCuda(cudaGetLastError());
        for (int to = 0; to < gpus; to++)
            checkCuda(cudaMemcpy2DAsync(
                out[to] + d * rows, outPitch[to], (char *)turned[d] + to * rows * turnedPitch[d],
                turnedPitch[d], rows * sizeof(float), rows, cudaMemcpyDefault, stream[d]));
    }
    for (int d = 0; d < gpus; d++)
        checkCuda(cudaStreamSynchronize(stream[d]));
    checkCuda(cudaSetDevice(0));
    checkCuda(cudaEventRecord(stop, stream[0]));
    checkCuda(cudaEventSynchronize(stop));
    checkCuda(cudaEventElapsedTime(&ms, start, stop));
    for (int d = 0; d < gpus; d++)
        checkCuda(cudaMemcpy2D(got + d * rows * N, N * sizeof(float), out[d], outPitch[d],
                               N * sizeof(float), rows, cudaMemcpyDeviceToHost));
    for (int y = 0; y < N; y++)
        for (int x = 0; x < N; x++)
            wrong += got[y * N + x] != h[x * N + y];
    for (int d = 0; d < gpus; d++) {
        checkCuda(cudaFree(in[d]));
        checkCuda(cudaFree(turned[d]));
        checkCuda(cudaFree(out[d]));
        checkCuda(cudaStreamDestroy(stream[d]));
    }
    checkCuda(cudaFreeHost(h));
    checkCuda(cudaFreeHost(got));
    printf("%s: %d x %d on %d GPU(s), %d wrong, %.3f ms\n", argc > 0 ? argv[0] : "", N, N, gpus,
           wrong, ms);
    printf("Result = %s\n", wrong == 0 && ms > 0 ? "PASS" : "FAIL");
    return wrong != 0;
}
