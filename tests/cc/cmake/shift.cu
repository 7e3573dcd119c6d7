// SPDX-License-Identifier: MIT
#include "parts.h"
__device__ int shifted(int x)
{
    return x + 1;
}
