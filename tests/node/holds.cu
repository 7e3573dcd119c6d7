// SPDX-License-Identifier: MIT
// holds.cu: allocates 64 MiB on GPU 1 and keeps them until its input ends, for test_smi.py.
#include <cstdio>

int main()
{
    void *at = nullptr;
    if (cudaSetDevice(1) != cudaSuccess || cudaMalloc(&at, 64 << 20) != cudaSuccess)
        return 1;
    puts("ready");
    fflush(stdout);
    while (getchar() != EOF)
        continue;
    return cudaFree(at) == cudaSuccess ? 0 : 1;
}
