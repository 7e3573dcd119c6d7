// SPDX-License-Identifier: MIT
// threads.cu: two host threads, each with a GPU: threads free: the second one issues its work when
// the first has waited for long copies, which nothing but the operating system's order tells;
// threads joined: it is started when the first one has ended. With one more word, each looks at a
// time.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <thread>

static std::atomic<int> waited, begun;
static bool timed;

static void check(cudaError_t error)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s\n", cudaGetErrorString(error));
    exit(1);
}

// How long nothing took: a time all the same.
static void look()
{
    float ms;
    cudaEvent_t event;
    check(cudaEventCreate(&event));
    check(cudaEventRecord(event, 0));
    check(cudaEventSynchronize(event));
    check(cudaEventElapsedTime(&ms, event, event));
}

// The hand-over by `waited` and `begun` is one that the node cannot see.
static void work(int gpu, size_t bytes, bool is_free)
{
    char *from, *to;
    check(cudaSetDevice(gpu));
    check(cudaMalloc(&from, bytes));
    check(cudaMalloc(&to, bytes));
    if (is_free && gpu == 1)
        for (begun = 1; !waited;)
            std::this_thread::yield();
    if (is_free && gpu == 0)
        while (!begun)
            std::this_thread::yield();
    // Longer than all that the other thread does before, whichever of the two began first.
    for (int i = 0; i < (gpu == 0 ? 6 : 1); i++)
        check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, 0));
    check(cudaStreamSynchronize(0));
    waited = 1;
    if (timed)
        look();
}

int main(int argc, char **argv)
{
    timed = argc > 2;
    bool is_free = strcmp(argv[1], "free") == 0;
    std::thread first(work, 0, 512u << 20, is_free);
    if (!is_free)
        first.join();
    std::thread second(work, 1, 1u << 20, is_free);
    second.join();
    if (is_free)
        first.join();
    return 0;
}
