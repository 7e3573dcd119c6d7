// SPDX-License-Identifier: MIT
// shared_config.cu: what the deprecated calls for the banks of shared memory answer.
#include <cstdio>

#include <cuda_runtime.h>

static __global__ void kernel() {}

static void show(const char *call, int value, cudaError_t error)
{
    cudaSharedMemConfig config = (cudaSharedMemConfig)-1;
    cudaError_t asked = cudaDeviceGetSharedMemConfig(&config);
    printf("%s %d: %s; then get: %s, %d; last: %s\n", call, value, cudaGetErrorName(error),
           cudaGetErrorName(asked), (int)config, cudaGetErrorName(cudaGetLastError()));
}

int main()
{
    show("nothing", 0, cudaSuccess);
    for (int value = -1; value <= 3; value++)
        show("device", value, cudaDeviceSetSharedMemConfig((cudaSharedMemConfig)value));
    for (int value = -1; value <= 3; value++)
        show("function", value, cudaFuncSetSharedMemConfig(kernel, (cudaSharedMemConfig)value));
    show("no function", 0,
         cudaFuncSetSharedMemConfig((const void *)nullptr, cudaSharedMemBankSizeDefault));
    show("a variable", 0,
         cudaFuncSetSharedMemConfig((const void *)&stdout, cudaSharedMemBankSizeDefault));
    printf("get of null: %s\n", cudaGetErrorName(cudaDeviceGetSharedMemConfig(nullptr)));
    return 0;
}
