// SPDX-License-Identifier: MIT
// A ring of GPUs, one std::thread each, barriers by condition variable, lambdas on the host.
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

#include <cuda_runtime.h>

#define CUDA(call)                                                                                 \
    do {                                                                                           \
        cudaError_t e = (call);                                                                    \
        if (e != cudaSuccess) {                                                                    \
            fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(e));              \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

class Barrier
{
  public:
    explicit Barrier(int count) : count_(count) {}
    void wait()
    {
        std::unique_lock<std::mutex> lock(mutex_);
        const int round = round_;
        if (++waiting_ == count_) {
            waiting_ = 0;
            round_++;
            all_.notify_all();
        } else {
            all_.wait(lock, [&] { return round != round_; });
        }
    }

  private:
    std::mutex mutex_;
    std::condition_variable all_;
    int count_, waiting_ = 0, round_ = 0;
};

__constant__ int stride;
__device__ unsigned int launches;

__global__ void add_rank(int *data, int n, int rank)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] += rank * stride;
    if (i == 0)
        atomicAdd(&launches, 1u);
}

int main()
{
    constexpr int N = 1000;
    int gpus = 0;
    CUDA(cudaGetDeviceCount(&gpus));
    std::vector<int *> now(gpus), next(gpus);
    std::vector<int> right(gpus);
    Barrier barrier(gpus);
    auto rank = [&](int r) {
        const int by = 3;
        unsigned int counted = 0;
        std::vector<int> host(N);
        CUDA(cudaSetDevice(r));
        CUDA(cudaMemcpyToSymbol(stride, &by, sizeof by));
        CUDA(cudaMalloc(&now[r], N * sizeof(int)));
        CUDA(cudaMalloc(&next[r], N * sizeof(int)));
        CUDA(cudaMemset(now[r], 0, N * sizeof(int)));
        cudaStream_t stream;
        CUDA(cudaStreamCreate(&stream));
        barrier.wait();
        for (int step = 0; step < gpus; step++) {
            add_rank<<<(N + 127) / 128, 128, 0, stream>>>(now[r], N, r + 1);
            CUDA(cudaGetLastError());
            CUDA(cudaStreamSynchronize(stream));
            barrier.wait();
            const int to = (r + 1) % gpus;
            CUDA(cudaMemcpyPeerAsync(next[to], to, now[r], r, N * sizeof(int), stream));
            CUDA(cudaStreamSynchronize(stream));
            barrier.wait();
            std::swap(now[r], next[r]);
            barrier.wait();
        }
        CUDA(cudaMemcpy(host.data(), now[r], N * sizeof(int), cudaMemcpyDeviceToHost));
        CUDA(cudaMemcpyFromSymbol(&counted, launches, sizeof counted));
        const int want = 3 * gpus * (gpus + 1) / 2;
        right[r] = counted == (unsigned int)gpus;
        for (int value : host)
            right[r] &= value == want;
        CUDA(cudaStreamDestroy(stream));
        CUDA(cudaDeviceReset());
    };
    std::vector<std::thread> threads;
    for (int r = 0; r < gpus; r++)
        threads.emplace_back(rank, r);
    for (auto &t : threads)
        t.join();
    int all = 1;
    for (int r : right)
        all &= r;
    printf("%s\n", all ? "PASS" : "FAIL");
    return !all;
}
