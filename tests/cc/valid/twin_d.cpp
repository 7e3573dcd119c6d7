// SPDX-License-Identifier: MIT
#include <cuda_runtime.h>

int run_d()
{
    dim3 grid(2);

    return (int)grid.x;
}
