// SPDX-License-Identifier: MIT
// cuda_atomic.cu: release and acquire by cuda::atomic_ref of the system's scope between GPUs.
#include "correct.h"
#include <cuda/atomic>

__global__ void produce(int *data, int *flag)
{
    for (int i = 0; i < N; i++)
        data[i] = 3 * i;
    cuda::atomic_ref<int, cuda::thread_scope_system> f(*flag);
    f.store(1, cuda::std::memory_order_release);
}

__global__ void consume(int *to, const int *data, int *flag)
{
    cuda::atomic_ref<int, cuda::thread_scope_system> f(*flag);
    while (f.load(cuda::std::memory_order_acquire) == 0)
        ;
    for (int i = 0; i < N; i++)
        to[i] = data[i] + 1;
}

int main()
{
    struct gpu first, last;
    begin();
    first = make_gpu(0);
    last = make_gpu(gpus - 1);
    consume<<<1, 1, 0, last.stream>>>(last.b, last.a, first.b);
    CHECK(cudaSetDevice(0));
    produce<<<1, 1, 0, first.stream>>>(last.a, first.b);
    CHECK(cudaGetLastError());
    sync_all();
    int wrong = wrong_from(last.b, 1, 3);
    free_gpu(0, &first);
    free_gpu(gpus - 1, &last);
    return end(wrong);
}
