/* SPDX-License-Identifier: MIT */
#include "lab91.h"

int gpu_relay(int bytes, int *gpus)
{
    char *from = NULL, *to = NULL, *host = NULL;
    *gpus = 0;
    if (cudaGetDeviceCount(gpus) != cudaSuccess || *gpus == 0)
        return LAB_ENOGPU;
    cudaMallocHost((void **)&host, (size_t)bytes);
    cudaMalloc((void **)&from, (size_t)bytes);
    cudaSetDevice(*gpus - 1);
    cudaMalloc((void **)&to, (size_t)bytes);
    cudaMemcpy(from, host, (size_t)bytes, cudaMemcpyHostToDevice);
    cudaMemcpyPeer(to, *gpus - 1, from, 0, (size_t)bytes);
    int rc = cudaDeviceSynchronize() == cudaSuccess ? LAB_OK : LAB_ECUDA;
    cudaFree(to);
    cudaFree(from);
    cudaFreeHost(host);
    return rc;
}
