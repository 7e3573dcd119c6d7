// SPDX-License-Identifier: MIT
// local.cu: kernels, fills and copies of one GPU that follow each other in a stream or a graph.
// Prints what one of a row takes, "stream.NAME.BYTES.us" and "graph.NAME.BYTES.us"; both rows are
// queued behind a kernel that spins.
//     nvcc -arch=native -std=c++17 -O3 -o local local.cu
#include "../../../bench/truth/rows.h"

#include <string>

typedef std::function<void()> Work;

static const int MORE = 20;
static cudaStream_t stream;
static cudaEvent_t began, ended;
static char *from, *to, *host;

static __global__ void nothing() {}

static __global__ void spin(long long cycles)
{
    for (long long start = clock64(); clock64() - start < cycles;)
        continue;
}

static double queued_us(const Work &work)
{
    return median([&] {
        float ms;
        spin<<<1, 1, 0, stream>>>(1500000);
        CHECK(cudaEventRecord(began, stream));
        work();
        CHECK(cudaEventRecord(ended, stream));
        CHECK(cudaEventSynchronize(ended));
        CHECK(cudaEventElapsedTime(&ms, began, ended));
        return static_cast<double>(ms) * 1e3;
    });
}

static void repeat(const Work &one, int times)
{
    for (int i = 0; i < times; i++)
        one();
}

static cudaGraphExec_t graph_of(const Work &one, int times)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    repeat(one, times);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    return exec;
}

static void rows_of(const std::string &name, const Work &one)
{
    double few = queued_us([&] { repeat(one, 1); });
    row((queued_us([&] { repeat(one, 1 + MORE); }) - few) / MORE, "stream.%s.us", name.c_str());
    cudaGraphExec_t two = graph_of(one, 2), many = graph_of(one, 2 + MORE);
    few = queued_us([&] { CHECK(cudaGraphLaunch(two, stream)); });
    row((queued_us([&] { CHECK(cudaGraphLaunch(many, stream)); }) - few) / MORE, "graph.%s.us",
        name.c_str());
}

static void launch()
{
    nothing<<<1, 32, 0, stream>>>();
}

static void move(void *there, const void *here, size_t bytes)
{
    CHECK(cudaMemcpyAsync(there, here, bytes, cudaMemcpyDefault, stream));
}

static void both(const std::string &name, const Work &first, const Work &second)
{
    rows_of(name, [&] {
        first();
        second();
    });
}

static void inside(size_t bytes)
{
    std::string size = "." + std::to_string(bytes);
    Work local = [=] { move(to, from, bytes); };
    Work set = [=] { CHECK(cudaMemsetAsync(to, 1, bytes, stream)); };
    rows_of("local" + size, local);
    both("kernel_local" + size, launch, local);
    rows_of("set" + size, set);
    both("kernel_set" + size, launch, set);
    both("set_local" + size, set, local);
}

static void with_host(size_t bytes)
{
    std::string size = "." + std::to_string(bytes);
    Work down = [=] { move(host, from, bytes); }, up = [=] { move(to, host, bytes); };
    Work local = [=] { move(to, from, bytes); };
    Work set = [=] { CHECK(cudaMemsetAsync(from, 1, bytes, stream)); };
    rows_of("down" + size, down);
    rows_of("up" + size, up);
    both("kernel_down" + size, launch, down);
    both("kernel_up" + size, launch, up);
    both("up_down" + size, up, down);
    both("local_up" + size, local, up);
    both("local_down" + size, local, down);
    both("set_up" + size, set, up);
}

int main()
{
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&began));
    CHECK(cudaEventCreate(&ended));
    CHECK(cudaMalloc(&from, 64 * MIB));
    CHECK(cudaMalloc(&to, 64 * MIB));
    CHECK(cudaMallocHost(&host, MIB));
    rows_of("kernel", launch);
    for (size_t bytes : {size_t(16), size_t(256), 4 * KIB, 64 * KIB, 256 * KIB, MIB, 4 * MIB,
                         16 * MIB, 32 * MIB, 64 * MIB})
        inside(bytes);
    for (size_t bytes : {size_t(16), 64 * KIB, MIB})
        with_host(bytes);
    return 0;
}
