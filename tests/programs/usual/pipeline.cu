// SPDX-License-Identifier: MIT
// pipeline.cu: every GPU is a stage. Batches come from pinned memory, pass through all stages with
// two buffers a stage, and go back; events alone keep producers and consumers apart.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

static void ok(cudaError_t status, const char *file, int line)
{
    if (status != cudaSuccess)
        throw std::runtime_error(std::string(file) + ":" + std::to_string(line) + ": " +
                                 cudaGetErrorString(status));
}
#define OK(call) ok((call), __FILE__, __LINE__)

struct PinnedDelete {
    void operator()(int *p) const
    {
        cudaFreeHost(p);
    }
};
using Pinned = std::unique_ptr<int[], PinnedDelete>;

static Pinned pinned(size_t n)
{
    int *p = nullptr;
    OK(cudaHostAlloc(reinterpret_cast<void **>(&p), n * sizeof(int), cudaHostAllocDefault));
    return Pinned(p);
}

template <int UNROLL> __global__ void stage(int *data, int n, int number)
{
    for (int i = (blockIdx.x * blockDim.x + threadIdx.x) * UNROLL, end = i + UNROLL; i < end; ++i)
        if (i < n)
            data[i] = data[i] * 3 + number;
}

class Stage
{
  public:
    Stage(int device, int n) : device(device), n(n)
    {
        int low, high;
        OK(cudaSetDevice(device));
        OK(cudaDeviceGetStreamPriorityRange(&low, &high));
        OK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, high));
        for (int i = 0; i < 2; i++) {
            OK(cudaMalloc(reinterpret_cast<void **>(&buffer[i]), n * sizeof(int)));
            OK(cudaEventCreateWithFlags(&full[i], cudaEventDisableTiming));
        }
    }
    ~Stage()
    {
        cudaSetDevice(device);
        cudaStreamDestroy(stream);
        for (int i = 0; i < 2; i++) {
            cudaFree(buffer[i]);
            cudaEventDestroy(full[i]);
            if (empty[i])
                cudaEventDestroy(empty[i]);
        }
    }
    Stage(const Stage &) = delete;
    Stage &operator=(const Stage &) = delete;

    // Takes a batch from the host or from the stage before it.
    void take(int slot, const int *host, Stage *before)
    {
        OK(cudaSetDevice(device));
        if (empty[slot]) // not before the first batch
            OK(cudaStreamWaitEvent(stream, empty[slot], 0));
        if (before) {
            OK(cudaStreamWaitEvent(stream, before->full[slot], 0));
            OK(cudaMemcpyPeerAsync(buffer[slot], device, before->buffer[slot], before->device,
                                   n * sizeof(int), stream));
            OK(cudaEventRecord(before_empty(before, slot), stream));
        } else {
            OK(cudaMemcpyAsync(buffer[slot], host, n * sizeof(int), cudaMemcpyHostToDevice,
                               stream));
        }
        stage<2><<<(n / 2 + 127) / 128, 128, 0, stream>>>(buffer[slot], n, device + 1);
        OK(cudaGetLastError());
        OK(cudaEventRecord(full[slot], stream));
    }
    void give(int slot, int *host)
    {
        OK(cudaSetDevice(device));
        OK(cudaMemcpyAsync(host, buffer[slot], n * sizeof(int), cudaMemcpyDeviceToHost, stream));
        if (!empty[slot])
            OK(cudaEventCreateWithFlags(&empty[slot], cudaEventDisableTiming));
        OK(cudaEventRecord(empty[slot], stream));
    }
    void finish()
    {
        OK(cudaStreamSynchronize(stream));
    }

  private:
    // The event must belong to the device of the stream that records it: this stage's own.
    cudaEvent_t before_empty(Stage *before, int slot)
    {
        if (!taken[slot])
            OK(cudaEventCreateWithFlags(&taken[slot], cudaEventDisableTiming));
        before->empty[slot] = taken[slot];
        return taken[slot];
    }
    int device, n;
    cudaStream_t stream{};
    int *buffer[2]{};
    cudaEvent_t full[2]{}, empty[2]{}, taken[2]{};
};

int main()
try {
    constexpr int n = 1000, batches = 9;
    int gpus = 0, wrong = 0;
    OK(cudaGetDeviceCount(&gpus));
    std::vector<std::unique_ptr<Stage>> stages;
    for (int d = 0; d < gpus; d++)
        stages.push_back(std::make_unique<Stage>(d, n));
    Pinned in = pinned(n * batches), out = pinned(n * batches);
    for (int i = 0; i < n * batches; i++)
        in[i] = i, out[i] = -1;
    for (int b = 0; b < batches; b++) {
        for (int d = 0; d < gpus; d++)
            stages[d]->take(b % 2, &in[b * n], d ? stages[d - 1].get() : nullptr);
        stages.back()->give(b % 2, &out[b * n]);
    }
    stages.back()->finish();
    for (int i = 0; i < n * batches; i++) {
        unsigned expected = i;
        for (int d = 0; d < gpus; d++)
            expected = expected * 3 + d + 1;
        wrong += out[i] != (int)expected;
    }
    std::printf("%d batches through %d stages, %d wrong: %s\n", batches, gpus, wrong,
                wrong ? "FAIL" : "PASS");
    return wrong != 0;
} catch (const std::exception &e) {
    std::fprintf(stderr, "FAIL: %s\n", e.what());
    return 1;
}
