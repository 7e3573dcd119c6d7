/* SPDX-License-Identifier: MIT
 * last_error.cu: what cudaGetLastError says when there are no devices. Run with
 * CUDA_VISIBLE_DEVICES set to "" and to "0,0". Recorded as visible_*_last.txt.
 */
#include <cuda_runtime.h>
#include <stdio.h>

static void say(const char *what, cudaError_t e)
{
    printf("    %-90s -> %d %s\n", what, (int)e, cudaGetErrorName(e));
}

#define R(call) say(#call, (call))

int main(int argc, char **argv)
{
    int n = -1;
    if (argc > 1) { /* before anything else */
        R(cudaPeekAtLastError());
        R(cudaGetLastError());
    }
    (void)argv;
    R(cudaGetDeviceCount(&n));
    R(cudaPeekAtLastError());
    R(cudaGetLastError());
    R(cudaGetLastError());
    R(cudaPeekAtLastError());
    R(cudaSetDevice(0));
    R(cudaGetLastError());
    R(cudaGetLastError());
    return 0;
}
