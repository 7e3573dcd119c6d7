// SPDX-License-Identifier: MIT
// free_host.cu: whether cudaFreeHost waits for copies that were queued before it, from the pinned
// memory that it frees (4 GiB in four copies), and from other memory.
//     nvcc -o free_host free_host.cu && ./free_host
#include <chrono>
#include <cstdio>
#include <cuda_runtime.h>

static double now(void)
{
    using namespace std::chrono;
    return duration<double, std::micro>(steady_clock::now().time_since_epoch()).count();
}

int main(void)
{
    size_t bytes = 1ull << 30;
    char *device, *host, *other;
    cudaStream_t stream;

    cudaMalloc(&device, bytes);
    cudaStreamCreate(&stream);
    for (int round = 0; round < 4; round++) {
        cudaHostAlloc(&host, bytes, 0);
        cudaHostAlloc(&other, 4096, 0);
        cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream);
        cudaStreamSynchronize(stream);
        double begin = now();
        for (int i = 0; i < 4; i++)
            cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream);
        double queued = now();
        int before = cudaStreamQuery(stream), freed = cudaFreeHost(round & 1 ? other : host);
        double done = now();
        int after = cudaStreamQuery(stream);
        cudaStreamSynchronize(stream);
        printf("%s: queue %.0f us, query before %d, cudaFreeHost %d after %.0f us, query after %d, "
               "synchronized after %.0f us more\n",
               round & 1 ? "another 4 KiB" : "the copied memory", queued - begin, before, freed,
               done - queued, after, now() - done);
        cudaFreeHost(round & 1 ? host : other);
    }
    return 0;
}
