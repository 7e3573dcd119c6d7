// SPDX-License-Identifier: MIT
// Vector addition in managed memory: the host writes, every GPU adds its part, the host reads.
#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(x)                                                                                   \
    do {                                                                                           \
        cudaError_t err = (x);                                                                     \
        if (err != cudaSuccess) {                                                                  \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(err));           \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

__global__ void add(int first, int n, const float *x, float *y)
{
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    int stride = blockDim.x * gridDim.x;
    for (int i = first + index; i < first + n; i += stride)
        y[i] = x[i] + y[i];
}

int main(void)
{
    const int N = 1 << 16;
    int gpus;
    float *x, *y, error = 0.0f;
    CHECK(cudaGetDeviceCount(&gpus));
    CHECK(cudaMallocManaged(&x, N * sizeof(float)));
    CHECK(cudaMallocManaged(&y, N * sizeof(float)));
    for (int i = 0; i < N; i++) {
        x[i] = 1.0f;
        y[i] = 2.0f;
    }
    for (int d = 0; d < gpus; d++) {
        CHECK(cudaSetDevice(d));
        add<<<16, 256>>>(d * (N / gpus), N / gpus, x, y);
        CHECK(cudaGetLastError());
    }
    for (int d = 0; d < gpus; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaDeviceSynchronize());
    }
    for (int i = 0; i < N; i++)
        error = fmaxf(error, fabsf(y[i] - 3.0f));
    printf("Max error: %f\n%s\n", error, error == 0.0f ? "PASS" : "FAIL");
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
    return error != 0.0f;
}
