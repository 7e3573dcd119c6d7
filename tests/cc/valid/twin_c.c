/* SPDX-License-Identifier: MIT */
#include <cuda_runtime.h>

int run_c(void)
{
    int class = 0; /* a name that C++ does not allow */

    return cudaGetDeviceCount(&class) == cudaSuccess ? 2 : 0;
}
