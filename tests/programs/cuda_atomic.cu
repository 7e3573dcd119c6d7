// SPDX-License-Identifier: MIT
// cuda_atomic.cu: cuda::atomic and cuda::atomic_ref, on the host, on every GPU, and between them.
#include <cuda/atomic>
#include <cuda/std/atomic>

#include "check.h"

struct Counters {
    cuda::atomic<int, cuda::thread_scope_device> sum;
    cuda::atomic<unsigned, cuda::thread_scope_device> largest, bits;
    cuda::atomic<double, cuda::thread_scope_block> real;
    cuda::atomic<unsigned char> small[4];
    cuda::std::atomic<long long> wide;
};

__global__ void reset(Counters *c)
{
    c->sum = 0;
    c->largest.store(0, cuda::memory_order_relaxed);
    c->bits = 0;
    c->real = 0;
    c->wide = -1;
    for (int i = 0; i < 4; i++)
        c->small[i] = 0;
}

__global__ void count(Counters *c, int *plain)
{
    unsigned id = blockIdx.x * blockDim.x + threadIdx.x;
    cuda::atomic_ref<int, cuda::thread_scope_device> ref(*plain);
    c->sum.fetch_add(2, cuda::std::memory_order_relaxed);
    c->sum--;
    c->largest.fetch_max(id * 7919 % 1000);
    c->bits |= 1u << id % 32;
    c->real.fetch_add(0.5);
    c->small[id % 4].fetch_add(1);
    long long seen = c->wide.load();
    while (seen < (long long)id && !c->wide.compare_exchange_weak(seen, id))
        ;
    ref += 3;
}

static void counters()
{
    Counters *c;
    int *plain;
    MUST(cudaMallocManaged((void **)&c, sizeof *c));
    MUST(cudaMallocManaged((void **)&plain, sizeof *plain));
    *plain = 0;
    reset<<<1, 1>>>(c);
    count<<<8, 128>>>(c, plain);
    MUST(cudaDeviceSynchronize());
    HOLDS(c->sum == 1024, "%d", c->sum.load());
    HOLDS(c->largest == 999, "%u", c->largest.load());
    HOLDS(c->bits == 0xffffffffu, "%x", c->bits.load());
    HOLDS(c->real == 512.0, "%f", c->real.load());
    HOLDS(c->wide == 1023, "%lld", c->wide.load());
    HOLDS(*plain == 3072, "%d", *plain);
    for (int i = 0; i < 4; i++) // 256 of them wrap around
        HOLDS(c->small[i] == 0, "small[%d] is %d", i, c->small[i].load());
    MUST(cudaFree(c));
    MUST(cudaFree(plain));
}

static void on_the_host()
{
    cuda::atomic<int> a(5);
    int old = a++, expected = 7, plain = 1;
    HOLDS(old == 5 && a == 6, "%d", a.load());
    HOLDS(!a.compare_exchange_strong(expected, 9) && expected == 6, "%d", expected);
    HOLDS(a.compare_exchange_strong(expected, 9) && a.exchange(3) == 9 && a == 3, "%d", a.load());
    cuda::atomic_ref<int> ref(plain);
    ref.fetch_add(41);
    HOLDS(plain == 42 && ref.fetch_min(7) == 42 && plain == 7, "%d", plain);
    cuda::atomic<float> real(0.25f);
    real += 0.5f;
    HOLDS(real == 0.75f, "%f", real.load());
    int array[4] = {0, 1, 2, 3};
    cuda::atomic<int *> pointer(array);
    pointer += 2;
    HOLDS(*pointer.load() == 2, "pointers move by elements");
    cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_system);
}

// Around a ring of GPUs: each waits for its flag, adds to the value, and sets the next one's.
__global__ void pass_on(cuda::atomic<int, cuda::thread_scope_system> *mine,
                        cuda::atomic<int, cuda::thread_scope_system> *next, int *value, int round)
{
    while (mine->load(cuda::memory_order_acquire) < round)
        ;
    *value += round;
    next->store(next == mine ? round : round + (next < mine), cuda::memory_order_release);
}

static void ring(int gpus)
{
    typedef cuda::atomic<int, cuda::thread_scope_system> Flag;
    Flag *flags;
    int *value;
    MUST(cudaMallocHost((void **)&flags, gpus * sizeof *flags));
    MUST(cudaMallocHost((void **)&value, sizeof *value));
    *value = 0;
    for (int i = 0; i < gpus; i++)
        flags[i] = i == 0 ? 1 : 0;
    for (int i = 0; i < gpus; i++) {
        MUST(cudaSetDevice(i));
        pass_on<<<1, 1>>>(&flags[i], &flags[(i + 1) % gpus], value, 1);
    }
    for (int i = 0; i < gpus; i++) {
        MUST(cudaSetDevice(i));
        MUST(cudaDeviceSynchronize());
    }
    HOLDS(*value == gpus, "%d", *value);
    MUST(cudaFreeHost(flags));
    MUST(cudaFreeHost(value));
}

int main()
{
    int gpus;
    MUST(cudaGetDeviceCount(&gpus));
    on_the_host();
    for (int i = 0; i < gpus; i++) {
        MUST(cudaSetDevice(i));
        counters();
    }
    ring(gpus);
    printf("atomics on %d GPUs: right\n", gpus);
    return 0;
}
