// SPDX-License-Identifier: MIT
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <string.h>
int main(void)
{
    char text[16] = "", name[64] = "";
    void *p;
    CUdevice device;
    if (cudaMalloc(&p, sizeof text) || cudaMemcpy(p, "from a C file", 14, cudaMemcpyDefault) ||
        cudaMemcpy(text, p, 14, cudaMemcpyDefault) || cudaFree(p))
        return 1;
    if (cuInit(0) || cuDeviceGet(&device, 0) || cuDeviceGetName(name, sizeof name, device))
        return 2;
    printf("%s: %s\n", name, text);
    return strcmp(text, "from a C file") != 0;
}
