// SPDX-License-Identifier: MIT
// Bandwidth and latency matrices of all pairs of GPUs, with and without peer access, by events.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t status_ = (call);                                                              \
        if (status_ != cudaSuccess) {                                                              \
            std::fprintf(stderr, "CUDA error %s in %s at line %d\n", cudaGetErrorName(status_),    \
                         #call, __LINE__);                                                         \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

static const int elements = 1 << 18;

__global__ void fill(int *data, int n, int seed)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        data[i] = seed + i;
}

static void set_peers(int gpus, bool on)
{
    for (int i = 0; i < gpus; i++) {
        CHECK(cudaSetDevice(i));
        for (int j = 0; j < gpus; j++) {
            int can = 0;
            if (i == j)
                continue;
            CHECK(cudaDeviceCanAccessPeer(&can, i, j));
            if (!can)
                continue;
            if (on)
                CHECK(cudaDeviceEnablePeerAccess(j, 0));
            else
                CHECK(cudaDeviceDisablePeerAccess(j));
        }
    }
}

static float copy_time(int to, int from, int *const *buffer, int n, int repeat, cudaStream_t stream)
{
    cudaEvent_t start, stop;
    float ms = 0;
    CHECK(cudaSetDevice(from));
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    CHECK(cudaEventRecord(start, stream));
    for (int r = 0; r < repeat; r++)
        CHECK(cudaMemcpyPeerAsync(buffer[to], to, buffer[from], from, sizeof(int) * n, stream));
    CHECK(cudaEventRecord(stop, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    return ms / repeat;
}

static int matrix(int gpus, int *const *buffer, const std::vector<cudaStream_t> &stream)
{
    int wrong = 0;
    std::vector<int> host(elements);
    std::printf("   D\\D");
    for (int j = 0; j < gpus; j++)
        std::printf("%10d", j);
    std::printf("   (GB/s; us for 4 bytes)\n");
    for (int i = 0; i < gpus; i++) {
        std::printf("%6d", i);
        for (int j = 0; j < gpus; j++) {
            if (i == j) {
                std::printf("%14s", "-");
                continue;
            }
            CHECK(cudaSetDevice(i));
            fill<<<64, 256, 0, stream[i]>>>(buffer[i], elements, 7 * i + j);
            CHECK(cudaGetLastError());
            float big = copy_time(j, i, buffer, elements, 3, stream[i]);
            float small = copy_time(j, i, buffer, 1, 10, stream[i]);
            std::printf("%8.2f/%5.1f", sizeof(int) * elements / (big * 1e6), small * 1e3);
            CHECK(cudaSetDevice(j));
            CHECK(
                cudaMemcpy(host.data(), buffer[j], sizeof(int) * elements, cudaMemcpyDeviceToHost));
            for (int k = 0; k < elements; k++)
                wrong += host[k] != 7 * i + j + k;
            wrong += !(big > small && small > 0);
        }
        std::printf("\n");
    }
    return wrong;
}

int main()
{
    int gpus = 0, wrong = 0;
    CHECK(cudaGetDeviceCount(&gpus));
    std::vector<int *> buffer(gpus);
    std::vector<cudaStream_t> stream(gpus);
    for (int d = 0; d < gpus; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaMalloc(&buffer[d], sizeof(int) * elements));
        CHECK(cudaStreamCreateWithFlags(&stream[d], cudaStreamNonBlocking));
    }
    std::printf("P2P=Disabled\n");
    wrong += matrix(gpus, buffer.data(), stream);
    set_peers(gpus, true);
    std::printf("P2P=Enabled\n");
    wrong += matrix(gpus, buffer.data(), stream);
    set_peers(gpus, false);
    for (int d = 0; d < gpus; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaStreamDestroy(stream[d]));
        CHECK(cudaFree(buffer[d]));
    }
    std::printf("%s\n", wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
