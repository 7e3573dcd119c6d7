// SPDX-License-Identifier: MIT
// touch.cu: one operation on each GPU, so that a trace of any node has its links.
#include <cuda_runtime.h>

int main()
{
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess)
        return 0; // a node without GPUs
    for (int d = 0; d < count; d++) {
        void *p = nullptr;
        if (cudaSetDevice(d) != cudaSuccess || cudaMalloc(&p, 4096) != cudaSuccess ||
            cudaMemset(p, 0, 4096) != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess)
            return 1;
    }
    return 0;
}
