// SPDX-License-Identifier: MIT
// cold.cu: how long calls take the host, in microseconds: each first, and then once more.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <functional>
#include <vgpu_time.h>

static void check(cudaError_t error)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s\n", cudaGetErrorString(error));
    exit(1);
}

static void row(const char *name, const std::function<void()> &call)
{
    uint64_t begin = vgpu_time();
    call();
    printf("%s %.1f\n", name, static_cast<double>(vgpu_time() - begin) * 1e-6);
}

__global__ void nothing() {}

int main()
{
    void *own, *theirs, *pooled;
    row("context", [] { check(cudaSetDevice(1)); });
    row("context", [] { check(cudaSetDevice(0)); });
    row("peer", [] { check(cudaDeviceEnablePeerAccess(1, 0)); });
    check(cudaMalloc(&own, 4096));
    check(cudaSetDevice(1));
    check(cudaMalloc(&theirs, 4096));
    check(cudaSetDevice(0));
    for (int i = 0; i < 2; i++)
        row("launch", [] { nothing<<<1, 32>>>(); });
    for (int i = 0; i < 2; i++)
        row("pair", [&] { check(cudaMemcpyAsync(theirs, own, 64, cudaMemcpyDefault, 0)); });
    for (int i = 0; i < 2; i++)
        row("pool", [&] { check(cudaMallocAsync(&pooled, 4096, 0)); });
    check(cudaDeviceSynchronize());
    return 0;
}
