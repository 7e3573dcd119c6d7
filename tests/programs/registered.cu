// SPDX-License-Identifier: MIT
// registered.cu: ordinary memory becomes pinned by cudaHostRegister, at its own address, and
// ordinary again: kernels and copies on every GPU use it, and nothing around it changes.
#include "check.h"
#include <string.h>

__global__ void add(int *values, int n, int what)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        values[i] += what;
}

static void expect(const int *values, int n, int offset, const char *when)
{
    for (int i = 0; i < n; i++)
        HOLDS(values[i] == i + offset, "%s: [%d] is %d, not %d", when, i, values[i], i + offset);
}

// Copies from and to registered memory are asynchronous ones of pinned memory.
static void copies(int *values, int n, int offset)
{
    int *device, *back = (int *)malloc(n * sizeof(int));
    cudaStream_t stream;
    MUST(cudaMalloc((void **)&device, n * sizeof(int)));
    MUST(cudaStreamCreate(&stream));
    MUST(cudaMemcpyAsync(device, values, n * sizeof(int), cudaMemcpyHostToDevice, stream));
    MUST(cudaMemsetAsync(values, 0, n * sizeof(int), stream));
    MUST(cudaMemcpyAsync(values + 1, device + 1, (n - 1) * sizeof(int), cudaMemcpyDefault, stream));
    MUST(cudaMemcpyAsync(values, device, sizeof(int), cudaMemcpyDeviceToHost, stream));
    MUST(cudaStreamSynchronize(stream));
    expect(values, n, offset, "after copies");
    MUST(cudaMemcpy(back, values, n * sizeof(int), cudaMemcpyHostToHost));
    expect(back, n, offset, "copied on the host");
    MUST(cudaStreamDestroy(stream));
    MUST(cudaFree(device));
    free(back);
}

static void questions(int *values)
{
    struct cudaPointerAttributes a;
    unsigned int flags;
    int *device;
    MUST(cudaPointerGetAttributes(&a, values + 5));
    HOLDS(a.type == cudaMemoryTypeHost && a.devicePointer == values + 5, "type %d", (int)a.type);
    MUST(cudaHostGetFlags(&flags, values));
    HOLDS(flags == cudaHostRegisterPortable, "flags %u", flags);
    MUST(cudaHostGetDevicePointer((void **)&device, values, 0));
    HOLDS(device == values, "another address");
    HOLDS(cudaHostRegister(values + 1, 8, 0) == cudaErrorHostMemoryAlreadyRegistered, "twice");
    HOLDS(cudaHostUnregister(values + 1) == cudaErrorInvalidValue, "in the middle");
    HOLDS(cudaFreeHost(values) == cudaErrorInvalidValue, "it is malloc's");
    cudaGetLastError();
}

static void one_size(int n, int gpus)
{
    int *all = (int *)malloc((n + 64) * sizeof(int)), *values = all + 32;
    for (int i = -32; i < n + 32; i++)
        values[i] = i;
    MUST(cudaHostRegister(values, n * sizeof(int), cudaHostRegisterPortable));
    expect(values - 32, n + 64, -32, "after registering");
    questions(values);
    for (int gpu = 0; gpu < gpus; gpu++) {
        MUST(cudaSetDevice(gpu));
        add<<<(n + 255) / 256, 256>>>(values, n, 1);
        MUST(cudaDeviceSynchronize());
        copies(values, n, gpu + 1);
    }
    MUST(cudaHostUnregister(values));
    expect(values, n, gpus, "after unregistering");
    for (int i = -32; i < 0; i++)
        HOLDS(values[i] == i && values[n + 32 + i] == n + 32 + i, "a neighbour at %d changed", i);
    free(all);
}

int main(int argc, char **argv)
{
    int gpus;
    MUST(cudaGetDeviceCount(&gpus));
    if (argc > 1 && strcmp(argv[1], "unregistered") == 0) {
        int *values = (int *)calloc(1 << 20, sizeof(int));
        MUST(cudaHostRegister(values, 4 << 20, 0));
        MUST(cudaHostUnregister(values));
        add<<<1, 32>>>(values, 32, 1);
        printf("%d\n", (int)cudaDeviceSynchronize());
        return 0;
    }
    int sizes[] = {7, 1000, 1 << 20};
    for (int i = 0; i < 3; i++)
        one_size(sizes[i], gpus);
    HOLDS(cudaHostRegister(NULL, 8, 0) == cudaErrorInvalidValue, "null");
    HOLDS(cudaHostRegister(sizes, 0, 0) == cudaErrorInvalidValue, "no bytes");
    HOLDS(cudaHostRegister((void *)0x1000, 4096, 0) == cudaErrorInvalidValue, "no memory there");
    printf("registered memory on %d GPUs: right\n", gpus);
    return 0;
}
