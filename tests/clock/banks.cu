/* SPDX-License-Identifier: MIT
 * banks.cu: how long accesses to shared memory take whose lanes lie `stride` words apart: what
 * tests/recorded/probes/banks.cu asked a real GPU, with fewer rounds. banks load|store|atomicAdd
 * STRIDE BLOCKS; how long it took is in the trace.
 */
#include <cuda_runtime.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 1024, ROUNDS = 16 };
enum mode { LOAD, STORE, ADD, MODES };
static const char *const names[MODES] = {"load", "store", "atomicAdd"};

__global__ void use(int stride, int mode, int *sink)
{
    __shared__ int words[1088];
    for (int i = threadIdx.x; i < 1088; i += blockDim.x)
        words[i] = i;
    __syncthreads();
    int sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
        int *mine = &words[(threadIdx.x % 32 * stride + round) % 1024];
        if (mode == LOAD)
            sum += *mine;
        else if (mode == STORE)
            *mine = round;
        else
            atomicAdd(mine, 1);
    }
    sink[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

int main(int argc, char **argv)
{
    int mode = 0, *sink;
    if (argc != 4)
        return 2;
    while (mode < MODES && strcmp(argv[1], names[mode]) != 0)
        mode++;
    int stride = atoi(argv[2]), blocks = atoi(argv[3]);
    cudaMalloc((void **)&sink, (size_t)blocks * THREADS * sizeof *sink);
    use<<<blocks, THREADS>>>(stride, mode, sink);
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
