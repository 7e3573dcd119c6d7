/* SPDX-License-Identifier: MIT
 * limit.cu: touches so many MiB of each of two buffers of GPU 0, by fill, kernel or copy, and
 * prints the code of the wait behind it. pinned, managed: allocates two such buffers of host memory
 * and prints the second one's code.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void write_all(char *p, size_t bytes)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < bytes)
        p[i] = 1;
}

static int host(bool managed, size_t bytes)
{
    void *a, *b;
    cudaError_t error = cudaSuccess;
    for (void **p : {&a, &b})
        error = managed ? cudaMallocManaged(p, bytes) : cudaMallocHost(p, bytes);
    std::printf("%d\n", (int)error);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    size_t bytes = (size_t)atoll(argv[2]) << 20;
    if (strcmp(argv[1], "pinned") == 0 || strcmp(argv[1], "managed") == 0)
        return host(argv[1][0] == 'm', bytes);
    char *a, *b;
    if (cudaMalloc(&a, bytes) != cudaSuccess || cudaMalloc(&b, bytes) != cudaSuccess)
        return 2;
    if (strcmp(argv[1], "none") != 0)
        cudaMemset(a, 0, bytes);
    if (strcmp(argv[1], "fill") == 0)
        cudaMemset(b, 0, bytes);
    else if (strcmp(argv[1], "kernel") == 0)
        write_all<<<(unsigned)(bytes / 256), 256>>>(b, bytes);
    else if (strcmp(argv[1], "copy") == 0)
        cudaMemcpyAsync(b, a, bytes, cudaMemcpyDeviceToDevice, 0);
    std::printf("%d\n", (int)cudaDeviceSynchronize());
}
