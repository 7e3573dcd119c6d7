// SPDX-License-Identifier: MIT
#include <cuda_runtime.h>
int expected(int x)
{
    int count = 0;
    return cudaGetDeviceCount(&count) == cudaSuccess && count > 0 ? 3 * x + 1 : -1;
}
