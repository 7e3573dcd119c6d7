/* SPDX-License-Identifier: MIT
 * limit.cu: touches so many MiB of each of two buffers of GPU 0, by fill, kernel or copy, and
 * prints the code of the wait behind it. read: copies so many MiB that nobody wrote to the host,
 * piece by piece. pinned, managed: allocates two such buffers of host memory and prints the second
 * one's code.
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

// What nobody wrote is poison, all of it.
static int read_all(const char *from, size_t bytes)
{
    const size_t piece = (4 << 20) + 1;
    char *to;
    if (cudaMallocHost(&to, piece) != cudaSuccess)
        return 2;
    for (size_t at = 0; at + piece <= bytes; at += piece) {
        memset(to, 0, piece);
        if (cudaError_t error = cudaMemcpy(to, from + at, piece, cudaMemcpyDeviceToHost))
            return (int)error;
        for (size_t i = 0; i < piece; i++)
            if ((unsigned char)to[i] != 0xcb)
                return -1;
    }
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
    if (strcmp(argv[1], "read") == 0) {
        std::printf("%d\n", read_all(a, bytes));
        return 0;
    }
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
