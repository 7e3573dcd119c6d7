// SPDX-License-Identifier: MIT
// cuda::pipeline with two stages of shared memory, and cuda::memcpy_async with a barrier.
// prints: copied in stages
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>

#include "../check.h"

enum { THREADS = 64, BATCHES = 6, ALL = THREADS * BATCHES };
namespace cg = cooperative_groups;

__global__ void in_stages(const int *from, int *to)
{
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    __shared__ int stage[2][THREADS];
    cg::thread_block block = cg::this_thread_block();
    auto pipeline = cuda::make_pipeline(block, &state);

    for (int fetched = 0, batch = 0; batch < BATCHES; batch++) {
        for (; fetched < BATCHES && fetched < batch + 2; fetched++) {
            pipeline.producer_acquire();
            cuda::memcpy_async(block, stage[fetched % 2], from + fetched * THREADS,
                               sizeof(int) * THREADS, pipeline);
            pipeline.producer_commit();
        }
        pipeline.consumer_wait();
        to[batch * THREADS + threadIdx.x] = 2 * stage[batch % 2][THREADS - 1 - threadIdx.x];
        pipeline.consumer_release();
    }
}

__global__ void at_once(const int *from, int *to)
{
    __shared__ alignas(16) int all[ALL];
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    cg::thread_block block = cg::this_thread_block();

    if (block.thread_rank() == 0)
        init(&barrier, block.size());
    block.sync();
    cuda::memcpy_async(block, all, from, cuda::aligned_size_t<16>(sizeof all), barrier);
    barrier.arrive_and_wait();
    for (unsigned i = threadIdx.x; i < ALL; i += THREADS)
        to[i] = all[ALL - 1 - i];
}

int main()
{
    std::vector<int> host = numbers(ALL, 1000), found(ALL);
    int *from, *to;

    DO(cudaMalloc(&from, ALL * sizeof(int)));
    DO(cudaMalloc(&to, ALL * sizeof(int)));
    DO(cudaMemcpy(from, host.data(), ALL * sizeof(int), cudaMemcpyHostToDevice));
    in_stages<<<1, THREADS>>>(from, to);
    DO(cudaMemcpy(found.data(), to, ALL * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < ALL; i++)
        CHECK(found[i] == 2 * host[i / THREADS * THREADS + THREADS - 1 - i % THREADS]);
    at_once<<<1, THREADS>>>(from, to);
    DO(cudaMemcpy(found.data(), to, ALL * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < ALL; i++)
        CHECK(found[i] == host[ALL - 1 - i]);
    std::puts("copied in stages");
    return 0;
}
